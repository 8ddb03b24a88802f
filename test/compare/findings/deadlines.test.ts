import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import type { Finding } from '../../../src/compare/findings/finding.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'

interface Vendor {
  readonly fromUs?: number
  readonly deadlineUs: number
  /** Share of calls that hang for eight seconds. */
  readonly hang: number
  readonly seed: number
}

/*
 * The caller gives a call up at its deadline; the server goes on:
 *
 *   shop    GET      |------------|
 *   shop    POST       |---------|        deadline exceeded
 *   vendor  License      |--------------------------|
 */
function shopAndVendor(name: string, { fromUs = NOON_US, deadlineUs, hang, seed }: Vendor) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 600; i++) {
    const hangs = random.next() < hang
    const serverUs = hangs ? 8e6 : 40_000 * Math.exp(0.3 * random.normal())
    const isGivenUp = serverUs > deadlineUs
    const waitedUs = isGivenUp ? deadlineUs + 2000 * random.next() : serverUs + 1000
    const startUs = fromUs + i * 500_000
    const trace = `${name}-${i}`
    const root = { trace, id: trace, service: 'shop', operation: 'GET', startUs }
    spans.push({ ...root, endUs: startUs + waitedUs + 3000 })
    const status = isGivenUp
      ? ({ status: 'error', attributes: { 'error.message': 'deadline exceeded' } } as const)
      : {}
    const call = { trace, id: `${trace}-call`, parent: trace, service: 'shop', operation: 'POST' }
    const callUs = { startUs: startUs + 1000, endUs: startUs + 1000 + waitedUs }
    spans.push({ ...call, ...callUs, ...status, kind: 'client' })
    const server = { trace, id: `${trace}-server`, parent: `${trace}-call`, service: 'vendor' }
    const serverFromUs = startUs + 1500
    const served = { startUs: serverFromUs, endUs: serverFromUs + serverUs }
    spans.push({ ...server, operation: 'License', ...served })
  }
  return makeSpans(spans, name)
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
  expect(title).toContain(`most of it in ${TOLD}`)
  expect(services).toEqual(['shop', 'vendor'])
})

test('so are few requests that are no finding', () => {
  const { findings, fewSlow } = longer(0.015)
  expect(findings).toEqual([])
  expect(fewSlow?.where).toBe(TOLD)
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
  expect(findings.findings.some(({ kind }) => kind === 'errors')).toBe(true)
  expect(findings.text()).not.toContain('given up')
})
