import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { listNotebooks, runNotebook } from '../../scripts/notebook-runner.mjs'

/** What each notebook must have found, wherever it says so. */
const FINDINGS: Record<string, readonly RegExp[]> = {
  '01-diagnosis.ipynb': [
    /1\. (storage-\w+-0) disk write reply → \1 SN WRITE reply: [\d.]+ µs → 1\.\d+ ms/,
    /adds {3}frontend-0 SN READ call\s+storage-data-0 SN READ call/,
    /drops {2}nothing/,
    /categories shared: true/,
  ],
  '02-case-studies.ipynb': [
    /NFS3 \w+ call, structural.*\n.*more: .*storage-data-0 SN WRITE/,
    /more: frontend-0 SN READ ×1/,
    /more: .*mds-0 lock acquire ×\d\d/,
    /disk write reply → storage-\w+-0 SN WRITE reply/,
    /\d+ categories, 0 results/,
    /p = 0\.\d+/,
    /control +50 +0 \(–\)/,
  ],
}

const notebooks = listNotebooks().map((path) => [basename(path), path] as const)

test('notebooks are numbered in the order in which they are read', () => {
  for (const [name] of notebooks) expect(name).toMatch(/^\d\d-[a-z0-9-]+\.ipynb$/)
})

test('every notebook says what it is expected to find', () => {
  expect(notebooks.map(([name]) => name)).toEqual(Object.keys(FINDINGS))
})

test.each(notebooks)(
  '%s runs from the first cell to the last and finds what it says',
  async (name, path) => {
    const { cells } = await runNotebook(path)
    const said = cells.flatMap(({ outputs }) => outputs.map((output) => textOf(output))).join('\n')
    for (const finding of FINDINGS[name] ?? []) expect(said).toMatch(finding)
  },
  300_000,
)

/** The plain text of an output: a stream's text, or the text form of a value. */
function textOf(output: object): string {
  const { text, data } = output as { text?: Text; data?: Record<string, Text> }
  return [text ?? data?.['text/plain'] ?? ''].flat().join('')
}

type Text = string | string[]
