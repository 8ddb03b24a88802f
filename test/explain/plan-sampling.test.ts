import { expect, test } from 'vitest'
import { compare } from '../../src/compare/comparison.ts'
import { memoized } from '../../src/core/remembered.ts'
import { planSampling } from '../../src/explain/plan-sampling.ts'
import { makeGraphs } from '../make-traces.ts'
import { mailPeriod } from './plan-world.ts'

const recording = mailPeriod({ requests: 1200, seed: 1 })
const planOf = memoized((shiftUs: number) => planSampling(recording, { shiftUs }))
const neededOf = (step: string, shiftUs: number) =>
  planOf(shiftUs).steps.find((one) => one.step === step)?.needed ?? Number.NaN

test('a smaller shift, and a step that varies more, need more requests', () => {
  expect(neededOf('db run itself', 1000)).toBeGreaterThan(neededOf('db run itself', 2000))
  // 3 ms vary as much as 5 ms do, as a share of themselves.
  expect(neededOf('mail run itself', 1500)).toBeLessThan(neededOf('db run itself', 1500))
})

test('a shift that hardly any two calls hide needs as few requests as any test', () => {
  expect(neededOf('db run itself', 12_000)).toBe(3)
})

test('a rate is of all requests, whatever is needed is of those with the step', () => {
  const plan = planOf(1500)
  const mail = plan.steps.findIndex(({ step }) => step === 'mail run itself')
  const { requests, needed } = plan.steps[mail]!
  expect(plan.allRequests).toBe(600)
  expect(requests).toBe(150)
  expect(plan.rate(mail)).toBeCloseTo(needed / 150)
  const row = plan.table().objects()[mail] as Record<string, number>
  expect(row['tailTraces']).toBe(needed)
  expect(row['headTraces']).toBe(4 * needed)
})

test('a shorter period has fewer requests and needs as many', () => {
  const [long, short] = [60e6, 6e6].map((withinUs) =>
    planSampling(recording, { shiftUs: 1500, withinUs }),
  )
  expect(short?.allRequests).toBe(60)
  expect(short?.steps[0]?.needed).toBe(long?.steps[0]?.needed)
  expect(short?.rate(0)).toBeCloseTo(10 * (long?.rate(0) ?? 0), 0)
})

test('what changes response times by less than findings tell needs more than there are', () => {
  const [db] = planSampling(recording, { shiftUs: 1, service: 'db' }).steps
  expect(db?.needed).toBe(Number.POSITIVE_INFINITY)
  expect(db?.leastUs).toBeGreaterThan(100)
})

test('a comparison of two periods says what halves of one recording do, about', () => {
  const two = compare(
    mailPeriod({ requests: 600, seed: 2 }),
    mailPeriod({ requests: 600, seed: 3 }),
  )
  const needed = planSampling(two, { shiftUs: 1500, service: 'db' }).steps[0]?.needed ?? Number.NaN
  const ratio = needed / neededOf('db run itself', 1500)
  expect(Math.abs(Math.log(ratio))).toBeLessThan(0.3)
})

test.each([
  [{ shiftUs: 0 }, "Option shiftUs is 0. Give a duration above 0, such as '5ms' (in code, in µs)."],
  [
    { service: 'dp' },
    "'dp' is no service that has steps. Did you mean 'db'? There are 'db', 'mail', 'web'.",
  ],
] as const)('%j is refused', (options, message) => {
  expect(() => planSampling(recording, options)).toThrow(message)
})

test('traces without spans are refused', () => {
  const graphs = makeGraphs(
    Array.from({ length: 40 }, () => ({ labels: ['a', 'b'], edges: [[0, 1]] })),
  )
  expect(() => planSampling(graphs)).toThrow('No step has 20 requests with spans')
})
