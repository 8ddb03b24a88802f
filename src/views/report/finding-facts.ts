import { printable } from '../../compare/findings/edge-words.ts'
import type { Finding } from '../../compare/findings/finding.ts'

/** A finding's sentences without the trace ids at their end, where a report lists these itself. */
export function textWithoutExamples({ text, exemplars: { before, after } }: Finding): string {
  const traces = [
    ...(before[0] === undefined ? [] : [`${printable(before[0])} (before)`]),
    ...(after[0] === undefined ? [] : [`${printable(after[0])} (after)`]),
  ]
  const end = `, for example in traces ${traces.join(' and ')}.`
  return text.endsWith(end) ? `${text.slice(0, -end.length)}.` : text
}
