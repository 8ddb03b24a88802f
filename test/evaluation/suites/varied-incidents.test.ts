import { expect, test } from 'vitest'
import { judgeIncident } from '../../../evaluation/suites/varied-incidents.ts'

const named = ({ service, condition, decoys }: ReturnType<typeof judgeIncident>) => ({
  service,
  condition,
  decoys,
})
const FIRST = { service: 1, condition: 1, decoys: [] }

test('failures of three pods in six, never seen before, are told with their pods', {
  tags: 'full',
}, () => {
  expect(named(judgeIncident('rollout', 3000, 0))).toEqual(FIRST)
})

test('failures are told by what only the failing service records', { tags: 'full' }, () => {
  expect(named(judgeIncident('errors', 3000, 0))).toEqual(FIRST)
})

test('failures that calls made again make up for are told with their requests', {
  tags: 'full',
}, () => {
  expect(named(judgeIncident('retries', 3000, 0))).toEqual(FIRST)
})

test('nothing is told of a quiet pair of periods', { tags: 'full' }, () => {
  expect(judgeIncident('quiet', 3000, 0).titles).toEqual([])
})
