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
  { fromUs = NOON_US, deadlineUs, hang, seed, tries = 1 }: Vendor,
) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 600; i++) {
    const startUs = fromUs + i * 500_000
    const trace = `${name}-${i}`
    let nowUs = startUs + 1000
    let isGivenUp = true
    for (let attempt = 0; attempt < tries && isGivenUp; attempt++) {
      const hangs = random.next() < hang
      const serverUs = hangs ? 8e6 : 40_000 * Math.exp(0.3 * random.normal())
      isGivenUp = serverUs > deadlineUs
      const waitedUs = isGivenUp ? deadlineUs + 2000 * random.next() : serverUs + 1000
      const status = isGivenUp
        ? ({ status: 'error', attributes: { 'error.message': 'deadline exceeded' } } as const)
        : {}
      const id = `${trace}-call-${attempt}`
      const call = { trace, id, parent: trace, service: 'shop', operation: 'POST' }
      spans.push({ ...call, startUs: nowUs, endUs: nowUs + waitedUs, ...status, kind: 'client' })
      const server = { trace, id: `${id}-server`, parent: id, service: 'vendor' }
      const served = { startUs: nowUs + 500, endUs: nowUs + 500 + serverUs }
      spans.push({ ...server, operation: 'License', ...served })
      nowUs += waitedUs
    }
    const root = { trace, id: trace, service: 'shop', operation: 'GET', startUs }
    spans.push({ ...root, endUs: nowUs + 2000 })
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
