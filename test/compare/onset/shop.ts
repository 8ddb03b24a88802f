import { randomSource } from '../../../src/stats/random.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(seed)
  const draw = randomSource(seed + 1000)
  const spans: SpanSketch[] = []
  for (let i = 0; i < (MINUTES * 60e6) / STEP_US; i++) {
    const startUs = fromUs + i * STEP_US
    const seconds = (i * STEP_US) / 1e6
    const trace = `${name}-${i}`
    const leak = (leakUs * (seconds - slowFrom)) / (MINUTES * 60 - slowFrom)
    const stockUs =
      4000 * Math.exp(0.3 * random.normal()) +
      (seconds >= slowFrom && seconds < slowUntil && seconds % slowEvery < 1.5 ? slowUs + leak : 0)
    const pays = random.next() < (seconds >= payFrom ? 1 : 1 / 3)
    const endUs = startUs + stockUs + (pays ? payUs : 500)
    const span = (id: string, operation: string, rest: Partial<SpanSketch>) =>
      spans.push({ trace, id: `${trace}-${id}`, service: id, operation, startUs, endUs, ...rest })
    span('shop', 'GET', {})
    const parent = `${trace}-shop`
    span('stock', 'LOOKUP', {
      parent,
      startUs: startUs + 100,
      endUs: startUs + stockUs,
      ...(versionFrom !== undefined && { version: seconds >= versionFrom ? '2.0' : '1.9' }),
      ...(hosts > 0 && { host: `host-${Math.floor(hosts * draw.next() ** 3)}` }),
    })
    if (pays)
      span('pay', 'CHARGE', { parent, startUs: startUs + stockUs + 200, endUs: endUs - 100 })
  }
  return makeSpans(spans, name)
}
