// Runs once for some calls: the loops index with `!`.
export interface Bounds {
  readonly lowUs: number
  readonly lowAtUs: number
  readonly highUs: number
  readonly highAtUs: number
}

/** Clocks of quartz gain or lose less: 100 ppm. */
const MAX_DRIFT = 100e-6
/** Offsets beyond, 115 days, are not bounds. */
const UNBOUNDED_US = 1e13

/** Lines a + b·t within all bounds so far, as a convex polygon in the plane of a and b. */
export class LinesBetween {
  readonly #sinceUs: number
  #a: readonly number[]
  #b: readonly number[]
  /** The line that stands for all: level if there is one, in the middle of those. */
  #level = 0
  slope = 0

  constructor(sinceUs: number) {
    this.#sinceUs = sinceUs
    this.#a = [-UNBOUNDED_US, UNBOUNDED_US, UNBOUNDED_US, -UNBOUNDED_US]
    this.#b = [-MAX_DRIFT, -MAX_DRIFT, MAX_DRIFT, MAX_DRIFT]
  }

  /** Keeps the lines within the bounds of some calls; false, and all stay, if none is. */
  narrow(bounds: Bounds): boolean {
    const [a, b] = [this.#a, this.#b]
    if (bounds.highUs < Infinity) this.#clip(bounds.highAtUs, bounds.highUs, 1)
    if (bounds.lowUs > -Infinity) this.#clip(bounds.lowAtUs, bounds.lowUs, -1)
    if (this.#a.length > 0) return true
    this.#a = a
    this.#b = b
    return false
  }

  /** Keeps a + b·t ≤ bound with sign 1, ≥ with −1 (Sutherland and Hodgman's algorithm). */
  #clip(timeUs: number, bound: number, sign: 1 | -1): void {
    const since = timeUs - this.#sinceUs
    const beyond = this.#a.map((a, i) => sign * (a + this.#b[i]! * since - bound))
    if (beyond.every((by) => by <= 0)) return
    const [a, b]: [number[], number[]] = [[], []]
    beyond.forEach((by, i) => {
      const next = (i + 1) % beyond.length
      const nextBy = beyond[next]!
      if (by <= 0) {
        a.push(this.#a[i]!)
        b.push(this.#b[i]!)
      }
      if (by <= 0 === nextBy <= 0) return
      const share = by / (by - nextBy)
      a.push(this.#a[i]! + share * (this.#a[next]! - this.#a[i]!))
      b.push(this.#b[i]! + share * (this.#b[next]! - this.#b[i]!))
    })
    this.#a = a
    this.#b = b
  }

  settle(): this {
    const level = this.#levels()
    const mean = (values: readonly number[]) => values.reduce((x, y) => x + y, 0) / values.length
    this.slope = level.length > 0 ? 0 : mean(this.#b)
    const low = Math.min(...(level.length > 0 ? level : this.#a))
    const high = Math.max(...(level.length > 0 ? level : this.#a))
    // Bounded on one side only, the offset that moves times least.
    if (high > UNBOUNDED_US / 2) this.#level = low < -UNBOUNDED_US / 2 ? 0 : low
    else if (low < -UNBOUNDED_US / 2) this.#level = high
    else this.#level = level.length > 0 ? (low + high) / 2 : mean(this.#a)
    return this
  }

  /** Where the polygon crosses b = 0. */
  #levels(): number[] {
    return this.#b.flatMap((b, i) => {
      const next = (i + 1) % this.#b.length
      const nextB = this.#b[next]!
      if (b === 0) return [this.#a[i]!]
      if (b > 0 === nextB > 0 || nextB === 0) return []
      return [this.#a[i]! + (b / (b - nextB)) * (this.#a[next]! - this.#a[i]!)]
    })
  }

  /** Whether clocks may agree all the time. */
  get mayBeZero(): boolean {
    const level = this.#levels()
    return level.some((a) => a <= 0) && level.some((a) => a >= 0)
  }

  at(timeUs: number): number {
    return this.#level + this.slope * (timeUs - this.#sinceUs)
  }

  range(timeUs: number): { low: number; high: number } {
    const values = this.#a.map((a, i) => a + this.#b[i]! * (timeUs - this.#sinceUs))
    const [low, high] = [Math.min(...values), Math.max(...values)]
    return {
      low: low < -UNBOUNDED_US / 2 ? Number.NEGATIVE_INFINITY : low,
      high: high > UNBOUNDED_US / 2 ? Number.POSITIVE_INFINITY : high,
    }
  }
}
