import { beforeAll, expect, test } from 'vitest'
import { type Output, runNotebook } from '../../../scripts/notebook-runner.mjs'
import { removeFolder, writeNotebook } from './fixture.ts'

const SETUP = `import * as fd from 'flowdelta'
import * as aq from 'arquero'
import { inspect } from 'node:util'
const chart = new fd.Chart(
  { data: { values: [{ n: 28 }] }, mark: 'bar', encoding: { x: { field: 'n', type: 'quantitative' } } },
  { title: 'Requests', description: 'One bar.' })
const stages = fd.stageTable({ id: Int32Array.of(1, 2), root: ['<b>', 'write'] })`

const CELLS = {
  chart: 'chart',
  table: `stages.filter((row: any) => row.id > 0).orderby('id')`,
  show: `console.log('first')\nfd.show(stages, aq.table({ a: [1] }), 'words', 7)\nconsole.log('last')`,
  beside: `console.log('see', chart)\n;[chart]`,
  text: `const text = inspect(chart)\nconsole.log(text.length)`,
  async: `await new Promise((done) => setTimeout(done, 10))\nchart.title\nchart`,
}

let outputs: Record<keyof typeof CELLS, Output[]>

async function run(sources: readonly string[], env: Record<string, string> = {}) {
  const path = writeNotebook(sources)
  try {
    return (await runNotebook(path, { env })).cells.map((cell) => cell.outputs)
  } finally {
    removeFolder(path)
  }
}

beforeAll(async () => {
  const [, ...shown] = await run([SETUP, ...Object.values(CELLS)])
  outputs = Object.fromEntries(
    Object.keys(CELLS).map((name, index) => [name, shown[index] ?? []]),
  ) as typeof outputs
})

test('a chart as the last value is one output, and nothing is printed beside it', () => {
  expect(outputs.chart.map(({ output_type }) => output_type)).toEqual(['display_data'])
  expect(Object.keys(outputs.chart[0]?.data ?? {})).toEqual([
    'text/plain',
    'text/html',
    'application/vnd.vegalite.v5+json',
  ])
  expect(outputs.chart[0]?.data?.['text/html']).toContain('data-flowdelta-runtime')
})

test('a table after verbs is an HTML table', () => {
  expect(outputs.table[0]?.data?.['text/html']).toContain('&lt;b&gt;')
})

test('show takes several values, and what is printed stays in order', () => {
  expect(outputs.show.map(({ text, data }) => text ?? Object.keys(data ?? {}).join())).toEqual([
    'first\n',
    'text/plain,text/html',
    'text/plain,text/html',
    'words\n7\nlast\n',
  ])
})

test('beside other words and inside a list, a chart is text', () => {
  const text = 'see Requests\nOne bar.\n[\n  Requests\n  One bar.\n]\n'
  expect(outputs.beside).toEqual([{ output_type: 'stream', name: 'stdout', text }])
})

test('asking for the text of a chart does not show it', () => {
  expect(outputs.text).toEqual([{ output_type: 'stream', name: 'stdout', text: '17\n' }])
})

test('a cell that waits shows its last value too', () => {
  expect(outputs.async.map(({ output_type }) => output_type)).toEqual(['display_data'])
})

test('static outputs are pictures without scripts', { tags: 'full' }, async () => {
  const [, [output] = []] = await run([SETUP, 'chart'], { FLOWDELTA_STATIC: '1' })
  expect(Object.keys(output?.data ?? {})).toEqual(['text/plain', 'image/svg+xml'])
  expect(output?.data?.['image/svg+xml']).toMatch(/^<svg/)
})
