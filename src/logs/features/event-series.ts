// Runs once a message, of which there may be hundreds of millions: the loops index with `!`.

/** How many messages of one name in one instance are kept; of more, every second, fourth, … one. */
export const MOST_KEPT = 65_536

const FIRST_CAPACITY = 4

/**
 * When one event happened in one open instance. The number, the first and the last time are exact;
 * times are kept for the median, all of them up to 65,536. Beyond that every second is dropped and,
 * of those to come, only every second is kept, and so on.
 */
export class EventSeries {
  times = new Float64Array(FIRST_CAPACITY)
  /** How many of `times` are in use. */
  kept = 0
  /** Every so many-th message is kept: a power of two. */
  stride = 1
  count = 0
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY
  /** Whether times came in ascending order. */
  ascending = true

  /** Takes a message, and gives its place among those kept, or −1. */
  add(timeUs: number): number {
    if (timeUs < this.last) this.ascending = false
    else this.last = timeUs
    if (timeUs < this.first) this.first = timeUs
    const order = this.count++
    if ((order & (this.stride - 1)) !== 0) return -1
    if (this.kept === this.times.length) this.#makeRoom()
    const place = this.kept++
    this.times[place] = timeUs
    return place
  }

  #makeRoom(): void {
    if (this.kept < MOST_KEPT) {
      this.times = grown(this.times)
      return
    }
    keepEverySecond(this.times)
    this.kept = MOST_KEPT / 2
    this.stride *= 2
  }
}

/** What one state variable was in one open instance, and when. */
export class StateSeries {
  readonly moments = new EventSeries()
  /** The value of each message kept, beside `moments.times`. */
  values = new Float64Array(FIRST_CAPACITY)
  minimum = Number.POSITIVE_INFINITY
  maximum = Number.NEGATIVE_INFINITY
  /** The value of the latest message; of several at one time, the one that came last. */
  final = Number.NaN
  #origin = Number.NaN
  #sum = 0

  add(timeUs: number, value: number): void {
    const { moments } = this
    if (moments.count === 0) this.#origin = value
    if (timeUs >= moments.last) this.final = value
    if (value < this.minimum) this.minimum = value
    if (value > this.maximum) this.maximum = value
    this.#sum += value - this.#origin
    const { stride } = moments
    const place = moments.add(timeUs)
    if (moments.stride !== stride) keepEverySecond(this.values)
    if (place < 0) return
    if (place >= this.values.length) this.values = grown(this.values)
    this.values[place] = value
  }

  /** Of all messages. Exactly the value of a variable that never changes, whatever its count. */
  get mean(): number {
    return this.#origin + this.#sum / this.moments.count
  }
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2)
  larger.set(values)
  return larger
}

function keepEverySecond(values: Float64Array): void {
  for (let i = 0; 2 * i < values.length; i++) values[i] = values[2 * i]!
}
