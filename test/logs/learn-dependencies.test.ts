import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { happensBefore, learnDependencies } from '../../src/logs/dependencies/learn-dependencies.ts'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import type { LogSet } from '../../src/logs/features/log-set.ts'
import { randomSource } from '../../src/stats/random.ts'
import { chainBenchmark } from './chain-benchmark.ts'
import { logsOf } from './make-logs.ts'

const chain = chainBenchmark(7, 60)
const KEY = { kind: 'event', class: 'after', featureType: 'firstAbsolute' } as const

describe('learnDependencies', () => {
  const size = fc.integer({ min: 12, max: 60 })
  const share = fc.double({ min: 0.1, max: 1, noNaN: true })
  const stop = fc.constantFrom('significance' as const, 'orange' as const)

  test('a larger m only leaves dependencies of smaller nodes out', () => {
    fc.assert(
      fc.property(fc.nat(), size, stop, share, (seed, instances, chosen, minSplit) => {
        const logs = logsOf(chainBenchmark(seed, instances))
        const deep = learnDependencies(logs, { stop: chosen, minSplit: 0.1 })
        const own = learnDependencies(logs, { stop: chosen, minSplit })
        for (const each of ['before', 'after'] as const) {
          const whole = deep.of(each).map((network) => {
            const least = minSplit * network.mass * (1 - 1e-12)
            return { ...network, edges: network.edges.filter(({ weight }) => weight >= least) }
          })
          expect(own.of(each)).toEqual(whole)
        }
      }),
      { numRuns: 40 },
    )
  })

  test('weights that are all 1 equal none', () => {
    const logs = logsOf(chain)
    const weights = new Float64Array(logs.instances.length).fill(1)
    expect(learnDependencies(logs, { weights }).of('after')).toEqual(
      learnDependencies(logs).of('after'),
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
    const order = randomSource(1).shuffle(chain.after.map((_, i) => i))
    const shuffled = {
      ...chain,
      after: order.map((i) => chain.after[i] as readonly number[]),
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
    const logs = logsOf({ names, before: values, after: values, goodP: p, badP: p })
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
    const logs = logsOf({ names: ['x'], before: values, after: values, goodP: p, badP: p })
    const [edge, ...others] = learnDependencies(logs).network(KEY).edges
    expect(others).toEqual([])
    // 40 have the run time; all ten without x are like the 18 above the cut.
    expect(edge).toMatchObject({ from: 'run time', to: 'x', weight: 40 })
    expect(edge?.r2).toBeGreaterThan(0.99)
  })

  test('the variable that performance is a feature of explains nothing', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 40; i++) {
      builder.setInstance('after', `n${i}`)
      builder.logEvent(0, 'start')
      builder.logEvent(10 + ((i * 7) % 40), 'work')
      if (i > 0) builder.logEvent(20 + ((i * 7) % 40), 'done')
    }
    const networks = learnDependencies(builder.build(), { metric: 'done' })
    const { names, instances } = networks.network({ ...KEY, featureType: 'lastAbsolute' })
    expect(names).toEqual(['done', 'start', 'work'])
    expect([instances, networks.leftOut]).toEqual([39, { before: 0, after: 1 }])
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
      "Option stop is \"never\". Give 'significance' or 'orange'.",
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
