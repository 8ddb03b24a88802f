import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** Traces of as many requests as `times` has entries, each drawn by `draw` and a second apart. */
export function requests<Times>(
  times: readonly Times[],
  draw: (times: Times) => readonly SpanSketch[],
): SpanTraces {
  return makeSpans(
    times.flatMap((each, i) =>
      draw(each).map((span) => ({
        ...span,
        trace: `request-${String(i).padStart(4, '0')}`,
        startUs: span.startUs + i * 1e6,
        endUs: span.endUs + i * 1e6,
      })),
    ),
  )
}

/** A root of `front` that calls `cart` and, at the same time, `ads`. */
export interface Shop {
  readonly cartUs: number
  readonly adsUs: number
  /** On the way to `cart` and back together. */
  readonly wayUs?: number
  /** Work of `front` after both have answered. */
  readonly workUs?: number
}

/**
 * ```
 * front GET  |----------------------------------|
 * GetCart      |==============|                    (caller's span)
 * cart           |==========|
 * GetAds       |====================|
 * ads          |====================|
 * render                             |========|
 * ```
 */
export function shop({ cartUs, adsUs, wayUs = 20, workUs = 50 }: Shop): SpanSketch[] {
  const answeredUs = 10 + Math.max(cartUs + wayUs, adsUs)
  const doneUs = answeredUs + 5 + workUs
  const front = { service: 'front', parent: 'root' }
  return [
    { id: 'root', service: 'front', operation: 'GET', startUs: 0, endUs: doneUs + 5 },
    { ...front, id: 'c', operation: 'GetCart', startUs: 10, endUs: 10 + cartUs + wayUs },
    {
      id: 'cart',
      parent: 'c',
      service: 'cart',
      operation: 'GetCart',
      startUs: 10 + wayUs / 2,
      endUs: 10 + wayUs / 2 + cartUs,
    },
    { ...front, id: 'a', operation: 'GetAds', startUs: 10, endUs: 10 + adsUs },
    {
      id: 'ads',
      parent: 'a',
      service: 'ads',
      operation: 'GetAds',
      startUs: 10,
      endUs: 10 + adsUs,
    },
    { ...front, id: 'r', operation: 'render', startUs: answeredUs + 5, endUs: doneUs },
  ]
}

/** `count` values from `usual` on, in steps of 1, in an order that is not that of size. */
export function spread(usual: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => usual + ((i * 7) % count))
}
