import { call, record } from '../../worlds.ts'

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
  let [level, plantedUs, slowCalls] = [0, 0, 0]
  const traces = record({ seed, requests, everyUs: 1e7, name }, (r) => {
    if (r.index % Math.ceil(requests / 20) === 0) {
      level = kept * level + Math.sqrt(1 - kept ** 2) * wander * r.normal()
    }
    const calls = Array.from({ length: SERVICES }, (_, n) => {
      const times =
        'sigma' in noise
          ? Math.exp(noise.sigma * r.normal() - noise.sigma ** 2 / 2)
          : (1 - r.next()) ** (-1 / noise.pareto)
      const usualUs = 10_000 * (0.5 + n / SERVICES) * times * Math.exp(level)
      const isSlow = n === 2 && r.is(share) && r.index >= from && r.index < to
      if (isSlow) {
        plantedUs += usualUs * (factor - 1)
        slowCalls++
      }
      const of = `S${n + 1}`
      const client = { us: [100, 100], operation: `call ${of}`, kind: 'internal' } as const
      return call(`s${n + 1} ${of}`, usualUs * (isSlow ? factor : 1), { client, gapUs: 100 })
    })
    return call('front GET', [1000, 500], {}, calls)
  })
  return { traces, plantedUs, slowCalls }
}
