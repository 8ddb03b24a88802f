import { expect, test } from 'vitest'
import { LOAD_TESTED, slowedModel } from '../../evaluation/service-model.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { expectedTraces } from '../../src/traces/expected-traces.ts'

test('two clusters: services of all kinds are slower, most of all what they share, and nothing else', () => {
  const south = slowedModel(LOAD_TESTED, { table: 4 }, 1.3)
  const { findings } = compare(
    expectedTraces(LOAD_TESTED, { requests: 200, hosts: 'north' }),
    expectedTraces(south, { requests: 200, seed: 2, hosts: 'south', networkUs: 130 }),
    { omitHosts: true },
  ).findings
  expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['latency']))
  expect(findings[0]?.title).toMatch(/^table: /)
  const slower = new Set(findings.flatMap(({ steps }) => steps.map(({ service }) => service)))
  // What auth takes longer, 0.09 of 5.5 ms, is too little to tell.
  expect([...slower].toSorted()).toEqual(['frontend', 'ranker', 'table'])
})
