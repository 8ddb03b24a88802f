import { randomSource } from '../../../src/stats/index.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** How long calls take by themselves: log-normal with this sigma, or Pareto with this exponent. */
export type Noise = { readonly sigma: number } | { readonly pareto: number }

/** `front GET` calls `s1 S1` to `s7 S7`, one after the other; `s3` may be slow. */
export interface MinorityPeriod {
  readonly requests: number
  readonly seed: number
  readonly noise: Noise
  /** Share of the calls of `s3` that take so many times as long. */
  readonly share?: number
  readonly factor?: number
  /** Part of the period in which they are slow; default all of it. */
  readonly within?: readonly [from: number, to: number]
  /** Standard deviation of the level of load, and how much of it the next 20th of the period keeps. */
  readonly wander?: number
  readonly kept?: number
}

const SERVICES = 7

/** Traces of one period, and what slow calls took beyond what they would have, in µs. */
export function minorityPeriod(name: string, period: MinorityPeriod) {
  const { requests, seed, noise, share = 0, factor = 1, wander = 0, kept = 0 } = period
  const [from, to] = (period.within ?? [0, 1]).map((part) => part * requests) as [number, number]
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  let [level, plantedUs, slowCalls] = [0, 0, 0]
  for (let i = 0; i < requests; i++) {
    if (i % Math.ceil(requests / 20) === 0) {
      level = kept * level + Math.sqrt(1 - kept ** 2) * wander * random.normal()
    }
    const startUs = 10_000_000 * i
    let now = startUs + 1000
    const calls = Array.from({ length: SERVICES }, (_, n): SpanSketch[] => {
      const times =
        'sigma' in noise
          ? Math.exp(noise.sigma * random.normal() - noise.sigma ** 2 / 2)
          : (1 - random.next()) ** (-1 / noise.pareto)
      const usualUs = 10_000 * (0.5 + n / SERVICES) * times * Math.exp(level)
      const isSlow = n === 2 && random.next() < share && i >= from && i < to
      if (isSlow) {
        plantedUs += usualUs * (factor - 1)
        slowCalls++
      }
      const us = Math.max(10, Math.round(usualUs * (isSlow ? factor : 1)))
      const [id, calledUs] = [`${n + 1}`, now]
      now += us + 300
      return [
        {
          id: `c${id}`,
          parent: 'r',
          service: 'front',
          operation: `call S${id}`,
          startUs: calledUs,
        },
        {
          id: `s${id}`,
          parent: `c${id}`,
          service: `s${id}`,
          operation: `S${id}`,
          startUs: calledUs + 100,
        },
      ].map((span, side) => ({ ...span, endUs: calledUs + us + (side === 0 ? 200 : 100) }))
    })
    const root = { id: 'r', service: 'front', operation: 'GET', startUs, endUs: now + 500 }
    spans.push(...[root, ...calls.flat()].map((span) => ({ ...span, trace: `${name}-${i}` })))
  }
  const traces: SpanTraces = makeSpans(spans, name)
  return { traces, plantedUs, slowCalls }
}
