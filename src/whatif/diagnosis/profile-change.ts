// Some hundred rounds over all requests: the loops index with `!`.
import { randomSource } from '../../stats/random.ts'
import { type DivergenceName, type DivergenceRange, divergenceTo } from './target-divergence.ts'

/** Rounds of which p is a share: it is 0.002 at least. */
const ROUNDS = 499

/** One side of a comparison: a latency and a weight a request. */
export interface WeighedLatencies {
  readonly latencyUs: Float64Array
  readonly weight: Float64Array
}

/** What two sides are compared by. */
export interface ChangeTest {
  readonly name: DivergenceName
  readonly range: DivergenceRange
  readonly seed: number
}

/**
 * Is the target's profile another than the base's at all? A permutation test: p is the share of
 * random divisions of all requests, into two periods as large as these, that are at least as far
 * apart. Whatever brings one profile closer to the other explains nothing where this is chance.
 */
export function periodChangeP(
  base: WeighedLatencies,
  target: WeighedLatencies,
  { name, range, seed }: ChangeTest,
): number {
  const requests = base.latencyUs.length + target.latencyUs.length
  const join = (first: Float64Array, second: Float64Array) => {
    const both = new Float64Array(requests)
    both.set(first)
    both.set(second, first.length)
    return both
  }
  const latencyUs = join(base.latencyUs, target.latencyUs)
  const weight = join(base.weight, target.weight)
  const divergence = divergenceTo(latencyUs, name, range)(latencyUs)
  const rows = Uint32Array.from(latencyUs, (_, i) => i)
  const own = new Float64Array(requests)
  const theirs = new Float64Array(requests)
  const measure = () => {
    own.fill(0)
    theirs.set(weight)
    for (let i = 0; i < base.latencyUs.length; i++) {
      own[rows[i]!] = weight[rows[i]!]!
      theirs[rows[i]!] = 0
    }
    return divergence(own, theirs)
  }
  const random = randomSource(seed)
  const observed = measure()
  return shareAtLeast(observed, () => {
    for (let i = 0; i < base.latencyUs.length; i++) {
      const chosen = i + random.integer(requests - i)
      const kept = rows[i]!
      rows[i] = rows[chosen]!
      rows[chosen] = kept
    }
    return measure()
  })
}

/**
 * Is the base's profile another than one that is known exactly, as a histogram or a wish? p is the
 * share of samples drawn from it, as large as the base, that are at least as far from it.
 */
export function knownChangeP(
  base: WeighedLatencies,
  target: WeighedLatencies,
  { name, range, seed }: ChangeTest,
): number {
  const divergence = divergenceTo(target.latencyUs, name, range)
  const observed = divergence(base.latencyUs)(base.weight, target.weight)
  const ofSample = divergence(target.latencyUs)
  const upTo = target.weight.slice()
  for (let i = 1; i < upTo.length; i++) upTo[i]! += upTo[i - 1]!
  const total = upTo[upTo.length - 1] ?? 0
  const random = randomSource(seed)
  const counts = new Float64Array(upTo.length)
  return shareAtLeast(observed, () => {
    counts.fill(0)
    for (let i = 0; i < base.latencyUs.length; i++)
      counts[firstAbove(upTo, random.next() * total)]!++
    return ofSample(counts, target.weight)
  })
}

function shareAtLeast(observed: number, draw: () => number): number {
  let found = 0
  for (let round = 0; round < ROUNDS; round++) if (draw() >= observed) found++
  return (found + 1) / (ROUNDS + 1)
}

/** Row of the first value above `bound`, of ascending ones; the last row at most. */
function firstAbove(values: Float64Array, bound: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle]! > bound) high = middle
    else low = middle + 1
  }
  return low
}
