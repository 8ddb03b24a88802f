import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import type { AttributeValue } from '../../../src/traces/attributes.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

type Recorded = Readonly<Record<string, AttributeValue>>

/** What one request is like: parameters at its ends, and how long the store takes. */
export interface RequestSketch {
  readonly web?: Recorded
  readonly store?: Recorded
  readonly host?: string
  readonly storeUs?: number
  /** Whether the store asks its disk: another structure. */
  readonly disk?: boolean
}

/** Requests of `web READ`, which asks `store get`. */
export function requests(count: number, sketch: (i: number) => RequestSketch): SpanSketch[] {
  return Array.from({ length: count }, (_, i) => {
    const { web = {}, store = {}, host = '', storeUs = 100 + (i % 7), disk = false } = sketch(i)
    const [trace, at] = [`t${i}`, 1_000 * i]
    const inner: SpanSketch[] = disk
      ? [{ trace, id: `d${i}`, parent: `s${i}`, service: 'disk', startUs: at + 20, endUs: at + 30 }]
      : []
    return [
      {
        trace,
        id: `w${i}`,
        service: 'web',
        operation: 'READ',
        attributes: web,
        startUs: at,
        endUs: at + storeUs + 20,
      },
      {
        trace,
        id: `s${i}`,
        parent: `w${i}`,
        service: 'store',
        operation: 'get',
        host,
        startUs: at + 10,
        endUs: at + 10 + storeUs,
        attributes: store,
      },
      ...inner,
    ]
  }).flat()
}

/** Compares requests before with requests after; hosts do not make structures. */
export function compareRequests(before: SpanSketch[], after: SpanSketch[]): Comparison {
  return compare(makeSpans(before, 'before'), makeSpans(after, 'after'), { omitHosts: true })
}
