import { describe, expect, test } from 'vitest'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { type ServiceTraceOptions, serviceTraces } from './scenarios/service-traces.ts'

const leaf = { ownUs: 4000, calls: [] }

/** A front end that calls three services, and one of them a cache. */
function traces(seed: number, parallel: boolean, other: Partial<ServiceTraceOptions> = {}) {
  return serviceTraces({
    services: {
      web: { ownUs: 100, calls: ['ads', 'cart', 'price'], parallel },
      ads: leaf,
      cart: { ownUs: 1000, calls: ['cache'] },
      price: leaf,
      cache: leaf,
    },
    root: 'web',
    requests: 800,
    seed,
    hosts: 2,
    ...other,
  })
}

const titlesOf = ({ ranked }: ReturnType<typeof diagnoseLatency>) =>
  ranked.map(({ scenario }) => scenario.title)
const ORDER = 'calls of web serve web in the order of after'

describe('work that was done at once and is done in turn', () => {
  test('is the best explanation, and explains nearly all', () => {
    const { best } = diagnoseLatency(traces(1, true), traces(2, false), { depth: 2 })
    expect(best?.scenario).toMatchObject({ title: ORDER, kind: 'order', service: 'web' })
    expect(best?.significant).toBe(true)
    expect(best?.gain).toBeGreaterThan(0.95)
  })

  test('and the other way round', () => {
    const { best } = diagnoseLatency(traces(1, false), traces(2, true), { depth: 2 })
    expect(best?.scenario.title).toBe(ORDER)
    expect(best?.gain).toBeGreaterThan(0.9)
  })

  test('is not tried where the order is the same', { tags: 'full' }, () => {
    expect(titlesOf(diagnoseLatency(traces(1, true), traces(2, true)))).not.toContain(ORDER)
    const slower = traces(2, true, { slower: { ads: { serverUs: 9000 } } })
    const diagnosis = diagnoseLatency(traces(1, true), slower)
    expect(titlesOf(diagnosis)).not.toContain(ORDER)
    expect(diagnosis.best?.scenario.title).toBe('server time of ads serve ads as after')
  })
})

test('by divergence alone, what comes closest stands first, whatever changed', () => {
  const slower = traces(2, true, { slower: { ads: { serverUs: 9000 } } })
  const diagnosis = diagnoseLatency(traces(1, true), slower, { depth: 1, order: 'divergence' })
  const found = diagnosis.ranked.map(({ divergence }) => divergence)
  expect(found.length).toBeGreaterThan(3)
  expect(found).toEqual(found.toSorted((a, b) => a - b))
})
