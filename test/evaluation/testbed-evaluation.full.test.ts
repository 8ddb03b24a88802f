import { beforeAll, describe, expect, test } from 'vitest'
import type { EvaluatedChange } from '../../evaluation/testbed/evaluate-change.ts'
import { evaluateWhatIf } from '../../evaluation/testbed/evaluate-whatif.ts'
import { generateSystem } from '../../evaluation/testbed/generate-system.ts'
import { learnSystem } from '../../evaluation/testbed/learn-system.ts'
import { plotWhatIfEvaluation } from '../../evaluation/testbed/plot-whatif-evaluation.ts'
import { WhatIfEvaluation } from '../../evaluation/testbed/whatif-evaluation.ts'
import { dataOf, expectDrawable } from '../views/charts/fixture.ts'
import { loadCase } from '../whatif/real-systems.ts'

type Row = Readonly<Record<string, number | string | boolean>>

const rowsOf = (table: { objects(): object[] }) => table.objects() as Row[]

describe('a small evaluation', () => {
  let evaluation: WhatIfEvaluation
  const progress: string[] = []

  beforeAll(() => {
    evaluation = evaluateWhatIf({
      changes: 14,
      services: 14,
      requests: 400,
      seed: 4,
      progress: (done, all, { kind }) => progress.push(`${done} of ${all} ${kind}`),
    })
  })

  const ranked = (holds: (change: EvaluatedChange) => boolean) => {
    const causes = evaluation.changes.filter(holds)
    const mean = (way: 'diagnosis' | 'diagnosisOfCalls' | 'ksOfCalls') =>
      causes.reduce((sum, { ranks }) => sum + (ranks.at(-1)?.[way] ?? Number.NaN), 0) /
      causes.length
    return { causes: causes.length, mean }
  }

  test('makes changes of both kinds in turn, and says how far it is', () => {
    expect(progress).toHaveLength(14)
    expect(progress.slice(0, 2)).toEqual(['1 of 14 terminal', '2 of 14 substitute'])
  })

  test('the diagnosis ranks causes directly below the top well ahead of chance', () => {
    const { causes, mean } = ranked(({ depth }) => depth === 1)
    expect(causes).toBeGreaterThan(3)
    expect(mean('diagnosis')).toBeLessThan(0.2)
  })

  test('it ranks causes first that changed response times significantly', () => {
    const { causes, mean } = ranked(({ significant }) => significant)
    expect(causes).toBeGreaterThan(3)
    expect(mean('diagnosis')).toBeLessThan(0.2)
    expect(mean('diagnosisOfCalls')).toBeLessThan(0.1)
  })

  test('what it detects is in the tree with a low score, and every score is a share', () => {
    for (const { detected, labelled, ranks, depth } of evaluation.changes) {
      expect(ranks).toHaveLength(depth)
      if (detected) expect(ranks.at(-1)?.diagnosis).toBeLessThanOrEqual(0.5)
      if (labelled) expect(ranks.at(-1)?.diagnosis).toBeLessThanOrEqual(1)
      for (const score of ranks.flatMap((each) => Object.values(each))) {
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(1)
      }
    }
  })

  test('the same seed gives the same evaluation', () => {
    const again = evaluateWhatIf({ changes: 2, services: 14, requests: 400, seed: 4 })
    expect(again.changes).toEqual(evaluation.changes.slice(0, 2))
  })
})

test('a substitute that is the same as what it stands for is ranked by chance', () => {
  const system = generateSystem({ services: 8, seed: 2 })
  const { changes } = evaluateWhatIf({ system, counterpart: system, changes: 16, requests: 200 })
  const same = changes.filter(({ kind }) => kind === 'substitute')
  const mean = same.reduce((sum, { ranks }) => sum + (ranks.at(-1)?.ksOfCalls ?? 0), 0) / 8
  expect(same).toHaveLength(8)
  expect(mean).toBeGreaterThan(0.2)
  expect(same.filter(({ labelled }) => labelled)).toHaveLength(0)
})

test('systems learned from recorded traces are changed at calls to other services', async () => {
  const [system, counterpart] = [
    learnSystem(await loadCase('rmw', 'before')),
    learnSystem(await loadCase('rmw', 'after')),
  ]
  const { changes } = evaluateWhatIf({ system, counterpart, changes: 2, requests: 300 })
  expect(changes.map(({ service }) => service).every((name) => name !== 'frontend')).toBe(true)
  expect(changes.map(({ ranks, depth }) => ranks.length === depth)).toEqual([true, true])
  expect(changes[0]?.callsPerRequest).toBeGreaterThan(0)
})

test('what is no evaluation is refused', () => {
  const system = generateSystem({ services: 4 })
  expect(() => evaluateWhatIf({ system })).toThrow('Option counterpart is undefined.')
  expect(() => evaluateWhatIf({ changes: 0 })).toThrow('Option changes is 0.')
  expect(() => evaluateWhatIf({ drift: 2 })).toThrow('Option drift is 2.')
  expect(() => evaluateWhatIf({ service: 9 } as object)).toThrow('There is no option service.')
  expect(() =>
    evaluateWhatIf({ system, counterpart: { roots: [] }, changes: 1, requests: 20 }),
  ).toThrow('There is nothing to change')
})

const scores = (diagnosis: number) => ({
  diagnosis,
  diagnosisOfCalls: 0,
  divergenceOfCalls: 0,
  ksOfServices: 1,
  ksOfServicesByLevel: 0.5,
  ksOfServicesAhead: 0.5,
  ksOfCalls: 0.25,
  ksOfCallsAhead: 0.25,
})

const change = (facts: Partial<EvaluatedChange>): EvaluatedChange => ({
  kind: 'terminal',
  service: 'db',
  operation: 'serve',
  path: 'front › db',
  depth: 1,
  callsPerRequest: 0.5,
  endToEndP: 0.5,
  significant: false,
  shiftErrors: 0,
  detected: false,
  labelled: false,
  ranks: [scores(0)],
  ...facts,
})

describe('the tables of an evaluation', () => {
  const evaluation = new WhatIfEvaluation(
    [
      change({ detected: true, significant: true, ranks: [scores(0.2)] }),
      change({ callsPerRequest: 5, ranks: [scores(0.6)] }),
      change({ kind: 'substitute', depth: 2, ranks: [scores(0.5), scores(0.1)] }),
    ],
    {
      requests: 1000,
      drift: 0.03,
      decoys: false,
      seed: 1,
      diagnosis: { pruning: 0.5 } as never,
      size: { services: 2, paths: 2, models: 2, nodes: 3 },
    },
  )

  test('count what was detected and missed, by kind, depth and calls', () => {
    expect(rowsOf(evaluation.depthTable())).toEqual([
      { depth: 1, kind: 'terminal', detected: 1, missed: 1 },
      { depth: 2, kind: 'substitute', detected: 0, missed: 1 },
    ])
    expect(rowsOf(evaluation.callsTable())).toEqual([
      { callsUpTo: 1, kind: 'terminal', detected: 1, missed: 0 },
      { callsUpTo: 1, kind: 'substitute', detected: 0, missed: 1 },
      { callsUpTo: Number.POSITIVE_INFINITY, kind: 'terminal', detected: 0, missed: 1 },
    ])
  })

  test('give mean scores of causes and of what they lie within', () => {
    const means = rowsOf(evaluation.scoreTable())
    expect(means.map(({ label, changes }) => `${label} ${changes}`)).toEqual([
      'T-1/1 2',
      'S-1/2 1',
      'S-2/2 1',
    ])
    expect(means.map(({ diagnosis }) => diagnosis)).toEqual([0.4, 0.5, 0.1])
    const summary = rowsOf(evaluation.summaryTable())
    expect(summary.map(({ causes, changes, detected }) => [causes, changes, detected])).toEqual([
      ['all', 3, 1],
      ['response times changed', 1, 1],
      ['response times did not', 2, 0],
      ['depth 1', 2, 1],
      ['depth 2', 1, 0],
    ])
    expect(summary[1]?.['diagnosis']).toBe(0.2)
  })

  test('give the share of causes with a score up to each', () => {
    const steps = rowsOf(evaluation.distributionTable()).filter(
      ({ label, ranking }) => label === '1/1' && ranking === 'diagnosis',
    )
    expect(steps.map(({ score, share }) => [score, share])).toEqual([
      [0.2, 0.5],
      [0.6, 1],
    ])
  })

  test('are drawn: what was detected, mean scores, and their distribution', () => {
    const detected = plotWhatIfEvaluation(evaluation, { figure: 'detected' })
    expect(detected.description).toContain('1 of 3 were')
    expectDrawable(detected)
    const means = plotWhatIfEvaluation(evaluation)
    expect(dataOf(means).flat()).toContainEqual({
      place: '1/1',
      kind: 'T: terminal',
      changes: 2,
      ranking: 'diagnosis',
      score: 0.4,
    })
    expectDrawable(means)
    expectDrawable(plotWhatIfEvaluation(evaluation, { figure: 'distribution' }))
    expect(() => plotWhatIfEvaluation(evaluation, { figure: 'pie' as never })).toThrow(
      'Option figure is "pie". Give one of detected, scores, distribution.',
    )
  })
})
