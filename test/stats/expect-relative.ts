import { expect } from 'vitest'

/** Fails unless `actual` is within `tolerance` of `expected`, as a share of it. */
export function expectRelative(actual: number, expected: number, tolerance: number): void {
  if (Object.is(actual, expected)) return
  const error = Math.abs(actual - expected) / Math.abs(expected)
  expect(error, `${actual} against ${expected}: relative error`).toBeLessThanOrEqual(tolerance)
}
