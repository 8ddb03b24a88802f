import { expect, test } from 'vitest'
import { STUDY_CASES, scoreTool, studyText } from '../../evaluation/study-kit.ts'

const DATA = 'datasets/storage-service'

test('a tool is scored by the first line that names the cause of each pair', async () => {
  const tool = String.raw`printf 'frontend\nMDS lock acquire\nstorage-data\n' # {before} {after}`
  const results = await scoreTool(tool, DATA)
  expect(results.map(({ name }) => name).sort()).toEqual([...STUDY_CASES].sort())
  const of = (name: string) => results.find((one) => one.name === name)
  expect(of('batch-job')).toEqual({ name: 'batch-job', service: 2, operation: 2, lines: 3 })
  expect(of('delay-1ms')).toEqual({ name: 'delay-1ms', service: 3, operation: null, lines: 3 })
  expect(studyText(results)).toContain('in the first line of 0, and in the first three of 5 of 5')
})

test.each([
  ['mytool {before}', 'does not say where {after} goes'],
  ['echo no >&2; false # {before} {after}', '--tool failed on batch-job: no'],
])('%s is refused', async (tool, message) => {
  await expect(scoreTool(tool, DATA)).rejects.toThrow(message)
})
