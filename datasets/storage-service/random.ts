/** A seeded source of uniform numbers (mulberry32), so that a workload can be repeated. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** A whole number, uniform in [0, below). */
  below(below: number): number
  /** One of `items`, each as likely as the other. */
  pick<T>(items: readonly T[]): T
}

/**
 * A random source whose numbers depend on nothing but `seed`.
 *
 * @example
 * seededRandom('1/worker-0').below(10)
 */
export function seededRandom(seed: string): Random {
  let state = hash(seed)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    next,
    below,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new RangeError('Nothing to pick from: give at least one item.')
      return item
    },
  }
}

/** FNV-1a, finished with an avalanche so that seeds that differ in one digit part at once. */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (const character of text) {
    h = Math.imul(h ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
