// Called for every value of every resample: the generator indexes with `!`.
import { OptionError } from '../core/errors.ts'

/** A repeatable stream of random numbers. */
export interface RandomSource {
  /** Uniform in [0, 1), with 53 random bits. */
  next(): number
  /** Uniform among 0, 1, …, n − 1, for n from 1 to 2^32. */
  integer(n: number): number
  /** Standard normal: mean 0, standard deviation 1. */
  normal(): number
  /** e to the power of a normal with mean `mu` and standard deviation `sigma`. */
  logNormal(mu: number, sigma: number): number
  /** A shuffled copy; every order is equally likely. */
  shuffle<T>(array: readonly T[]): T[]
}

/**
 * Returns a source of random numbers that gives the same stream for the same seed, on every platform.
 *
 * `seed` is an integer; its lowest 32 bits count. All but `logNormal` use only operations that IEEE
 * 754 rounds in one way; `logNormal` calls `Math.exp`, whose last bit engines may choose. Not for
 * cryptography.
 *
 * Sources: the generator is sfc32, Doty-Humphrey, PractRand 0.93; its state is filled by
 * splitmix32, the 32-bit form of Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
 * generators", OOPSLA, with the mixing constants of Wellons's hash-prospector. Normals: Leva 1992,
 * "A fast normal random number generator", ACM Transactions on Mathematical Software 18(4):449-453.
 * Shuffle: Fisher and Yates, in Durstenfeld's form.
 *
 * @throws OptionError for a seed that is not an integer, and from `integer` for an n that is not
 *   an integer from 1 to 2^32.
 *
 * @example
 * randomSource(1).shuffle(['a', 'b', 'c', 'd']) // [ 'b', 'a', 'd', 'c' ]
 */
export function randomSource(seed: number): RandomSource {
  if (!Number.isSafeInteger(seed)) throw new OptionError('seed', seed, 'an integer')
  const next32 = sfc32(seed)

  function next(): number {
    const high = next32() >>> 5
    const low = next32() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  function integer(n: number): number {
    if (Number.isInteger(n) && n >= 1 && n <= 2 ** 32) return Math.floor(next() * n)
    throw new OptionError('n', n, 'an integer from 1 to 4294967296')
  }

  function normal(): number {
    for (;;) {
      const u = 1 - next()
      const v = 1.7156 * (next() - 0.5)
      if (acceptsNormal(u, v)) return v / u
    }
  }

  function logNormal(mu: number, sigma: number): number {
    return Math.exp(mu + sigma * normal())
  }

  function shuffle<T>(array: readonly T[]): T[] {
    const shuffled = [...array]
    for (let last = shuffled.length - 1; last > 0; last--) {
      const chosen = integer(last + 1)
      const [kept, moved] = [shuffled[last] as T, shuffled[chosen] as T]
      shuffled[chosen] = kept
      shuffled[last] = moved
    }
    return shuffled
  }

  return { next, integer, normal, logNormal, shuffle }
}

/** Accepts a ratio of uniforms by Leva's method: quadratic bounds spare 99 % of the cases a logarithm. */
function acceptsNormal(u: number, v: number): boolean {
  const x = u - 0.449871
  const y = Math.abs(v) + 0.386595
  const q = x * x + y * (0.196 * y - 0.25472 * x)
  if (q < 0.27597) return true
  return q <= 0.27846 && v * v <= -4 * Math.log(u) * u * u
}

function sfc32(seed: number): () => number {
  const fill = splitmix32(seed)
  // In an array of integers: variables of a closure may be boxed at each step, twice as slow.
  const state = Int32Array.of(fill(), fill(), fill(), 1)
  function next32(): number {
    const a = state[0]!
    const b = state[1]!
    const c = state[2]!
    const counter = state[3]!
    const sum = (a + b + counter) | 0
    state[0] = b ^ (b >>> 9)
    state[1] = (c + (c << 3)) | 0
    state[2] = (((c << 21) | (c >>> 11)) + sum) | 0
    state[3] = counter + 1
    return sum
  }
  // As its author does: let the first, still similar, states of close seeds drift apart.
  for (let i = 0; i < 12; i++) next32()
  return next32
}

function splitmix32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return mixed ^ (mixed >>> 15)
  }
}
