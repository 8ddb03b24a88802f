import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/compare/snapshot.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

const SERVICES = ['auth', 'cart', 'front', 'price', 'stock']
const HOSTS = ['node-1', 'node-2', 'node-3']

interface Period {
  readonly seed: number
  /** By what factor a service takes longer on a host in what it does itself. */
  readonly slower?: (service: string, host: string) => number
  /** By what factor databases take longer. */
  readonly database?: (service: string) => number
}

/**
 * `front` calls each of four services in turn, on any of three hosts; all work some milliseconds
 * and call their database.
 */
function period({ seed, slower = () => 1, database = () => 1 }: Period) {
  const random = randomSource(seed)
  const spans = Array.from({ length: 400 }, (_, request): SpanSketch[] => {
    const trace = `${seed} ${request}`
    let nowUs = seed * 1e10 + request * 1e6
    const work = (service: string, parent: string | null, inner: () => SpanSketch[]) => {
      const host = HOSTS[random.integer(3)] as string
      const usualUs = (4000 + 500 * SERVICES.indexOf(service)) * slower(service, host)
      const own = { trace, service, host }
      const id = `${trace} ${service}`
      const startUs = nowUs
      nowUs += random.logNormal(Math.log(usualUs), 0.3)
      const queried = {
        ...own,
        id: `${id} db`,
        parent: id,
        operation: `SELECT ${service}`,
        startUs: nowUs,
      }
      nowUs += random.logNormal(Math.log(700 * database(service)), 0.3)
      const query = { ...queried, endUs: nowUs }
      const called = inner()
      nowUs += 100
      return [
        { ...own, id, parent, operation: `${service} it`, startUs, endUs: nowUs },
        query,
        ...called,
      ]
    }
    return work('front', null, () =>
      SERVICES.filter((service) => service !== 'front').flatMap((service) =>
        work(service, `${trace} front`, () => []),
      ),
    )
  })
  return makeSpans(spans.flat())
}

const before = period({ seed: 1 })
const told = (after: Omit<Period, 'seed'>, seed = 2) => {
  const comparison = compare(before, period({ seed, ...after }))
  return { comparison, findings: comparison.findings.findings }
}

describe('where all services take longer by the same factor', () => {
  const { comparison, findings } = told({ slower: () => 1.3 })
  const [first, ...others] = findings

  test('one finding says so, and those of single services stand under it', () => {
    expect(others).toEqual([])
    expect(first?.title).toBe('all 5 services: what each does itself takes about 1.3 times as long')
    expect(first?.look).toBe('what all steps share: host, runtime, load')
    expect(first?.facts).toContain('on 3 hosts alike')
    expect(first?.consequences.flatMap(({ services }) => services[0]).sort()).toEqual(SERVICES)
  })

  test('it adds what those under it add, once', () => {
    const { contributionUs = 0, consequences = [], size, requests = 0 } = first ?? {}
    const sum = consequences.reduce((all, one) => all + one.contributionUs, 0)
    expect(contributionUs).toBeCloseTo(sum, 3)
    expect((size?.value ?? 0) * requests).toBeCloseTo(sum, 3)
    expect(Math.abs(sum / comparison.findings.observedChangeUs - 1)).toBeLessThan(0.1)
  })

  test('a snapshot says the same', () => {
    const snapshot = takeSnapshot(comparison, { ids: true, latenciesOf: () => true })
    const restored = restoreComparison(JSON.parse(JSON.stringify(snapshot)))
    expect(restored.findings.text()).toBe(comparison.findings.text())
  })
})

test('all that take less by the same factor are told as one, too', () => {
  expect(told({ slower: () => 0.7 }).findings.map(({ title }) => title)).toEqual([
    'all 5 services: what each does itself takes about 0.72 times as long',
  ])
})

test.each([
  ['by another factor', { slower: (one: string) => (one === 'price' ? 3 : 1.3) }],
  ['in its database', { slower: () => 1.3, database: (one: string) => (one === 'price' ? 6 : 1) }],
])('a service that is slower %s stands beside the others', (_, after) => {
  const { findings } = told(after)
  expect(findings.map(({ where }) => where.replace(/all 5|4 of 5/, 'most')).sort()).toEqual([
    'most services',
    'price',
  ])
  const most = findings.find(({ where }) => where.includes('services'))
  expect(most?.consequences.flatMap(({ services }) => services)).not.toContain('price')
})

test.each([
  ['some of the services', (one: string) => (SERVICES.indexOf(one) < 2 ? 1.3 : 1)],
  ['services by other factors', (one: string) => 1.2 + 0.4 * SERVICES.indexOf(one)],
  ['all services on one of three hosts', (_: string, host: string) => (host === 'node-2' ? 2 : 1)],
])('%s are no slowdown of all', (_, slower) => {
  const { findings } = told({ slower })
  expect(findings.length).toBeGreaterThan(1)
  expect(findings.map(({ where }) => where).join()).not.toContain('services')
})

test('periods alike have no such finding', () => {
  for (let seed = 2; seed < 12; seed++) expect(told({}, seed).findings).toEqual([])
})
