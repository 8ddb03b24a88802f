import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { call, requestSpans } from '../../worlds.ts'

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
  const client = { us: [wayUs / 2, wayUs / 2], kind: 'internal' } as const
  const ads = { beside: true, client: { us: [0, 0], kind: 'internal' } } as const
  const root = call('front GET', [10, 5], {}, [
    call('cart GetCart', cartUs, { client }),
    call('ads GetAds', adsUs, ads),
    call('front render', workUs, { gapUs: 5 }),
  ])
  return requestSpans(root, 'request', 0)
}

/** `count` values from `usual` on, in steps of 1, in an order that is not that of size. */
export function spread(usual: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => usual + ((i * 7) % count))
}
