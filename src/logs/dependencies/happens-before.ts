/** Two instances that agree may be chance, but one is no order at all. */
const FEWEST_INSTANCES = 2

/**
 * Whether one thing happens before another wherever both happen: −1 if the first does, 1 if the
 * second does, 0 where neither always does or fewer than two instances have both.
 *
 * @param first when it happened, a number an instance; NaN where it did not
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.3.
 *
 * @example
 * happensBefore([1, 2, NaN], [3, 4, 0]) // -1
 */
export function happensBefore(first: ArrayLike<number>, second: ArrayLike<number>): -1 | 0 | 1 {
  let earlier = 0
  let later = 0
  for (let i = 0; i < first.length; i++) {
    const difference = Number(first[i]) - Number(second[i])
    if (difference < 0) earlier++
    else if (difference > 0) later++
    else if (difference === 0) return 0
  }
  if (earlier >= FEWEST_INSTANCES && later === 0) return -1
  return later >= FEWEST_INSTANCES && earlier === 0 ? 1 : 0
}
