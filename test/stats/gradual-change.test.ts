import { expect, test } from 'vitest'
import { gradualChange } from '../../src/stats/change-point.ts'

const times = Array.from({ length: 40 }, (_, i) => i)
const noise = [0.1, -0.2, 0.2, -0.1]
const found = (levelAt: (time: number) => number) =>
  gradualChange(
    times,
    times.map((time) => levelAt(time) + (noise[time % 4] as number)),
  )

test('growth from 20 on begins there, within its interval, and is no step', () => {
  const grown = found((time) => Math.max(0, time - 20))
  expect(grown?.low).toBeLessThan(20)
  expect(grown?.high).toBeGreaterThan(20)
  expect(grown?.p).toBeLessThan(1e-6)
})

test('a step is no growth', () => {
  expect(found((time) => (time < 20 ? 0 : 5))?.p).toBeGreaterThan(0.05)
})

test.each([0.7, 4])('nor is a step that comes while a value of %d is measured', (within) => {
  const grown = found((time) => (time === 20 ? within : time < 20 ? 0 : 5))
  expect(grown?.p).toBeGreaterThan(0.05)
  expect(found((time) => Math.min(5, Math.max(0, time - 20)))?.p).toBeLessThan(0.001)
})

test('how long growth may take: long for a ramp, hardly any time for a step', () => {
  expect(found((time) => Math.max(0, time - 20))?.longest).toBeGreaterThanOrEqual(18)
  expect(found((time) => (time < 20 ? 0 : 5))?.longest).toBeLessThanOrEqual(2)
})

test('returns null where all values are equal', () => {
  expect(gradualChange(times, new Float64Array(40).fill(3))).toBeNull()
})
