import { type Fields, type JsonObject, textOf } from './json-values.ts'

/** Thresholds are fractions of 2⁵⁶, written with up to 14 hex digits and without trailing zeros. */
const THRESHOLD_DIGITS = 14
const WHOLE = 2n ** 56n
/** In the older form, 63 stands for a probability of zero. */
const ZERO_PROBABILITY = 63

/**
 * With which probability a span was sampled, by the `ot` entry of its W3C trace state: `th` is the
 * share of traces that were rejected; its forerunner `p` is the exponent of a power of ½. Undefined
 * where neither is there.
 *
 * Sources: OpenTelemetry specification, "TraceState: Probability Sampling" (OTEP 235, and for `p`
 * OTEP 170).
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

/**
 * With which probability a span was sampled, by the tags of Jaeger's clients. Only the constant and
 * the probabilistic sampler have one; how many requests a rate limiter passed over is not known.
 */
export function samplerProbability(tags: readonly JsonObject[]): number | undefined {
  const value = (key: string) =>
    tags.find((tag) => (tag as Fields<'key'>).key === key) as Fields<'value'> | undefined
  const kind = value('sampler.type')?.value
  if (kind === 'const') return 1
  if (kind !== 'probabilistic') return undefined
  const probability = Number(textOf(value('sampler.param')?.value) || Number.NaN)
  return probability > 0 && probability <= 1 ? probability : undefined
}
