import { randomSource } from '../../../src/stats/random.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { call, record } from '../../worlds.ts'

/*
 * A shop answers every 500 ms; it calls stock, and pay in some requests:
 *
 *   shop  GET     |-------------------|
 *   stock LOOKUP    |------|
 *   pay   CHARGE             |----|       where it is made
 */
export interface Shop {
  /** Seconds from which on stock is slower, until when, and by how much. */
  readonly slowFrom?: number
  readonly slowUntil?: number
  /** Slower only for the first 1.5 s of every so many. */
  readonly slowEvery?: number
  readonly slowUs?: number
  /** By how much more it is slower at the end. */
  readonly leakUs?: number
  /** Seconds from which on pay is called in every request, not in one of three. */
  readonly payFrom?: number
  /** How long a request with pay takes beyond stock. */
  readonly payUs?: number
  /** Seconds from which on stock is version 2.0, no longer 1.9. */
  readonly versionFrom?: number
  /** Hosts of stock, of which each request draws one, the later the more rarely. */
  readonly hosts?: number
  readonly seed: number
}

export const MINUTES = 4
const STEP_US = 500_000

export function shop(name: string, fromUs: number, given: Shop): SpanTraces {
  const {
    slowFrom = Infinity,
    slowUntil = Infinity,
    slowUs = 0,
    leakUs = 0,
    payFrom = Infinity,
    payUs = 2000,
    seed,
  } = given
  const { versionFrom, hosts = 0, slowEvery = 1 } = given
  const draw = randomSource(seed + 1000)
  const requests = (MINUTES * 60e6) / STEP_US
  return record({ seed, requests, everyUs: STEP_US, fromUs, name }, (r) => {
    const { seconds } = r
    const leak = (leakUs * (seconds - slowFrom)) / (MINUTES * 60 - slowFrom)
    const isSlow = seconds >= slowFrom && seconds < slowUntil && seconds % slowEvery < 1.5
    const stockUs = r.about(4000, 0.3) + (isSlow ? slowUs + leak : 0)
    const pays = r.is(seconds >= payFrom ? 1 : 1 / 3)
    const stock = call('stock LOOKUP', stockUs - 100, {
      ...(versionFrom !== undefined && { version: seconds >= versionFrom ? '2.0' : '1.9' }),
      ...(hosts > 0 && { host: `host-${Math.floor(hosts * draw.next() ** 3)}` }),
    })
    const pay = pays && call('pay CHARGE', payUs - 300, { gapUs: 200 })
    return call('shop GET', [100, pays ? 100 : 500], {}, [stock, pay])
  })
}
