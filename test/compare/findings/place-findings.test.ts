import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { firstQuick } from '../../first-quick.ts'
import { type Period, period, SERVICES } from './five-services.ts'

const told = (after: Omit<Period, 'seed'>, before: Omit<Period, 'seed'> = {}) =>
  compare(period({ seed: 1, ...before }), period({ seed: 2, ...after }))

function saysTheSame(comparison: ReturnType<typeof told>) {
  const snapshot = takeSnapshot(comparison, { ids: true, latenciesOf: () => true })
  const restored = restoreComparison(JSON.parse(JSON.stringify(snapshot)))
  expect(restored.findings.text()).toBe(comparison.findings.text())
}

describe('where all that runs on one host takes twice as long', () => {
  const comparison = told({ slower: (_, host) => (host === 'node-2' ? 2 : 1) })
  const { findings, observedChangeUs } = comparison.findings
  const [first, ...others] = findings

  test('one finding names the host, and those of its services stand under it', () => {
    expect(others).toEqual([])
    expect(first?.title).toMatch(
      /^host = node-2: the work of 5 services there takes about 1\.8 times as long; not elsewhere$/,
    )
    expect(first?.look).toBe('everything with host = node-2')
    expect(first).toMatchObject({ place: { attribute: 'host', value: 'node-2' }, operation: null })
    expect(first?.consequences.flatMap(({ services }) => services[0]).sort()).toEqual(SERVICES)
  })

  test('it adds what requests there take more', () => {
    // Of their work, 4 to 6 ms are slower; calls of databases and the ends are not.
    // A third of five services that work 4 to 6 ms; one request in eight meets the host nowhere.
    expect(Math.abs((first?.contributionUs ?? 0) / observedChangeUs - 1)).toBeLessThan(0.1)
    expect(Math.abs((first?.requests ?? 0) / (400 * (1 - (2 / 3) ** 5)) - 1)).toBeLessThan(0.05)
  })

  test('a snapshot says the same', () => saysTheSame(comparison))
})

const calls = (service: string) => (service === 'price' ? 3 : 1)

test('a service that requests ask several times, elsewhere at first, is one of those there', () => {
  const transitUs = () => 200
  const comparison = told(
    { calls, transitUs, slower: (_, host) => (host === 'node-2' ? 2 : 1) },
    { calls, transitUs },
  )
  expect(comparison.findings.findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^host = node-2: the work of 5 services there takes/),
  ])
})

test('a service that requests ask several times, and that takes longer everywhere, is none of them', () => {
  const isSlow = (one: string, host: string) =>
    one === 'price' || (['auth', 'cart', 'stock'].includes(one) && host === 'node-1')
  const transitUs = () => 200
  const slower = (one: string, host: string) => (isSlow(one, host) ? 2 : 1)
  const { findings } = told({ calls, transitUs, slower }, { calls, transitUs }).findings
  expect(findings.map(({ title }) => title).sort()).toEqual([
    expect.stringMatching(/^host = node-1: the work of 3 services there takes/),
    expect.stringMatching(/^price: price it itself takes 5\.\d+ ms longer per call$/),
  ])
})

test('calls to it, and others to and by the same services, are one finding, too', () => {
  const transitUs = (_: string, to: string, from: string) =>
    (from === 'node-3') !== (to === 'node-3') ? 3200 : 200
  const { findings } = told({ calls, transitUs }, { calls, transitUs: () => 200 }).findings
  expect(findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^host = node-3: calls that enter or leave it, of 5 services there,/),
  ])
})

describe.each(
  firstQuick([
    [
      'to',
      'calls to 4 services there',
      (from: string, to: string) => from !== '' && to === 'node-3',
    ],
    [
      'between others and',
      'calls that enter or leave it, of 5 services there,',
      (from: string, to: string) => (from === 'node-3') !== (to === 'node-3'),
    ],
  ]),
)('on the way', ({ rows, tags }) => {
  test.each(rows)(
    'calls %s one host that all take longer are one finding',
    { tags },
    (_, calls, isSlow) => {
      const { findings } = told(
        { transitUs: (_, to, from) => (isSlow(from, to) ? 3200 : 200) },
        { transitUs: () => 200 },
      ).findings
      expect(findings).toHaveLength(1)
      expect(findings[0]?.title).toMatch(
        new RegExp(
          `^host = node-3: ${calls} take (2\\.9|3)\\d* ms longer in transit; not elsewhere`,
        ),
      )
    },
  )
})

describe.each(
  firstQuick<
    [what: string, isSlow: (one: string, host: string) => boolean, often?: Partial<Period>]
  >([
    [
      'two of five on one host',
      (one: string, host: string) => SERVICES.indexOf(one) < 2 && host === 'node-2',
    ],
    [
      'one service on one host',
      (one: string, host: string) => one === 'price' && host === 'node-2',
    ],
    ['two services everywhere', (one: string) => SERVICES.indexOf(one) < 2],
    [
      'two of five, most of which requests ask several times, on one host',
      (one: string, host: string) => ['auth', 'front'].includes(one) && host === 'node-2',
      { calls: () => 2, transitUs: () => 200 },
    ],
  ]),
)('less than all there', ({ rows, tags }) => {
  test.each(rows)('%s that takes longer is no host', { tags }, (_, isSlow, often = {}) => {
    const slower = (one: string, host: string) => (isSlow(one, host) ? 2 : 1)
    const { findings } = told({ slower, ...often }, often).findings
    expect(findings.length).toBeGreaterThan(0)
    expect(findings.filter(({ place }) => place !== undefined)).toEqual([])
  })
})

describe('where a host is a little slower', () => {
  const comparison = told({ slower: (_, host) => (host === 'node-3' ? 1.12 : 1) })

  test('all that runs there tells it, though no service does alone', () => {
    const { findings } = comparison.findings
    expect(comparison.steps.changes.filter(({ kind }) => kind === 'work')).toEqual([])
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(
        /^host = node-3: the work of 5 services there takes about 1\.1\d? times as/,
      ),
    ])
  })
})

describe.each(firstQuick([1, 3]))('of each seed', ({ rows, tags }) => {
  test.each(rows)(
    'a host whose speed wanders in both periods is no finding (%s)',
    { tags },
    (seed) => {
      const wander = (start: number) => {
        const random = randomSource(start)
        const levels = Array.from({ length: 40 }, () => Math.exp(0.15 * random.normal()))
        return (_: string, host: string, { at }: { readonly at: number }) =>
          host === 'node-3' ? (levels[Math.floor(at * 40)] as number) : 1
      }
      const [before, after] = [wander(seed), wander(seed + 1)]
      const { findings } = compare(
        period({ seed, slower: before }),
        period({ seed: seed + 1, slower: after }),
      ).findings
      expect(findings.map(({ title }) => title)).toEqual([])
    },
  )
})

test('what two hosts do longer is two findings', () => {
  const factors: Readonly<Record<string, number>> = { 'node-1': 3, 'node-3': 1.5 }
  const { findings } = told({ slower: (_, host) => factors[host] ?? 1 }).findings
  expect(findings.map(({ where }) => where)).toEqual(['host = node-1', 'host = node-3'])
})

test('what takes less time on one host is told, too', () => {
  const { findings } = told({}, { slower: (_, host) => (host === 'node-1' ? 2 : 1) }).findings
  expect(findings.map(({ where, direction }) => [where, direction])).toEqual([
    ['host = node-1', 'faster'],
  ])
})
