/** u − log(1 + u), without cancellation near 0. */
export function excessLessLog(u: number): number {
  if (Math.abs(u) > 0.1) return u - Math.log1p(u)
  let sum = 0
  let power = u
  for (let n = 2; n < 30; n++) {
    power *= -u
    sum -= power / n
  }
  return sum
}
