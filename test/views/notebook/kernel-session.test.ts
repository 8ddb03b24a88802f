import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Output } from '../../../scripts/notebook-runner.mjs'
import { type Kernel, type Message, startKernel } from '../../../scripts/notebooks/kernel.mjs'
import { OutputCollector } from '../../../scripts/notebooks/outputs.mjs'
import { verbsCell } from './arquero-verbs.ts'
import { ROOT } from './fixture.ts'

/** What an editor waits for before it gives up on a list of names. */
const PATIENCE_MS = 3000

const SETUP = `import * as fd from 'flowdelta'
import * as aq from 'arquero'
import { compare, explore, plot } from 'flowdelta'
import { sample } from 'flowdelta/sample'
const before = await fd.loadTraces(sample.before)
const after = await fd.loadTraces(sample.after)
const comparison = compare(before, after, { alternative: 'slower' })`

const KERNELSPEC = join(ROOT, 'notebooks', 'kernels', 'flowdelta')

let kernel: Kernel

beforeAll(async () => {
  kernel = await startKernel({ kernelspec: KERNELSPEC, cwd: join(ROOT, 'notebooks') })
  await run(SETUP)
  await complete('comparison.')
})
afterAll(() => kernel.stop())

async function run(code: string): Promise<readonly Output[]> {
  const { status, messages } = await kernel.execute(code, 60_000)
  const outputs: Output[] = []
  new OutputCollector().collect(messages, outputs)
  // After a cell that failed, tslab drops what is asked of it within 200 ms.
  if (status !== 'ok') await new Promise((later) => setTimeout(later, 300))
  return outputs
}

/** What a cell prints as its error; the rest of what it shows is no matter here. */
async function errorOf(code: string): Promise<string> {
  const outputs = await run(code)
  return outputs.flatMap(({ name, text }) => (name === 'stderr' ? [text] : [])).join('')
}

/** The names an editor offers at `|`, or at the end, and what was printed meanwhile. */
async function complete(code: string) {
  const at = code.includes('|') ? code.indexOf('|') : code.length
  const request = { code: code.replace('|', ''), cursor_pos: at }
  const { content, messages } = await kernel.ask('complete_request', request, PATIENCE_MS)
  const printed = messages.filter(({ header }) => header.msg_type !== 'status')
  return { names: content?.['matches'] as string[] | undefined, printed }
}

test.each([
  ['before.', ['attributes', 'names', 'quality', 'where']],
  ['comparison.', ['findings', 'ranking', 'responseTime', 'steps', 'with']],
  ['comparison.ran|', ['ranking']],
  ['comparison.ranking.', ['mutations', 'table']],
  ['comparison.findings.', ['findings', 'text', 'table']],
  ['comparison.findings.findings[0]?.', ['categories', 'exemplars', 'where']],
  ['const again = comparison.with({ alpha: 0.01 })\nagain.ranking.', ['mutations', 'table']],
  ['comparison.steps.|\nconst rest = 1', ['callTable', 'table']],
  ['console.log(comparison.edges.|)\nfoo(', ['table']],
  ['comparison.ranking.table().', ['filter', 'join_left', 'numRows', 'objects']],
  ['aq.table({ a: [1] }).', ['filter', 'join', 'toArrowIPC']],
  ["plot(comparison, '", ['arrivals', 'contributions']],
  ["plot(comparison, 'contributions', { ", ['limit']],
  ['compare(before, after, { al|', ['alpha', 'alternative']],
])('%s is completed in time, and nothing is printed into a cell', async (code, names) => {
  const { names: found, printed } = await complete(code)
  expect(found).toEqual(expect.arrayContaining(names))
  expect(found).not.toContain('globalThis')
  expect(printed).toEqual([])
})

const KINDS = "'ribbon', 'findings', 'contributions', 'shifts', 'counts', 'moves', 'segments', "

test.each([
  [
    "plot(comparison, 'arival')",
    `'arival' is no picture of a comparison. Did you mean 'arrivals'? It has: ${KINDS}`,
  ],
  [
    "const chart = plot(comparison, 'contribution')\nchart.svg().length",
    `'contribution' is no picture of a comparison. Did you mean 'contributions'? It has: ${KINDS}`,
  ],
  [
    "fd.plot(comparison.edges, 'shift').spec",
    "'shift' is no picture of edge changes. Did you mean 'shifts'? It has: 'shifts'.",
  ],
  [
    "const kind = 'rankng'\nexplore(comparison, kind)",
    "'rankng' is no widget of a comparison. Did you mean 'ranking'? It has: 'ranking', 'flows', ",
  ],
  [
    "explore(comparison, 'swimlane', { category: 0 })",
    "'swimlane' is no widget of a comparison. Did you mean 'swimlanes'? It has: ",
  ],
  [
    "plot(comparison, 'contributions', { limitt: 3 })",
    'There is no option limitt. Did you mean limit?',
  ],
  [
    'comparison.with({ alph: 0.01 }).findings.text()',
    'There is no option alph. Did you mean alpha?',
  ],
  ['compare(before, after, { testt: 1 })', 'There is no option testt. Did you mean test?'],
  [
    "compare(before, after, { alternative: 'slow' })",
    "Option alternative is \"slow\". Give 'two-sided', 'slower' or 'faster'.",
  ],
  ["plot(comparison.ranking, 'contributions', { limit: 'all' })", 'Option limit is "all". Give '],
  ['compare(before, after, { alpha: 7 })', 'Option alpha is 7. Give a level between 0 and 1.'],
  ["await fd.loadTraces('/no/such/file.json')", '/no/such/file.json'],
])('%s prints what flowdelta says, and nothing else', async (code, sentence) => {
  const error = await errorOf(code)
  expect(error).toContain(sentence)
  expect(error.trim().split('\n')).toHaveLength(1)
})

test('errors of the cell come first, in the compiler’s words', async () => {
  expect(await errorOf("comparisn.edges\nplot(comparison, 'arival')")).toBe(
    "1:1 - Cannot find name 'comparisn'. Did you mean 'comparison'?\n",
  )
  expect(await errorOf('comparison.rankin')).toContain("Did you mean 'ranking'?")
  expect(await errorOf("plot(comparison, 'arrivals'")).toContain("1:28 - ')' expected.")
})

test('a wrong argument that flowdelta takes all the same is told after the cell', async () => {
  const cell = "new fd.Chart({}, { title: 1, description: 'one' }).title\nconsole.log('made')"
  expect((await run(cell)).map(({ text }) => text)).toEqual([
    'made\n',
    "1:20 - Type 'number' is not assignable to type 'string'.\n",
  ])
  expect(await errorOf('comparison.ranking')).toBe('')
})

test('errors that are not flowdelta’s show where they were thrown, without other people’s code', async () => {
  const thrown = await errorOf("aq.table({ a: [1] }).filter('d => d.b > 1')")
  expect(thrown).toMatch(/^Error: Invalid column/)
  expect(thrown).not.toMatch(/tslab|node:|throw Error/)
  expect(await errorOf("const fail = () => { throw new RangeError('mine') }\nfail()")).toMatch(
    /throw new RangeError[\s\S]*RangeError: mine/,
  )
})

test.each([
  "aq.table({ a: [1, 2], b: ['<x>', 'y'] })",
  "aq.table({ a: [1, 2] }).join(fd.stageTable({ a: [2], b: ['<x>'] }), 'a')",
  "const t: aq.ColumnTable = fd.stageTable({ b: ['<x>'] })\nt.filter((row) => row.b !== '').orderby('b')",
])('%s shows as a table', async (code) => {
  const [output, ...more] = await run(code)
  expect(more).toEqual([])
  expect(output?.data?.['text/plain']).toContain('<x>')
  expect(output?.data?.['text/html']).toContain('class="flowdelta')
})

/** What a cell says of its progress, in order; the last is what is left of it. */
function progressIn(messages: readonly Message[]): readonly string[] {
  return messages
    .filter(({ header }) => /display_data$/.test(header.msg_type))
    .map(({ content }) => (content['data'] as Record<string, string>)['text/plain'] ?? '')
}

const BUSY = 'const begin = Date.now(); while (Date.now() - begin < 3400) Math.sqrt(begin)'

test.each([
  ['a loop', BUSY, 'running'],
  ['a loop after an await', `await Promise.resolve()\n${BUSY}`, 'running'],
  ['a wait', 'await new Promise((later) => setTimeout(later, 3400))', 'running'],
  [
    'a function of flowdelta’s',
    'fd.stageTable({ get a() { while (Date.now() - t0 < 3400); return [1] } })',
    'stageTable',
  ],
  [
    'a comparison',
    `fd.compare(before, after, { label: () => { while (Date.now() - t0 < 3400); return 'x' } }).categories`,
    'step 2 of 5, categories',
  ],
])(
  '%s that takes over two seconds says so each second, and then is silent',
  async (_, code, what) => {
    const { status, messages } = await kernel.execute(`{ const t0 = Date.now(); ${code} }`, 60_000)
    expect(status).toBe('ok')
    // A busy machine may leave out a second or add one; what is said stays as it is.
    const said = progressIn(messages)
    const seconds = said.slice(0, -1).map((text) => Number(/(\d+) s$/.exec(text)?.[1]))
    expect(seconds.length).toBeGreaterThan(0)
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(2)
    expect([...new Set(seconds)].sort((one, other) => one - other)).toEqual(seconds)
    expect(said).toEqual([...seconds.map((second) => `${what}: ${second} s`), ''])
  },
)

test('a cell of less than two seconds says nothing of its progress', async () => {
  const { messages } = await kernel.execute("console.log('done')", 60_000)
  expect(progressIn(messages)).toEqual([])
})

test('progress that is gone is no output of a notebook', async () => {
  expect(await run(BUSY)).toEqual([])
})

test.each([
  ['while (true) {}'],
  ['await Promise.resolve()\nwhile (true) {}'],
  ['const endless = async () => { await null; while (true) {} }\nawait endless()'],
  ['await new Promise(() => {})'],
  ['({ [Symbol.for("nodejs.util.inspect.custom")]() { while (true) {} } })'],
])('%s can be interrupted, and the next cell runs', async (code) => {
  setTimeout(() => kernel.interrupt(), 700)
  expect(await errorOf(code)).toBe('Interrupted.\n')
  expect(await run('console.log(before.size)')).toEqual([
    { output_type: 'stream', name: 'stdout', text: expect.stringMatching(/^\d+\n$/) },
  ])
})

test('the functions that steps are known by are those of flowdelta', () => {
  const files = readdirSync(join(ROOT, 'dist')).filter((name) => name.endsWith('.js'))
  const code = files
    .map((name) => readFileSync(join(ROOT, 'dist', name), 'utf8').replaceAll('\\\n', ''))
    .join('\n')
  // Arrow functions get no names: naming them took a fortieth of a comparison's time.
  expect(code).toContain('.constructor!==Function?')
  const { STEPS } = createRequire(import.meta.url)(join(KERNELSPEC, 'progress.cjs'))
  const names: readonly string[] = STEPS.flatMap(([, functions]: [string, string[]]) => functions)
  expect(names.filter((name) => !code.includes(`,"${name}")`))).toEqual([])
})

test('all that Arquero’s reference does with a table runs on a stage table', async () => {
  const outputs = await run(verbsCell())
  expect(outputs.filter(({ name }) => name === 'stderr')).toEqual([])
})
