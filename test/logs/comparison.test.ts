import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { focusAttention } from '../../src/logs/attention/focus-attention.ts'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { happensBefore } from '../../src/logs/dependencies/happens-before.ts'
import { learnDependencies } from '../../src/logs/dependencies/learn-dependencies.ts'
import { findDivergence } from '../../src/logs/divergence/find-divergence.ts'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import type { LogSet } from '../../src/logs/features/log-set.ts'
import { randomSource } from '../../src/stats/random.ts'
import { chainBenchmark } from './chain-benchmark.ts'
import { type Given, logsOf } from './make-logs.ts'

const chain = chainBenchmark(7, 60)
const KEY = { kind: 'event', class: 'bad', featureType: 'firstAbsolute' } as const

function swapped({ names, good, bad, goodP, badP }: Given): Given {
  return { names, good: bad, bad: good, goodP: badP, badP: goodP }
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

  test('t is positive where the bad class is larger', () => {
    expect(findDivergence(logsOf(chain)).variable('event', 'A')?.features[0]?.t).toBeGreaterThan(0)
  })

  test('Bonferroni counts the tests performed, of events and of states apart', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 8; i++) {
      builder.setInstance(i < 4 ? 'good' : 'bad', `n${i}`)
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
    expect(count?.q).toBe(Math.min(1, Number(count?.p) * 15))
    const once = divergence.variable('event', 'once')?.features[0]
    expect(once).toMatchObject({ tested: false, t: Number.NaN, significant: false, goodCount: 1 })
  })

  test('two constants that differ rank first, and are as divergent as can be', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 40; i++) {
      builder.setInstance(i < 20 ? 'good' : 'bad', `n${i}`)
      builder.logState(0, 'version', i < 20 ? 1 : 2)
      builder.logState(1, 'size', i < 20 ? i : 1000 + i)
    }
    const [first, second] = findDivergence(builder.build()).variables
    expect([first?.name, first?.score, second?.name]).toEqual([
      ...['version', Number.POSITIVE_INFINITY, 'size'],
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
      "Give 'bonferroni', 'bh', 'none'.",
    )
    expect(() => findDivergence(logs, { aplha: 0.1 } as object)).toThrow('no option aplha')
  })
})

describe('learnDependencies', () => {
  const size = fc.integer({ min: 12, max: 60 })
  const share = fc.double({ min: 0.1, max: 1, noNaN: true })
  const stop = fc.constantFrom('significance' as const, 'orange' as const)

  test('pruned to a larger m, networks are those that are learned at that m', () => {
    fc.assert(
      fc.property(fc.nat(), size, stop, share, (seed, instances, chosen, minSplit) => {
        const logs = logsOf(chainBenchmark(seed, instances))
        const deep = learnDependencies(logs, { stop: chosen, minSplit: 0.1 })
        const own = learnDependencies(logs, { stop: chosen, minSplit })
        for (const each of ['good', 'bad'] as const) {
          expect(deep.pruned(minSplit).of(each)).toEqual(own.of(each))
        }
      }),
      { numRuns: 40 },
    )
  })

  test('weights that are all 1 equal none', () => {
    const logs = logsOf(chain)
    const weights = new Float64Array(logs.instances.length).fill(1)
    expect(learnDependencies(logs, { weights }).of('bad')).toEqual(
      learnDependencies(logs).of('bad'),
    )
  })

  test('weights of 4 quadruple the weights of dependencies, and make nothing more significant', () => {
    const logs = logsOf(chain)
    const weights = new Float64Array(logs.instances.length).fill(4)
    const [plain, heavy] = [learnDependencies(logs), learnDependencies(logs, { weights })]
    const edgesOf = (networks: typeof plain) => networks.network(KEY).edges
    expect(edgesOf(heavy).map(({ from, to, weight }) => [from, to, weight])).toEqual(
      edgesOf(plain).map(({ from, to, weight }) => [from, to, 4 * weight]),
    )
  })

  test('networks do not depend on the order of instances', () => {
    const order = randomSource(1).shuffle(chain.bad.map((_, i) => i))
    const shuffled = {
      ...chain,
      bad: order.map((i) => chain.bad[i] as readonly number[]),
      badP: order.map((i) => chain.badP[i] as number),
    }
    const round = (logs: LogSet) =>
      learnDependencies(logs, { stop: 'orange' })
        .network(KEY)
        .edges.map((edge) => ({ ...edge, r2: edge.r2.toFixed(9) }))
    expect(round(logsOf(shuffled))).toEqual(round(logsOf(chain)))
  })

  test('of variables that split alike the first by name is taken', () => {
    const names = ['copy', 'original']
    const values = Array.from({ length: 30 }, (_, i) => [i, i])
    const p = values.map(([value = 0]) => (value < 15 ? value / 100 : 50 + value / 100))
    const logs = logsOf({ names, good: values, bad: values, goodP: p, badP: p })
    const { edges } = learnDependencies(logs, { minSplit: 1 }).network(KEY)
    // The run time's tree splits on the first; those of the two split on each other, as exactly as
    // on the run time, which comes last.
    expect(edges.map(({ from, to }) => [from, to])).toEqual([
      ['copy', 'run time'],
      ['copy', 'original'],
    ])
  })

  test('instances without a value go with the majority, those without the target are left out', () => {
    const values = Array.from({ length: 40 }, (_, i) => [i < 30 ? i : Number.NaN])
    const p = Array.from({ length: 40 }, (_, i) => (i < 12 ? 0 : 100) + (i % 3))
    const logs = logsOf({ names: ['x'], good: values, bad: values, goodP: p, badP: p })
    const [edge, ...others] = learnDependencies(logs).network(KEY).edges
    expect(others).toEqual([])
    // 40 have the run time; all ten without x are like the 18 above the cut.
    expect(edge).toMatchObject({ from: 'run time', to: 'x', weight: 40 })
    expect(edge?.r2).toBeGreaterThan(0.99)
  })

  test('the variable that performance is a feature of explains nothing', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 40; i++) {
      builder.setInstance('bad', `n${i}`)
      builder.logEvent(0, 'start')
      builder.logEvent(10 + ((i * 7) % 40), 'work')
      if (i > 0) builder.logEvent(20 + ((i * 7) % 40), 'done')
    }
    const networks = learnDependencies(builder.build(), { metric: 'done' })
    const { names, instances } = networks.network({ ...KEY, featureType: 'lastAbsolute' })
    expect(names).toEqual(['done', 'start', 'work'])
    expect([instances, networks.leftOut]).toEqual([39, { good: 0, bad: 1 }])
    const relative = networks.network({ ...KEY, featureType: 'lastRelative' })
    expect(relative.names).toEqual(names)
    // Beside shares of the run performance is taken as one: both orders are the same.
    expect(relative.edges.map(({ from, to, directed }) => [from, to, directed])).toEqual([
      ['work', 'done', true],
    ])
    const count = networks.network({ ...KEY, featureType: 'count' })
    expect(count.edges.every(({ directed }) => !directed)).toBe(true)
  })

  test('names what an option cannot be', () => {
    const logs = logsOf(chain)
    expect(() => learnDependencies(logs, { minSplit: 40 })).toThrow(
      'Option minSplit is 40. Give a share of the instances, above 0 to 1.',
    )
    expect(() => learnDependencies(logs, { stop: 'never' as 'orange' })).toThrow(
      "Option stop is \"never\". Give 'significance', 'orange'.",
    )
    expect(() => learnDependencies(logs, { minLeaf: 0 })).toThrow('Option minLeaf is 0.')
  })
})

describe('happensBefore', () => {
  test('needs two instances that have both, and strict order in all of them', () => {
    expect(happensBefore([1, 2], [2, 3])).toBe(-1)
    expect(happensBefore([2, 3], [1, 2])).toBe(1)
    expect(happensBefore([1, 2], [2, 2])).toBe(0)
    expect(happensBefore([1, 3], [2, 2])).toBe(0)
    expect(happensBefore([1, Number.NaN], [2, 3])).toBe(0)
  })
})

describe('focusAttention', () => {
  const comparison = compareLogs(logsOf(chain))

  test('the score is the sum, or the mean, of what variables add', () => {
    const best = comparison.attention.best('event')
    const terms = best?.nodes.reduce((sum, { term }) => sum + term, 0)
    expect(best?.score).toBeCloseTo(Number(terms), 12)
    const mean = comparison.with({ score: 'mean' }).attention.best('event')
    expect(mean?.score).toBeCloseTo(Number(terms) / (Number(best?.nodes.length) - 1), 12)
  })

  test('a balance of 1 goes only by divergence, of 0 only by dependencies', () => {
    const terms = (balance: number) =>
      comparison
        .with({ balance })
        .attention.best('event')
        ?.nodes.slice(1)
        .map(({ term, divergence }) => [term, divergence])
    for (const [term, divergence] of terms(1) ?? [])
      expect(term).toBeCloseTo((divergence as number) ** 2, 12)
    expect(terms(0)?.every(([term]) => Number(term) > 0 && Number(term) <= 1)).toBe(true)
  })

  test('shares of the run come last where performance is a time, unless asked otherwise', () => {
    // The announcement has nothing to do with the end: only its share of the run has.
    const random = randomSource(4)
    const builder = new LogBuilder()
    for (let i = 0; i < 120; i++) {
      const work = 1_000 + (i < 60 ? 0 : 3_000) + 500 * random.next()
      builder.setInstance(i < 60 ? 'good' : 'bad', `n${i}`)
      builder.logEvent(0, 'start')
      builder.logEvent(100 + random.next(), 'announce')
      builder.logEvent(work, 'work')
      builder.logEvent(work + 50 + 10 * random.next(), 'done')
    }
    const found = compareLogs(builder.build(), { metric: 'done' })
    const namesOf = (graph = found.attention.best('event')) => graph?.nodes.map(({ name }) => name)
    expect(namesOf()).toEqual(['done', 'work'])
    const ranked = found.with({ sharedDenominator: 'ranked' }).attention.of('event')
    expect(ranked.find(({ sharesDenominator }) => sharesDenominator)?.nodes[1]?.name).toBe(
      'announce',
    )
    const last = found.attention.of('event').map(({ sharesDenominator }) => sharesDenominator)
    expect(last).toEqual([false, false, false, false, true, true, true])
  })

  test('takes stages of one set of logs and one metric', () => {
    const other = logsOf(chain)
    expect(() => focusAttention(comparison.divergence, learnDependencies(other))).toThrow(
      'focusAttention got stages of different logs or metrics.',
    )
    expect(() =>
      focusAttention(comparison.divergence, comparison.networks, { balance: 2 }),
    ).toThrow('Option balance is 2. Give a share from 0 to 1.')
  })

  test('shows a graph, a variable or a dependency a row', () => {
    const { attention } = comparison
    expect(attention.table().get('first', 0)).toBe(attention.best('event')?.nodes[1]?.name)
    expect(attention.nodeTable().get('variable', 0)).toBe('run time')
    expect(attention.edgeTable().numRows()).toBe(attention.best('event')?.edges.length)
    expect(attention.best('state')).toBeUndefined()
  })
})

describe('compareLogs', () => {
  const comparison = compareLogs(logsOf(chain))

  test('shares the stages that a change does not reach', () => {
    const other = comparison.with({ balance: 0.3 })
    expect(other.divergence).toBe(comparison.divergence)
    expect(other.networks).toBe(comparison.networks)
    expect(other.attention).not.toBe(comparison.attention)
    const level = comparison.with({ alpha: 0.01 })
    expect(level.networks).toBe(comparison.networks)
    expect(level.divergence).not.toBe(comparison.divergence)
  })

  test('a larger m prunes networks; a smaller one learns them', () => {
    const larger = comparison.with({ minSplit: 0.9 })
    expect(larger.networks.grownAt).toBe(comparison.networks.grownAt)
    expect(larger.networks).toBe(larger.networks)
    expect(larger.with({ minSplit: 0.5 }).networks.grownAt).toBe(comparison.networks.grownAt)
    expect(comparison.with({ minSplit: 0.2 }).networks.grownAt).toBe(0.2)
    expect(() => comparison.with({ minSplit: 2 }).networks).toThrow('Option minSplit is 2.')
  })

  test('gives what the stages give one by one', () => {
    const { logs, attention } = comparison
    const own = focusAttention(findDivergence(logs), learnDependencies(logs))
    expect(attention.graphs).toEqual(own.graphs)
  })

  test('takes logs, not a promise of them', () => {
    expect(() => compareLogs(Promise.resolve() as unknown as LogSet)).toThrow(
      'Write `await` before it.',
    )
    expect(() => compareLogs(comparison.logs, { minsplit: 1 } as object)).toThrow(
      'There is no option minsplit.',
    )
  })
})
