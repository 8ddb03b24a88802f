import { afterEach, describe, expect, test, vi } from 'vitest'
import { METHODS, type NezhaResult } from '../../../evaluation/suites/nezha-suite.ts'
import { nezhaDocument, nezhaText } from '../../../evaluation/suites/nezha-text.ts'
import {
  type NullResult,
  nullDocument,
  nullText,
  planNulls,
  stretchInTime,
} from '../../../evaluation/suites/null-suite.ts'
import { APART } from '../../../evaluation/suites/null-text.ts'
import { sharedData } from '../../../evaluation/suites/shared-data.ts'
import { standsApart } from '../../../evaluation/suites/stretches-apart.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { requests } from './traces.ts'

const sentence = { id: 'edges-1', about: 'work' } as const
const [told, other] = [
  { isTrue: false, measured: 'said +2 ms, measured 0' },
  { isTrue: true, measured: 'said +1 ms, measured +1 ms' },
]
const fault: NezhaResult = {
  id: 'f1',
  system: 'OB',
  type: 'return',
  service: 'cart',
  requests: [300, 200],
  ranks: { flowdelta: 2, p95Tripled: null, ownTimeRise: 1, ksStatistic: 4 },
  services: ['front', 'cart'],
  titles: ['front: GET takes 2 ms longer'],
  apart: [false],
  seconds: 0.25,
}
const results: readonly NezhaResult[] = [
  {
    ...fault,
    sentences: [
      { ...sentence, title: 'front: GET takes 2 ms longer', isTrue: false, parts: [told, other] },
      { ...sentence, title: 'cart: gap takes 1 ms longer', isTrue: true, parts: [other] },
    ],
  },
  { ...fault, id: 'f2', type: 'exception', ranks: { ...fault.ranks, flowdelta: 1 } },
  {
    ...fault,
    id: 'n1',
    type: 'null',
    service: null,
    titles: ['web: slower'],
    ranks: { flowdelta: null, p95Tripled: null, ownTimeRise: null, ksStatistic: null },
  },
  { ...fault, id: 'n2', type: 'null', service: null, titles: [] },
]

describe('suite nezha', () => {
  const lines = nezhaText(results, { cases: true, half: 'odd' }).split('\n')

  test('prints AS@k by system and type beside the baselines and the published numbers', () => {
    expect(lines[0]).toMatch(/^2 faults of Nezha’s benchmark \(odd half\): share in %/)
    expect(lines.slice(1, 5).map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
      'system, fault  faults  flowdelta  P95 tripled  own time rise  KS D',
      'OB  2  50 / 100 / 100  0 / 0 / 0  100 / 100 / 100  0 / 0 / 100',
      '  exception  1  100 / 100 / 100  0 / 0 / 0  100 / 100 / 100  0 / 0 / 100',
      '  return  1  0 / 100 / 100  0 / 0 / 0  100 / 100 / 100  0 / 0 / 100',
    ])
    expect(lines.join('\n')).toMatch(/^MicroRank +traces +41 \/ 48 \/ 63 +16 \/ 24 \/ 36$/m)
  })

  test('prints null alarms with their titles, false sentences with the reason, and cases', () => {
    expect(lines).toContain('Without a fault: 1 of 2 comparisons report something (50 %)')
    expect(lines).toContain('  n1  web: slower')
    expect(lines).toContain('  work of a service: 1 of 2 true (50 %)')
    expect(lines).toContain('  in what it says first: 1 of 2 true (50 %)')
    expect(lines).toContain('Steps and changes of calls one by one: 2 of 3 true (67 %)')
    expect(lines).toContain('  f1  front: GET takes 2 ms longer')
    expect(lines).toContain('    said +2 ms, measured 0')
    expect(lines).not.toContain('    said +1 ms, measured +1 ms')
    expect(lines.join('\n')).toMatch(/^f1 +OB +return +cart +2 +– +1 +4 +0\.3 +front cart$/m)
  })

  test('as a document has the same in numbers', () => {
    const document = nezhaDocument(results, { half: null, logs: false, late: 0 })
    expect(document).toMatchObject({
      schema: 'flowdelta.nezha-evaluation/1',
      parameters: { half: null, first: [1, 3, 5] },
      nullAlarms: {
        comparisons: 2,
        reporting: 1,
        alarms: [{ id: 'n1', titles: ['web: slower'], apart: [false] }],
      },
      sentences: [{ about: 'work', checked: 2, true: 1 }],
    })
    expect(document.accuracy[0]).toMatchObject({
      system: 'OB',
      type: 'all',
      faults: 2,
      accuracy: { flowdelta: [0.5, 1, 1] },
    })
    expect(Object.keys(document.accuracy[0]?.accuracy ?? {})).toEqual([...METHODS])
    expect(document.published).toHaveLength(5)
    expect(document.cases).toBe(results)
  })

  test('says nothing of sentences that were not checked', () => {
    expect(
      nezhaDocument(results.slice(1), { half: null, logs: false, late: 0 }),
    ).not.toHaveProperty('sentences')
  })
})

describe('suite nulls', () => {
  const row: NullResult = {
    group: 'halves',
    id: 'rmw, 1 and 2 of 2',
    requests: [5, 6],
    titles: [],
    apart: [],
    seconds: 1,
  }
  const rows: readonly NullResult[] = [
    {
      ...row,
      group: 'runs',
      id: 'a and b',
      titles: ['web: slower', 'db: faster'],
      apart: [true, false],
    },
    row,
  ]

  test('prints the share of comparisons that report anything, by kind, with titles', () => {
    expect(nullText(rows, { half: null, cases: false }).split('\n')).toEqual([
      'Periods between which nothing changed: 1 of 2 comparisons report something (50 %)',
      '',
      'runs of the same thing: 1 of 1 comparison report something (100 %)',
      '  a and b  web: slower *',
      '  a and b  db: faster',
      '',
      'halves in time of one run: 0 of 1 comparison report something (0 %)',
      '',
      APART,
      '',
    ])
    expect(nullText(rows, { half: 'even', cases: true })).toContain(
      '\n  rmw, 1 and 2 of 2: 5 and 6 requests, 0 findings, 1.0 s\n',
    )
  })

  test('as a document has the same in numbers', () => {
    expect(nullDocument(rows, 'even')).toMatchObject({
      schema: 'flowdelta.null-evaluation/1',
      parameters: { half: 'even' },
      groups: [
        { group: 'runs', comparisons: 1, reporting: 1 },
        { group: 'halves', comparisons: 1, reporting: 0 },
      ],
      comparisons: rows,
    })
  })

  test('compares all runs of one workload, and stretches of every steady run', async () => {
    const planned = await planNulls('datasets/storage-service', null)
    const ids = (group: string) => planned.filter((one) => one.group === group).map(({ id }) => id)
    expect(ids('runs')).toEqual([
      'control and delay-100us',
      'control and delay-1ms',
      'control and delay-500us',
      'delay-100us and delay-1ms',
      'delay-100us and delay-500us',
      'delay-1ms and delay-500us',
      'control, before and after',
    ])
    expect(ids('halves')).toContain('delay-100us (2), 1 and 2 of 2')
    expect(ids('halves').join()).not.toContain('create-behaviour')
    expect(ids('thirds').filter((id) => id.startsWith('control'))).toEqual([
      'control, 1 and 2 of 3',
      'control, 1 and 3 of 3',
      'control, 2 and 3 of 3',
    ])
    expect(ids('quiet-11')).toEqual([])
  })

  test('marks what really moved, whatever the reason: stretches of time that stand apart', () => {
    const period = (dbMs: () => number) =>
      requests(
        Array.from({ length: 200 }, (_, i) => 1e6 * i),
        (startUs) => {
          const endUs = startUs + 1e3 * dbMs()
          return [
            { id: 'web', startUs, endUs: endUs + 5e3 },
            { id: 'db', parent: 'web', startUs, endUs },
          ]
        },
      )
    const random = randomSource(1)
    const usual = period(() => 10 + 5 * random.next())
    const marks = (after: typeof usual) => {
      const comparison = compare(usual, after)
      return comparison.findings.findings.map((finding) => standsApart(finding, comparison))
    }
    expect(marks(period(() => 20 + 5 * random.next()))).toEqual([true])
    expect(marks(period(() => 11.3 + 5 * random.next()))).toEqual([false])
    expect(marks(usual)).toEqual([])
  })

  test('cuts a run where its requests begin, whatever their order in the file', () => {
    const starts = [3, 0, 4, 1, 2]
    const traces = requests(starts, (start) => [
      { id: 'web', startUs: start * 10e6, endUs: start * 10e6 + 1 },
      { id: 'db', parent: 'web', startUs: start * 10e6, endUs: start * 10e6 + 1 },
    ])
    const stretch = (number: number, of: number) => stretchInTime(traces, [number, of]).ids
    const id = (i: number) => `request-000${i}`
    expect(stretch(0, 2)).toEqual([id(1), id(3), id(4)])
    expect(stretch(1, 2)).toEqual([id(0), id(2)])
    expect([0, 1, 2].map((number) => stretch(number, 3).length)).toEqual([2, 1, 2])
    expect(stretchInTime(traces, [0, 2]).spans.parent.length).toBe(6)
  })
})

describe('the folder shared', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  test('is where FLOWDELTA_SHARED says; what is not there is null', () => {
    vi.stubEnv('FLOWDELTA_SHARED', 'datasets')
    expect(sharedData('storage-service')).toMatch(/^datasets.storage-service$/)
    expect(sharedData('data/nezha-faults')).toBeNull()
  })
})
