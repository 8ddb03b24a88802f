import { sum } from 'd3-array'
import type { Finding } from '../../compare/findings/finding.ts'
import { MAX_WIDTH, textTable } from '../../core/text-layout.ts'
import { counted, formatDuration, printable, shortText } from '../../core/words.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { AFTER, BEFORE, type Period } from '../../traces/period.ts'
import { ganttCalls } from '../widgets/gantt/gantt-model.ts'

const MAX_CALLS = 25
const MAX_NAME_LENGTH = 76

/** Returns a request of a period by its trace id, call by call; `null` where it is not of that period. */
export function exampleOf(flows: FlowSet, of: Period, id: string) {
  const request = flows.ids.findIndex((one, at) => one === id && flows.period[at] === of)
  if (request < 0) return null
  return {
    request,
    period: of === BEFORE ? 'before' : 'after',
    calls: ganttCalls(flows, [request]),
  }
}

/**
 * Returns the first example traces of a finding, before and after: who is called, when, and how long it takes. Calls of
 * one kind by one caller are one row, from the first to the last, with their number. Of many rows, those of its
 * service, marked, and the longest, with their callers.
 */
export function exampleTexts(flows: FlowSet, finding: Finding, width = MAX_WIDTH): string[] {
  const { exemplars, services, operation } = finding
  const periods = [
    [BEFORE, exemplars.before[0]],
    [AFTER, exemplars.after[0]],
  ] as const
  return periods.flatMap(([of, id]) => {
    const example = id === undefined ? null : exampleOf(flows, of, id)
    if (example === null) return []
    const { calls, period, request } = example
    const kinds = callKinds(calls)
    const isNamed = ({ service, name }: Call) =>
      service === services[0] && (operation === null || name === operation)
    const shown = shownCalls(kinds, isNamed)
    const rows = shown.map((one) => {
      const indent = '  '.repeat(one.depth)
      const name = shortText(
        printable(`${one.service} ${one.name}`),
        MAX_NAME_LENGTH - indent.length,
      )
      return [
        indent +
          name +
          (one.times > 1 ? ` × ${one.times}` : '') +
          (one.isError ? ' (failed)' : '') +
          (isNamed(one) ? ' ◀' : ''),
        formatDuration(one.startUs),
        formatDuration(one.endUs - one.startUs),
      ]
    })
    const title = `Trace ${printable(id as string)} (${period}, ${formatDuration(flows.responseTimeUs[request] as number)}), ${counted(calls.length, 'call')} (◀ marks the finding)`
    const left = calls.length - sum(shown, ({ times }) => times)
    const table = textTable(['', 'begins', 'takes'], rows, width)
    return [
      [title, table, ...(left > 0 ? [`… and ${counted(left, 'shorter call')}`] : [])].join('\n'),
    ]
  })
}

type Call = ReturnType<typeof ganttCalls>[number]

/** Calls of one kind by the same, or by such: from the first to the last. */
type CallKind = Call & {
  readonly depth: number
  /** Sort key: after the caller's, and after siblings that begin before. */
  readonly path: string
  readonly times: number
}

/** Calls by who makes them, who is called, and whether they fail, in order; callers stand before. */
function callKinds(calls: readonly Call[]): CallKind[] {
  const kinds: CallKind[] = []
  const kindOf: number[] = []
  const known = new Map<string, number>()
  for (const call of calls) {
    const { service, name, isError, startUs, endUs } = call
    const parent = call.parent < 0 ? -1 : (kindOf[call.parent] as number)
    const key = JSON.stringify([parent, service, name, isError])
    const at = known.get(key) ?? kinds.length
    known.set(key, at)
    kindOf.push(at)
    const { depth = -1, path = '' } = kinds[parent] ?? {}
    const own = `${path}/${String(at).padStart(9, '0')}`
    const first = kinds[at] ?? { ...call, parent, depth: depth + 1, path: own, times: 0 }
    kinds[at] = {
      ...first,
      startUs: Math.min(first.startUs, startUs),
      endUs: Math.max(first.endUs, endUs),
      times: first.times + 1,
    }
  }
  return kinds
}

/** Returns the calls to show, in their order and with their callers: the wanted ones, then the longest. */
function shownCalls(calls: readonly CallKind[], isWanted: (call: Call) => boolean): CallKind[] {
  const lengthUs = ({ startUs, endUs }: Call) => endUs - startUs
  const order = Array.from(calls.keys()).sort((a, b) => {
    const [one, other] = [calls[a] as Call, calls[b] as Call]
    return Number(isWanted(other)) - Number(isWanted(one)) || lengthUs(other) - lengthUs(one)
  })
  const shown = new Set<number>()
  for (const call of order) {
    const chain: number[] = []
    for (let at = call; at >= 0 && !shown.has(at); at = (calls[at] as Call).parent) chain.push(at)
    if (shown.size + chain.length > MAX_CALLS) continue
    for (const one of chain) shown.add(one)
  }
  return calls.filter((_, call) => shown.has(call)).sort((a, b) => (a.path < b.path ? -1 : 1))
}
