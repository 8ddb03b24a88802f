import type { Comparison } from '../compare/comparison.ts'
import { FlowdeltaError } from '../core/errors.ts'
import { AFTER, BEFORE } from '../flows/flow-set.ts'
import { toDot } from '../views/to-dot.ts'
import { rankName } from './comparison-document.ts'

/** Values of `--dot`, for messages. */
export const DOT_CHOICES =
  "1 or #1 for the mutation of that rank in --verbose; 'category 12' for a category in both periods, 'category 12 | 15' for one before and another after; 'trace ID' for the requests of a trace"

/** Flows as DOT, as `--dot` asks for them. */
export function dotText(comparison: Comparison, which: string): string {
  const { flows, ranking } = comparison
  const [, id] = /^trace (.+)$/.exec(which) ?? []
  if (id !== undefined) {
    const requests = [...flows.ids.keys()].filter((request) => flows.ids[request] === id)
    if (requests.length === 0) throw new FlowdeltaError(`No request has the trace id ${id}.`)
    return requests.map((request) => toDot(flows, request)).join('')
  }
  const [, before, after = before] = /^category (\d+)(?: *\| *(\d+))?$/.exec(which) ?? []
  if (before !== undefined) {
    return toDot(comparison, {
      before: { category: Number(before), period: BEFORE },
      after: { category: Number(after), period: AFTER },
    })
  }
  const mutation = ranking.mutations.find(({ rank }) => rankName(which) === `#${rank}`)
  if (mutation !== undefined) return toDot(comparison, mutation)
  throw new FlowdeltaError(
    `'${which}' is no flow: there are ${ranking.mutations.length} mutations. Give ${DOT_CHOICES}.`,
  )
}
