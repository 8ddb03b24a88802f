import { expect, test } from 'vitest'
import type { Finding } from '../../../src/compare/findings/finding.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { NOON_US } from '../../make-traces.ts'
import { call, record, tries } from '../../worlds.ts'

interface Vendor {
  readonly fromUs?: number
  readonly deadlineUs: number
  /** Share of calls that hang for eight seconds. */
  readonly hang: number
  readonly seed: number
  /** Most calls of a request: one that was given up is made again. */
  readonly tries?: number
}

/*
 * The caller gives a call up at its deadline; the server goes on:
 *
 *   shop    GET      |------------|
 *   shop    POST       |---------|        deadline exceeded
 *   vendor  License      |--------------------------|
 */
function shopAndVendor(
  name: string,
  { fromUs = NOON_US, deadlineUs, hang, seed, tries: most = 1 }: Vendor,
) {
  return record({ seed, requests: 600, everyUs: 5e5, fromUs, name }, (r) => {
    const attempts = tries(most, () => {
      const us = r.is(hang) ? 8e6 : r.about(40_000, 0.3)
      const fails = us > deadlineUs
      const waitedUs = fails ? deadlineUs + 2000 * r.next() : us + 1000
      const attributes: Record<string, string> = fails
        ? { 'error.message': 'deadline exceeded' }
        : {}
      const client = {
        us: [500, waitedUs - us - 500],
        operation: 'POST',
        fails,
        attributes,
      } as const
      return call('vendor License', us, { client })
    })
    return call('shop GET', [1000, 2000], {}, attempts)
  })
}

const compared = (before: Vendor, after: Vendor) =>
  compare(
    shopAndVendor('before', before),
    shopAndVendor('after', { fromUs: NOON_US + 300e6, ...after }),
  )

/** One second before, six after. */
const longer = (hang: number) =>
  compared({ deadlineUs: 1e6, hang, seed: 1 }, { deadlineUs: 6e6, hang, seed: 2 }).findings
const TOLD = 'shop → vendor License, given up after 6 s (1 s before)'

test('requests that give a call up later than before are told with the call and both deadlines', () => {
  const [{ title, services }] = longer(0.03).findings as [Finding]
  expect(title).toContain(`mostly in ${TOLD}`)
  expect(services).toEqual(['shop', 'vendor'])
})

test('so are few requests that are no finding', () => {
  const { findings, fewSlowText } = longer(0.015)
  expect(findings).toEqual([])
  expect(fewSlowText).toContain(`mostly in ${TOLD}`)
})

test('failures of a shorter deadline say when calls are given up, and how many took longer before', () => {
  const { findings } = compared(
    { deadlineUs: 1e6, hang: 0, seed: 3 },
    { deadlineUs: 50_000, hang: 0, seed: 4 },
  ).findings
  const facts = findings.flatMap((finding) => finding.facts)
  expect(facts).toContainEqual(
    expect.stringMatching(/^calls are given up after 51 ms \(before, 2\d % took longer\)$/),
  )
})

test('the same deadline in both periods is no change of it', () => {
  const { findings } = compared(
    { deadlineUs: 1e6, hang: 0.01, seed: 5 },
    { deadlineUs: 1e6, hang: 0.2, seed: 6 },
  )
  const below = findings.findings.flatMap(({ consequences }) => consequences)
  expect(below.some(({ kind }) => kind === 'errors')).toBe(true)
  expect(findings.text()).not.toContain('given up')
})

test('calls that their caller gives up as the server takes too long, and makes again, are one finding, of the server', () => {
  const { findings } = compared(
    { deadlineUs: 1e6, hang: 0, seed: 7, tries: 2 },
    { deadlineUs: 1e6, hang: 0.3, seed: 8, tries: 2 },
  ).findings
  expect(findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^vendor: License itself takes [\d.]+ m?s longer/),
  ])
  const below = findings[0]?.consequences.map(({ title }) => title) ?? []
  expect(below).toContainEqual(
    expect.stringMatching(/^shop → vendor: POST fails with “deadline exc/),
  )
  expect(below).toContainEqual(expect.stringMatching(/^shop: GET retries vendor License/))
})
