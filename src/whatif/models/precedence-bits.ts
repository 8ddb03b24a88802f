// Runs for the children of every call: the loops index with `!`.

/**
 * Which of n calls come before which, closed under transitivity: bit a of row b says that a is over
 * before b begins. A row has `wordsOf(n)` words.
 */
export type PrecedenceBits = Uint32Array

/** Words in a row of n bits. */
export function wordsOf(n: number): number {
  return (n + 31) >>> 5
}

/** Whether `a` comes before `b`. */
export function comesBefore(bits: PrecedenceBits, words: number, a: number, b: number): boolean {
  return ((bits[b * words + (a >>> 5)]! >>> (a & 31)) & 1) === 1
}

/**
 * The precedence of calls that are sorted by start, then end: one comes before a later one if it is
 * over by the latter's start, give or take `slackUs`. Only later ones in this order can follow, so
 * the slack makes no circles. O(n² + n³/32).
 */
export function observedPrecedence(
  startUs: ArrayLike<number>,
  endUs: ArrayLike<number>,
  slackUs: number,
): PrecedenceBits {
  const n = startUs.length
  const words = wordsOf(n)
  const bits = new Uint32Array(n * words)
  for (let b = 1; b < n; b++) {
    const beginsUs = startUs[b]! + slackUs
    // Latest first: what one of them waited for is known already and need not be looked at.
    for (let a = b - 1; a >= 0; a--) {
      if (endUs[a]! <= beginsUs && !comesBefore(bits, words, a, b)) addBefore(bits, words, a, b)
    }
  }
  return bits
}

/** Notes that `a`, and all that comes before it, comes before `b`. */
function addBefore(bits: PrecedenceBits, words: number, a: number, b: number): void {
  for (let w = 0; w < words; w++) bits[b * words + w]! |= bits[a * words + w]!
  bits[b * words + (a >>> 5)]! |= 1 << (a & 31)
}

/** The same precedence with calls renumbered: call i becomes `placeOf[i]`. */
export function renumbered(bits: PrecedenceBits, placeOf: ArrayLike<number>): PrecedenceBits {
  const n = placeOf.length
  const words = wordsOf(n)
  const moved = new Uint32Array(bits.length)
  for (let b = 0; b < n; b++) {
    const row = placeOf[b]! * words
    for (let a = 0; a < n; a++) {
      if (!comesBefore(bits, words, a, b)) continue
      const place = placeOf[a]!
      moved[row + (place >>> 5)]! |= 1 << (place & 31)
    }
  }
  return moved
}

/** Jaccard's distance of two sets of pairs: 0 for the same (two empty ones too), 1 for disjoint. */
export function precedenceDistance(one: PrecedenceBits, other: PrecedenceBits): number {
  let shared = 0
  let either = 0
  for (let w = 0; w < one.length; w++) {
    shared += ones(one[w]! & other[w]!)
    either += ones(one[w]! | other[w]!)
  }
  return either === 0 ? 0 : (either - shared) / either
}

/** Whether `bits` has every pair of `part`. */
export function holdsAll(bits: PrecedenceBits, part: PrecedenceBits): boolean {
  for (let w = 0; w < bits.length; w++) if ((part[w]! & ~bits[w]!) !== 0) return false
  return true
}

/**
 * Calls such that each comes after all that come before it; `null` where pairs run in circles. Needs
 * no closure.
 */
export function precedenceOrder(bits: PrecedenceBits, n: number): Uint32Array | null {
  const words = wordsOf(n)
  const order = new Uint32Array(n)
  const done = new Uint32Array(words)
  for (let placed = 0; placed < n; ) {
    const before = placed
    for (let b = 0; b < n; b++) {
      if ((done[b >>> 5]! >>> (b & 31)) & 1) continue
      let ready = true
      for (let w = 0; w < words && ready; w++) ready = (bits[b * words + w]! & ~done[w]!) === 0
      if (!ready) continue
      done[b >>> 5]! |= 1 << (b & 31)
      order[placed++] = b
    }
    if (placed === before) return null
  }
  return order
}

/** Closes pairs under transitivity, in place, given an order of them. */
export function closePrecedence(bits: PrecedenceBits, order: Uint32Array): void {
  const words = wordsOf(order.length)
  order.forEach((b, at) => {
    for (let i = at - 1; i >= 0; i--) {
      const a = order[i]!
      if (comesBefore(bits, words, a, b)) addBefore(bits, words, a, b)
    }
  })
}

/**
 * The direct predecessors of each call: those that no chain of others implies (the transitive
 * reduction), ascending.
 */
export function directPredecessors(bits: PrecedenceBits, order: Uint32Array): number[][] {
  const n = order.length
  const words = wordsOf(n)
  const implied = new Uint32Array(words)
  const direct: number[][] = Array.from({ length: n }, () => [])
  order.forEach((b, at) => {
    implied.fill(0)
    for (let i = at - 1; i >= 0; i--) {
      const a = order[i]!
      if (!comesBefore(bits, words, a, b) || (implied[a >>> 5]! >>> (a & 31)) & 1) continue
      direct[b]!.push(a)
      for (let w = 0; w < words; w++) implied[w]! |= bits[a * words + w]!
    }
    direct[b]!.sort((x, y) => x - y)
  })
  return direct
}

/** Calls that no other comes after, ascending. */
export function lastOnes(bits: PrecedenceBits, n: number): number[] {
  const words = wordsOf(n)
  const followed = new Uint32Array(words)
  for (let b = 0; b < n; b++) for (let w = 0; w < words; w++) followed[w]! |= bits[b * words + w]!
  const last: number[] = []
  for (let a = 0; a < n; a++) if (((followed[a >>> 5]! >>> (a & 31)) & 1) === 0) last.push(a)
  return last
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
