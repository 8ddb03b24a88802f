import { sum } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { benjaminiHochberg } from '../stats/benjamini-hochberg.ts'
import { twoProportionsTest } from '../stats/two-proportions.ts'
import type { Period } from './flow-set.ts'

/** One child precedes another when it did in this share of the calls that have both. */
const NEARLY_ALWAYS = 0.99
/** A parent waits for a child when it did in this share of the calls; fewer is clock skew. */
const USUALLY = 0.5
/** Periods get rules of their own only on at least this many calls in each … */
const ENOUGH_CALLS = 30
/** … and when their shares differ by at least this much, significantly. */
const CLEAR_DIFFERENCE = 0.05
const ALPHA = 0.05
/** More children than any one set of traces has. */
const CHILDREN = 2 ** 26

export class Tally {
  readonly calls: [number, number] = [0, 0]
  readonly held: [number, number] = [0, 0]
  /** The periods disagree: each has a rule of its own. */
  differs = false

  note(period: Period, held: boolean): void {
    this.calls[period]++
    if (held) this.held[period]++
  }

  share(period: Period): number {
    if (this.differs) return this.held[period] / this.calls[period]
    return (this.held[0] + this.held[1]) / (this.calls[0] + this.calls[1])
  }
}

interface Differences {
  readonly pairs: number
  readonly waits: number
}

/**
 * How often, under one parent operation, a child was over before another began, and before the
 * reply. A second call of an operation is another child than its first.
 */
export class LearnedOrder {
  readonly #pairs = new Map<number, Tally>()
  readonly #replies = new Map<number, Tally>()

  get pairs(): number {
    return this.#pairs.size
  }

  /** The tally of calls that have both, of which it counts where `first` was over before `second`. */
  pair(first: number, second: number): Tally {
    return tallyOf(this.#pairs, first * CHILDREN + second)
  }

  reply(child: number): Tally {
    return tallyOf(this.#replies, child)
  }

  precedes(period: Period, first: number, second: number): boolean {
    const tally = this.#pairs.get(first * CHILDREN + second)
    return tally !== undefined && tally.share(period) >= NEARLY_ALWAYS
  }

  waitsFor(period: Period, child: number): boolean {
    const tally = this.#replies.get(child)
    return tally === undefined || tally.share(period) >= USUALLY
  }

  tallies(): Tally[] {
    return [...this.#pairs.values(), ...this.#replies.values()]
  }

  differences(): Differences {
    const pairs = [...this.#pairs.keys()].filter((key) => {
      const [first, second] = [Math.floor(key / CHILDREN), key % CHILDREN]
      return (
        first < second && (this.#orderDiffers(first, second) || this.#orderDiffers(second, first))
      )
    })
    const waits = [...this.#replies.keys()].filter(
      (child) => this.waitsFor(0, child) !== this.waitsFor(1, child),
    )
    return { pairs: pairs.length, waits: waits.length }
  }

  #orderDiffers(first: number, second: number): boolean {
    return this.precedes(0, first, second) !== this.precedes(1, first, second)
  }
}

/**
 * Lets each period keep its own rules where they disagree: a test of two proportions over rules
 * with at least 30 calls of each period (Benjamini-Hochberg, 5 %), by at least five points. Gives
 * how many rules then differ.
 */
export function separatePeriods(orders: Iterable<LearnedOrder>): Differences {
  const learned = [...orders]
  const candidates = learned
    .flatMap((order) => order.tallies())
    .filter(({ calls }) => Math.min(...calls) >= ENOUGH_CALLS)
  const p = candidates.map(
    ({ held, calls }) => twoProportionsTest(held[0], calls[0], held[1], calls[1]).p,
  )
  const q = benjaminiHochberg(p)
  candidates.forEach((tally, i) => {
    const { held, calls } = tally
    const difference = Math.abs(held[0] / calls[0] - held[1] / calls[1])
    tally.differs = q[i]! < ALPHA && difference >= CLEAR_DIFFERENCE
  })
  const differences = learned.map((order) => order.differences())
  return {
    pairs: sum(differences, ({ pairs }) => pairs),
    waits: sum(differences, ({ waits }) => waits),
  }
}

function tallyOf(tallies: Map<number, Tally>, key: number): Tally {
  return getOrInsert(tallies, key, () => new Tally())
}
