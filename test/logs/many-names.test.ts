import { describe, expect, test } from 'vitest'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import type { LogSet } from '../../src/logs/features/log-set.ts'
import { randomSource } from '../../src/stats/random.ts'

const INSTANCES = 40

/** Noise in every instance, a name or two that only one instance has, and what finish depends on. */
function logsWith(noises: number): LogSet {
  const random = randomSource(4)
  const builder = new LogBuilder()
  for (let i = 0; i < INSTANCES; i++) {
    const isBad = i >= INSTANCES / 2
    builder.setInstance(isBad ? 'after' : 'before', `n${i}`)
    builder.logEvent(0, 'start')
    for (let noise = 0; noise < noises; noise++) {
      builder.logEvent(10_000 + 1_000 * random.normal(), `noise ${noise}`)
    }
    builder.logEvent(500, `request ${i}`)
    const cause = (isBad ? 60_000 : 40_000) + 5_000 * random.normal()
    builder.logEvent(cause, 'zz cause')
    builder.logEvent(cause + 10_000 + 500 * random.normal(), 'finish')
  }
  return builder.build()
}

const logs = logsWith(60)
const KEY = { kind: 'event', class: 'after', featureType: 'lastAbsolute' } as const

describe('of too many variables networks are learned from some', () => {
  const compared = compareLogs(logs, { metric: 'finish', mostVariables: 10 })

  test('which are those that differ most', () => {
    const network = compared.networks.network(KEY)
    expect(network.names).toHaveLength(11)
    expect(network.names).toContain('zz cause')
    expect(network.edges.map(({ from, to }) => [from, to])).toContainEqual(['zz cause', 'finish'])
  })

  test('and how many are left out is said; what never could take part is not among them', () => {
    // 60 noises and the cause vary where they can be split; start and requests do not.
    expect(compared.networks.network(KEY).variablesLeftOut).toBe(51)
    const graph = compared.attention.graphs.find(
      ({ featureType }) => featureType === 'lastAbsolute',
    )
    expect(graph?.variablesLeftOut).toBe(51)
    expect(compared.attention.table().columnNames()).toContain('variablesLeftOut')
  })

  test('none are left out where there is room', () => {
    const whole = compareLogs(logs, { metric: 'finish' })
    expect(whole.networks.network(KEY).variablesLeftOut).toBe(0)
    expect(whole.attention.graphs.some((graph) => 'variablesLeftOut' in graph)).toBe(false)
    expect(whole.attention.table().columnNames()).not.toContain('variablesLeftOut')
  })

  test('a limit that cannot be is named', () => {
    expect(() => compareLogs(logs, { mostVariables: 0 }).networks).toThrow(
      'Option mostVariables is 0. Give a whole number of variables, 1 or more.',
    )
  })
})

test('a variable takes memory only in the instances that logged it', () => {
  const index = Number(logs.events.indexOf('request 7'))
  expect(logs.events.rows(index, ['firstAbsolute'])).toEqual([{ instance: 7, firstAbsolute: 500 }])
  const count = new Float64Array(INSTANCES)
  count[7] = 1
  expect(logs.events.of(index, 'count')).toEqual(count)
  expect(logs.events.of(index, 'lastAbsolute').filter(Number.isNaN)).toHaveLength(INSTANCES - 1)
})
