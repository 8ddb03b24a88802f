import { describe, expect, test } from 'vitest'
import { findDivergence } from '../../src/logs/divergence/find-divergence.ts'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import { chainBenchmark } from './chain-benchmark.ts'
import { type Given, logsOf } from './make-logs.ts'

const chain = chainBenchmark(7, 60)

function swapped({ names, before, after, goodP, badP }: Given): Given {
  return { names, before: after, after: before, goodP: badP, badP: goodP }
}

describe('findDivergence', () => {
  test('swapping the classes changes the sign of t only', () => {
    const one = findDivergence(logsOf(chain))
    const other = findDivergence(logsOf(swapped(chain)))
    expect(other.variables.map(({ name, score }) => [name, score])).toEqual(
      one.variables.map(({ name, score }) => [name, score]),
    )
    for (const { name, features } of one.variables) {
      const [test, mirrored] = [features[0], other.variable('event', name)?.features[0]]
      expect(mirrored?.t).toBe(-Number(test?.t))
      expect(mirrored?.p).toBe(test?.p)
    }
  })

  test('t is positive where the after class is larger', () => {
    expect(findDivergence(logsOf(chain)).variable('event', 'A')?.features[0]?.t).toBeGreaterThan(0)
  })

  test('Bonferroni counts the tests performed, of events and of states apart', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 8; i++) {
      builder.setInstance(i < 4 ? 'before' : 'after', `n${i}`)
      builder.logEvent(0, 'start')
      builder.logEvent(1_000 + i * i, 'work')
      if (i === 0) builder.logEvent(1_100, 'once')
      builder.logState(500, 'size', i * i)
    }
    const divergence = findDivergence(builder.build())
    // start and work in seven features, once only in its count; a state of a single value has no
    // relative snapshots, and none at ¼ of the run.
    expect([divergence.tests('event'), divergence.tests('state')]).toEqual([15, 6])
    const count = divergence
      .variable('event', 'work')
      ?.features.find(({ feature }) => feature === 'lastAbsolute')
    // Of 4 instances and 4, one order of 70 is the most extreme, either way.
    expect(count?.q).toBe(Math.min(1, Math.max(Number(count?.p), 2 / 70) * 15))
    const once = divergence.variable('event', 'once')?.features[0]
    expect(once).toMatchObject({ tested: false, t: Number.NaN, significant: false, beforeCount: 1 })
  })

  test('two constants that differ are as divergent as can be, and come after what varies', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 40; i++) {
      builder.setInstance(i < 20 ? 'before' : 'after', `n${i}`)
      builder.logState(0, 'version', i < 20 ? 1 : 2)
      builder.logState(1, 'size', i < 20 ? i : 1000 + i)
    }
    const [first, second] = findDivergence(builder.build()).variables
    expect([first?.name, second?.name, second?.score, second?.idle]).toEqual([
      'size',
      'version',
      Number.POSITIVE_INFINITY,
      'constant',
    ])
  })

  test('BH finds at least what Bonferroni does, and no correction at least that', () => {
    const logs = logsOf(chainBenchmark(3, 12))
    const found = (['bonferroni', 'bh', 'none'] as const).map(
      (correction) =>
        findDivergence(logs, { correction }).variables.filter(({ score }) => score > 0).length,
    )
    expect(found).toEqual([...found].sort((a, b) => a - b))
  })

  test('weights that are all 1 equal none', () => {
    const logs = logsOf(chain)
    const weights = new Float64Array(logs.instances.length).fill(1)
    expect(findDivergence(logs, { weights }).variables).toEqual(findDivergence(logs).variables)
  })

  test('names what an option cannot be', () => {
    const logs = logsOf(chain)
    expect(() => findDivergence(logs, { alpha: 1 })).toThrow('Option alpha is 1.')
    expect(() => findDivergence(logs, { correction: 'holm' as 'bh' })).toThrow(
      "Give 'bonferroni', 'bh' or 'none'.",
    )
    expect(() => findDivergence(logs, { aplha: 0.1 } as object)).toThrow('no option aplha')
  })
})

test('the table names the feature that differs most also where no |t| reaches 1', () => {
  for (const [before, after] of [
    [
      [10, 20, 30, 40],
      [12, 20, 31, 41],
    ],
    [
      [5, 5, 9],
      [5, 6, 9],
    ],
  ]) {
    const builder = new LogBuilder()
    for (const [logClass, sizes] of [
      ['before', before],
      ['after', after],
    ] as const) {
      for (const [i, size] of (sizes ?? []).entries()) {
        builder.setInstance(logClass, `n${i}`)
        builder.logState(0, 'size', size)
      }
    }
    const [row] = findDivergence(builder.build()).table().objects() as { t: number }[]
    expect(Math.abs(Number(row?.t))).toBeGreaterThan(0)
    expect(Math.abs(Number(row?.t))).toBeLessThan(1)
    expect(row).toMatchObject({ variable: 'size', feature: 'mean' })
  }
})
