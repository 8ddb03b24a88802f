import { counted, grouped } from '../../core/words.ts'
import { isoTime } from '../epoch-clock.ts'
import { MISSING_TRACES } from '../quality.ts'
import type { ReadSink } from '../readers/trace-reader.ts'

/** A stretch of time, µs since 1970. */
export interface Slice {
  readonly fromUs: number
  readonly toUs: number
}

/** An answer with fewer traces is no limit that a server has of its own. */
const MIN_OWN_LIMIT = 10

/** Takes the traces of a stretch and returns their ids. */
type Ask = (slice: Slice) => Promise<ReadonlySet<string>>

interface Asked {
  readonly slice: Slice
  readonly ids?: ReadonlySet<string>
}

/**
 * Asks for stretches of time until no answer is cut: one that has as many traces as a server gives at most is asked for
 * again in halves. Of the fullest answer the halves are asked for in any case: if they have more traces than the whole,
 * the server has a lower limit than the requested one, which then counts.
 */
export class SlicedReading {
  readonly #leastUs: number
  #limit: number
  /** Stretches that still had as many traces as the limit. */
  readonly #cut: Slice[] = []

  /** @param leastUs length of the shortest stretch that can be asked for */
  constructor({ limit, leastUs }: { readonly limit: number; readonly leastUs: number }) {
    this.#limit = limit
    this.#leastUs = leastUs
  }

  /** Asks for all of a stretch of time by `ask`, which returns the ids of the traces that it took. */
  async read(
    slices: readonly Slice[],
    ask: Ask,
    onShare: (share: number) => void = () => {},
  ): Promise<void> {
    const lengthUs = (parts: readonly Slice[]) =>
      parts.reduce((sum, { fromUs, toUs }) => sum + toUs - fromUs, 0)
    const allUs = lengthUs(slices)
    const pending: Asked[] = slices.map((slice) => ({ slice })).reverse()
    let whole: { readonly slice: Slice; readonly ids: ReadonlySet<string>; isSure: boolean }[] = []
    for (;;) {
      for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
        const { slice, ids = await ask(slice) } = one
        if (ids.size < this.#limit) whole.push({ slice, ids, isSure: false })
        else pending.push(...(await this.#divided(slice, ids, ask)))
        onShare(1 - lengthUs(pending.map(({ slice }) => slice)) / allUs)
      }
      const fullest = whole.reduce<(typeof whole)[number] | undefined>(
        (most, each) => (each.ids.size > (most?.ids.size ?? 0) ? each : most),
        undefined,
      )
      if (fullest === undefined || fullest.isSure || fullest.ids.size < MIN_OWN_LIMIT) return
      const halves = this.#halves(fullest.slice)
      const parts = []
      for (const half of halves) parts.push(await ask(half))
      fullest.isSure = true
      if (parts.every((ids) => [...ids].every((id) => fullest.ids.has(id)))) continue
      this.#limit = fullest.ids.size
      const again = whole.filter(({ ids }) => ids.size >= this.#limit)
      whole = whole.filter((each) => !again.includes(each))
      for (const { slice, ids } of again) pending.push(...(await this.#divided(slice, ids, ask)))
    }
  }

  /** Says what could not be read. */
  report({ quality }: ReadSink, file: string): void {
    const [first] = this.#cut
    if (first === undefined) return
    const [from, to] = [isoTime(first.fromUs, 0), isoTime(first.toUs, 0)]
    const message =
      `traces are missing: the server gives at most ${grouped(this.#limit)} an answer, and ` +
      `${counted(this.#cut.length, 'stretch', 'stretches')} of time had as many that cannot be divided further, ` +
      `the first ${from}..${to}; raise the parameter limit`
    quality.note(MISSING_TRACES, { file }, message)
  }

  /** Returns the halves of a stretch; none if it is too short, or both contain all of it. */
  async #divided(slice: Slice, ids: ReadonlySet<string>, ask: Ask): Promise<Required<Asked>[]> {
    const halves: Required<Asked>[] = []
    for (const half of this.#halves(slice)) halves.push({ slice: half, ids: await ask(half) })
    if (halves.some((half) => half.ids.size < ids.size || [...half.ids].some((id) => !ids.has(id))))
      return halves
    this.#cut.push(slice)
    return []
  }

  #halves({ fromUs, toUs }: Slice): Slice[] {
    const steps = Math.round((toUs - fromUs) / this.#leastUs)
    if (steps < 2) return []
    const middleUs = fromUs + Math.ceil(steps / 2) * this.#leastUs
    // The later first, as the last is taken next.
    return [
      { fromUs: middleUs, toUs },
      { fromUs, toUs: middleUs },
    ]
  }
}
