import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/compare/snapshot.ts'
import { type Period, period, SERVICES } from './five-services.ts'

const told = (after: Omit<Period, 'seed'>, before: Omit<Period, 'seed'> = {}) =>
  compare(period({ seed: 1, ...before }), period({ seed: 2, ...after }))

describe('where all that runs on one host takes twice as long', () => {
  const comparison = told({ slower: (_, host) => (host === 'node-2' ? 2 : 1) })
  const { findings, observedChangeUs } = comparison.findings
  const [first, ...others] = findings

  test('one finding names the host, and those of its services stand under it', () => {
    expect(others).toEqual([])
    expect(first?.title).toMatch(
      /^host = node-2: what 5 services do there takes 3\.\d+ ms to 6\.\d+ ms longer, elsewhere as long as before$/,
    )
    expect(first?.look).toBe('what runs where host = node-2')
    expect(first?.consequences.flatMap(({ services }) => services[0]).sort()).toEqual(SERVICES)
  })

  test('it adds what requests there take more', () => {
    // A third of five services that work 4 to 6 ms; one request in eight meets the host nowhere.
    expect(Math.abs((first?.contributionUs ?? 0) / observedChangeUs - 1)).toBeLessThan(0.1)
    expect(Math.abs((first?.requests ?? 0) / (400 * (1 - (2 / 3) ** 5)) - 1)).toBeLessThan(0.05)
  })

  test('a snapshot says the same', () => {
    const snapshot = takeSnapshot(comparison, { ids: true, latenciesOf: () => true })
    const restored = restoreComparison(JSON.parse(JSON.stringify(snapshot)))
    expect(restored.findings.text()).toBe(comparison.findings.text())
  })
})

test('calls that all take longer to one host are one finding', () => {
  const usualUs = () => 200
  const { findings } = told(
    { transitUs: (_, host) => (host === 'node-3' ? 3200 : 200) },
    { transitUs: usualUs },
  ).findings
  expect(findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(
      /^host = node-3: calls to 4 services there take (2\.9|3)\d* ms longer in transit, elsewhere as long as before$/,
    ),
  ])
})

test.each([
  ['one service on one host', (one: string, host: string) => one === 'price' && host === 'node-2'],
  ['two services everywhere', (one: string) => SERVICES.indexOf(one) < 2],
  [
    'two of five on one host',
    (one: string, host: string) => SERVICES.indexOf(one) < 2 && host === 'node-2',
  ],
])('%s that takes longer is no host', (_, isSlow) => {
  const { findings } = told({ slower: (one, host) => (isSlow(one, host) ? 2 : 1) }).findings
  expect(findings.length).toBeGreaterThan(0)
  expect(findings.map(({ title }) => title).join()).not.toContain('services do there')
})
