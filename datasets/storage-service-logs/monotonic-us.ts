/**
 * Microseconds by the monotonic clock, which the threads and processes of a machine share; whole,
 * and far below the 2^53 up to which a number is exact.
 */
export function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
