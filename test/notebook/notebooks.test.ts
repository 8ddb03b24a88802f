import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { listNotebooks, runNotebook } from '../../scripts/notebook-runner.mjs'

const notebooks = listNotebooks().map((path) => [basename(path), path] as const)

test('notebooks are numbered in the order in which they are read', () => {
  for (const [name] of notebooks) expect(name).toMatch(/^\d\d-[a-z0-9-]+\.ipynb$/)
})

test.skipIf(notebooks.length === 0).each(notebooks.length > 0 ? notebooks : [['none', '']])(
  '%s runs from the first cell to the last',
  async (_name, path) => {
    const { cells } = await runNotebook(path)
    expect(cells.flatMap(({ outputs }) => outputs)).not.toEqual([])
  },
  300_000,
)
