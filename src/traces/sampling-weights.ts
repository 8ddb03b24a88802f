import { growingFloat64 } from './growing-columns.ts'

/**
 * Collects with which probability each trace was recorded. Every span may say it; the root's word
 * is the one that counts, as its sampler decided over the whole trace.
 */
export class SamplingWeights {
  /** By trace; 0 where nothing was said. */
  readonly #ofRoot = growingFloat64()
  readonly #ofOthers = growingFloat64()
  #any = false

  note(trace: number, probability: number, isRoot: boolean): void {
    const column = isRoot ? this.#ofRoot : this.#ofOthers
    while (column.length <= trace) column.push(0)
    if (column.values[trace] === 0) column.values[trace] = probability
    this.#any = true
  }

  /**
   * How many requests each of `traces` stands for, 1 / probability; `NaN` for a trace that does not
   * say. Undefined where none does.
   */
  finish(traces: Uint32Array): Float64Array | undefined {
    if (!this.#any) return undefined
    return Float64Array.from(traces, (trace) => {
      const probability = this.#ofRoot.values[trace] || this.#ofOthers.values[trace]
      return probability ? 1 / probability : Number.NaN
    })
  }
}
