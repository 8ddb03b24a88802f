import type { TraceSet } from '../../traces/trace-set.ts'
import { affectedText, isConsiderable } from './affected-traces.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Shorter ids number the traces of a file; they do not tell a trace from all others. */
const LEAST_ID_LENGTH = 8

/** Whether the same trace is there twice: in both periods, or repeated within one. */
export function duplicateTraces(periods: ComparedPeriods): ComparisonWarning[] {
  return [...inBoth(periods), ...withinOne(periods)]
}

function inBoth({ before, after }: ComparedPeriods): ComparisonWarning[] {
  const ids = new Set(before.ids.filter(isIdentity))
  const shared = new Set(after.ids.filter((id) => ids.has(id))).size
  const affected = {
    ...{ before: shared, after: shared },
    ...{ ofBefore: before.size, ofAfter: after.size },
  }
  if (!isConsiderable(affected)) return []
  return [
    warning('duplicate-traces', {
      finding: `${affectedText(affected)} are the same: their ids are in both periods.`,
      effect:
        'A request that counts in both periods makes them more alike than they are; one whose spans are divided between them counts twice, as two others.',
      answer: 'Load files that do not overlap, or cut the flows by arrival with `selectRequests`.',
    }),
  ]
}

function withinOne({ before, after }: ComparedPeriods): ComparisonWarning[] {
  const affected = {
    before: repeated(before),
    after: repeated(after),
    ofBefore: before.size,
    ofAfter: after.size,
  }
  if (!isConsiderable(affected)) return []
  const isSpans = before.kind === 'spans'
  return [
    warning('duplicate-traces', {
      finding: `${affectedText(affected)} are there twice within their period.`,
      effect: isSpans
        ? 'The first copy of each span counts and the others are left out, which is right if they are copies.'
        : 'Each counts as often as it is there.',
      answer: 'Load each file once, and see `traces.quality().issues` for which.',
    }),
  ]
}

/** Traces with copies: of spans, as far as quality lists them; of graphs, by their ids. */
function repeated(traces: TraceSet): number {
  if (traces.kind === 'graphs') {
    const ids = traces.ids.filter(isIdentity)
    return ids.length - new Set(ids).size
  }
  const copies = traces.quality().issues.filter(({ code }) => code === 'duplicate-span')
  return new Set(copies.map(({ place }) => place.trace)).size
}

function isIdentity(id: string): boolean {
  return id.length >= LEAST_ID_LENGTH
}
