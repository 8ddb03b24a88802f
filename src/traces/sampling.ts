// Runs once a span: the loops index with `!`.
import { growingFloat64 } from './growing-columns.ts'

/** Thresholds are fractions of 2⁵⁶, written with up to 14 hex digits and without trailing zeros. */
const THRESHOLD_DIGITS = 14
const WHOLE = 2n ** 56n
/** In the older form, 63 stands for a probability of zero. */
const ZERO_PROBABILITY = 63

/**
 * Returns the probability in W3C trace state `ot`: `th` is the share rejected, `p` an exponent of ½. Sources:
 * OpenTelemetry specification, "TraceState: Probability Sampling" (OTEP 235, and for `p` OTEP 170).
 */
export function traceStateProbability(traceState: unknown): number | undefined {
  if (typeof traceState !== 'string' || !traceState.includes('ot=')) return undefined
  const entry = /(?:^|,)\s*ot=([^,]*)/.exec(traceState)?.[1] ?? ''
  const threshold = /(?:^|;)th:([0-9a-f]{1,14})(?:;|\s*$)/.exec(entry)?.[1]
  if (threshold !== undefined) {
    return Number(WHOLE - BigInt(`0x${threshold.padEnd(THRESHOLD_DIGITS, '0')}`)) / Number(WHOLE)
  }
  const exponent = Number(/(?:^|;)p:(\d{1,2})(?:;|\s*$)/.exec(entry)?.[1] ?? ZERO_PROBABILITY)
  return exponent < ZERO_PROBABILITY ? 2 ** -exponent : undefined
}

/** Number of spans that one stands for, as Honeycomb and ClickStack record it. */
const SAMPLE_RATE = 'SampleRate'
/** Trace state of spans in formats that have no field for it. */
const TRACE_STATE = 'w3c.tracestate'

/** Returns the probability that an attribute says, which is then no parameter; undefined of any other. */
export function attributeProbability(key: string, value: unknown): number | undefined {
  if (key === TRACE_STATE) return traceStateProbability(value)
  if (key !== SAMPLE_RATE || typeof value === 'boolean') return undefined
  const rate = Number(value)
  return rate >= 1 && Number.isFinite(rate) ? 1 / rate : undefined
}

/** Returns the smaller probability: a sampler that does not know of the other records only its own. */
export function lesserProbability(
  one: number | undefined,
  other: number | undefined,
): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

/** Collects with which probability traces were recorded; the root's word counts, as it decided. */
export class SamplingWeights {
  readonly #ofRoot = growingFloat64()
  readonly #ofOthers = growingFloat64()
  #any = false

  note(trace: number, probability: number, isRoot: boolean): void {
    const column = isRoot ? this.#ofRoot : this.#ofOthers
    while (column.length <= trace) column.push(0)
    if (column.values[trace] === 0) column.values[trace] = probability
    this.#any = true
  }

  /** Returns the number of requests that each trace stands for, `NaN` if it does not say; undefined if none does. */
  finish(traces: Uint32Array): Float64Array | undefined {
    if (!this.#any) return undefined
    return Float64Array.from(traces, (trace) => {
      const probability = this.#ofRoot.values[trace] || this.#ofOthers.values[trace]
      return probability ? 1 / probability : Number.NaN
    })
  }
}
