import { expect, test } from 'vitest'
import { expectedTraces, LOAD_TESTED, slowedModel } from '../../evaluation/service-model.ts'
import { compare } from '../../src/compare/comparison.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'

type Given = Parameters<typeof expectedTraces>
const load = (...given: Given) => loadTraces(expectedTraces(...given))
const found = async (before: Given, after: Given) =>
  compare(await load(...before), await load(...after), { omitHosts: true }).findings.findings

test('a system that does what its model expects has no findings', async () => {
  expect(await found([LOAD_TESTED], [LOAD_TESTED, { seed: 2, cluster: 'live' }])).toEqual([])
})

test('against a model, what is slower and what is called more often than expected is found', async () => {
  const rank = { ...LOAD_TESTED['RANK'], calls: ['READ ROWS', { call: 'PREFETCH', share: 0.9 }] }
  const live = slowedModel({ ...LOAD_TESTED, RANK: rank } as typeof LOAD_TESTED, { auth: 3 })
  const findings = await found([LOAD_TESTED], [live, { seed: 2, cluster: 'live' }])
  expect(findings.map(({ kind }) => kind).toSorted()).toEqual(['latency', 'structure'])
  const titles = findings.map(({ title }) => title).join('\n')
  expect(titles).toMatch(/auth: AUTH itself takes .* longer/)
  expect(titles).toMatch(/ranker: RANK .*PREFETCH/)
})

test('two clusters: services of all kinds are slower, most of all what they share, and nothing else', async () => {
  const south = slowedModel(LOAD_TESTED, { table: 4 }, 1.3)
  const findings = await found(
    [LOAD_TESTED, { cluster: 'north' }],
    [south, { seed: 2, cluster: 'south', networkUs: 130 }],
  )
  expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['latency']))
  expect(findings[0]?.title).toMatch(/^table: /)
  const slower = new Set(findings.flatMap(({ steps }) => steps.map(({ service }) => service)))
  // What auth takes longer, 0.09 of 5.5 ms, is too little to tell.
  expect([...slower].toSorted()).toEqual(['frontend', 'ranker', 'table'])
})
