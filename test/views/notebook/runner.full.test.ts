import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runNotebook, writeOutputs } from '../../../scripts/notebook-runner.mjs'
import { notebookOf } from './fixture.ts'

test('cells run in order and what they print is kept', async () => {
  const { cells } = await runNotebook(
    notebookOf(['const a = 20', 'console.log(a + 1)\nconsole.error("careful")', 'a * 2']),
  )
  expect(cells.map(({ outputs }) => outputs)).toEqual([
    [],
    [
      { output_type: 'stream', name: 'stdout', text: '21\n' },
      { output_type: 'stream', name: 'stderr', text: 'careful\n' },
    ],
    [{ output_type: 'stream', name: 'stdout', text: '40\n' }],
  ])
  expect(cells.map(({ executionCount }) => executionCount)).toEqual([1, 2, 3])
})

test('a progress line that overwrites itself is kept once', async () => {
  const { cells } = await runNotebook(
    notebookOf(['void process.stdout.write("1 %\\r2 %\\r100 %\\n")']),
  )
  expect(cells[0]?.outputs).toEqual([{ output_type: 'stream', name: 'stdout', text: '100 %\n' }])
})

test('a later cell updates what an earlier one showed', async () => {
  const { cells } = await runNotebook(
    notebookOf([
      `import * as tslab from 'tslab'\nconst place = tslab.newDisplay()\nplace.text('old')`,
      `place.text('new')`,
    ]),
  )
  expect(cells[0]?.outputs[0]?.data).toEqual({ 'text/plain': 'new' })
  expect(cells[1]?.outputs).toEqual([])
})

test.each([
  ['a type error', 'const n: number = "one"', /cell 2 does not compile\.\n {2}\| const n/],
  ['an exception', 'throw new Error("planted")', /cell 2 threw an error\.[\s\S]*planted/],
  [
    'a rejected promise',
    'Promise.reject(new Error("planted"))\n1',
    /cell 2 or one before it left a rejected promise behind\.[\s\S]*planted/,
  ],
  ['an exit', 'process.exit(3)', /cell 2 ended the kernel/],
  ['a cell without end', 'while (true) {}', /cell 2 did not end within 3 s/],
])('%s fails, naming notebook, cell and source', async (_what, source, message) => {
  const path = notebookOf(['1', source])
  const run = runNotebook(path, { timeoutMs: 3000 })
  await expect(run).rejects.toThrow(message)
  await expect(run).rejects.toThrow('fixture.ipynb')
})

test('a rejection that comes after the last cell ended is not missed', async () => {
  const late = 'setTimeout(() => { Promise.reject(new Error("late")) }, 50)\n1'
  await expect(runNotebook(notebookOf([late]))).rejects.toThrow('late')
})

test('outputs are written the same each time', async () => {
  const path = notebookOf(['console.log("one\\ntwo")', 'const b = 1'])
  writeOutputs(await runNotebook(path))
  const first = readFileSync(path, 'utf8')
  writeOutputs(await runNotebook(path))
  expect(readFileSync(path, 'utf8')).toBe(first)
  expect(JSON.parse(first).cells[0]).toEqual({
    cell_type: 'code',
    execution_count: 1,
    id: 'cell-01',
    metadata: {},
    outputs: [{ name: 'stdout', output_type: 'stream', text: ['one\n', 'two\n'] }],
    source: ['console.log("one\\ntwo")'],
  })
})
