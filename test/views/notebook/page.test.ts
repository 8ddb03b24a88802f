import { expect, test } from 'vitest'
import { indexPage, notebookPage } from '../../../scripts/notebook-page.mjs'
import type { ExecutedCell, Output } from '../../../scripts/notebook-runner.mjs'
import { HOSTILE } from './fixture.ts'

const markdown = (source: string): ExecutedCell => ({
  type: 'markdown',
  source,
  outputs: [],
  executionCount: null,
})

const code = (source: string, ...outputs: Output[]): ExecutedCell => ({
  type: 'code',
  source,
  outputs,
  executionCount: 1,
})

const pageOf = (...cells: ExecutedCell[]) =>
  notebookPage({ path: 'notebooks/01-a.ipynb', title: HOSTILE, cells })

test('title, source and printed text are escaped', () => {
  const html = pageOf(
    code(HOSTILE, { output_type: 'stream', name: 'stdout', text: HOSTILE }),
    code('1', { output_type: 'display_data', data: { 'text/plain': HOSTILE } }),
  )
  expect(html).not.toContain('<img')
  expect(html).not.toContain('</script>')
  expect(html.match(/&lt;img src=x/g)).toHaveLength(4)
})

test('an HTML output stands as it is, the best rendering first', () => {
  const data = { 'text/plain': 'plain', 'text/html': '<p id="own">rich</p>' }
  const html = pageOf(code('1', { output_type: 'display_data', data }))
  expect(html).toContain('<p id="own">rich</p>')
  expect(html).not.toContain('plain<')
})

test('each runtime is there once', () => {
  const runtime = (name: string) =>
    `<script type="module" data-flowdelta-runtime="${name}">1</script>`
  const script = runtime('charts') + runtime('widgets')
  const output: Output = { output_type: 'display_data', data: { 'text/html': `${script}<p>x</p>` } }
  const html = pageOf(code('1', output, output), code('2', output))
  expect(html.match(/data-flowdelta-runtime="charts"/g)).toHaveLength(1)
  expect(html.match(/data-flowdelta-runtime="widgets"/g)).toHaveLength(1)
  expect(html.match(/<p>x<\/p>/g)).toHaveLength(3)
})

test('links to notebooks lead to their pages, links elsewhere stay', () => {
  const html = pageOf(
    markdown('[next](02-b.ipynb#part) [away](https://example.org/x.ipynb) [file](../README.md)'),
  )
  expect(html).toContain('href="02-b.html#part"')
  expect(html).toContain('href="https://example.org/x.ipynb"')
  expect(html).toContain('href="../README.md"')
})

test('a page asks for nothing outside of itself', () => {
  const html = pageOf(markdown('# A\n\n```ts\nconst a = 1\n```'), code('const b = 2'))
  expect(html.match(/\b(?:src|href)="(?!data:|index\.html)/g)).toBeNull()
})

test('the index has a card for each notebook: picture, question, minutes', () => {
  const chapter = { name: '01 a.ipynb', title: 'A & B', question: HOSTILE, minutes: 7 }
  const html = indexPage([{ ...chapter, picture: '<svg/>' }])
  expect(html).toContain('<a class="card" href="01%20a.html"><img alt="" src="data:image/svg+xml')
  expect(html).toContain('01 A &amp; B</b>')
  expect(html).toContain('<small>7 minutes</small>')
  expect(html).not.toContain('<img src=x')
})

test('a page leads to the index and to its neighbors', () => {
  const html = pageOf(markdown('← [A](01-a.ipynb) · [All notebooks](README.md)'))
  expect(html).toContain('href="01-a.html"')
  expect(html).toContain('<a href="index.html">All notebooks</a>')
})
