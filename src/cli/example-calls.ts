import type { Finding } from '../compare/findings/finding.ts'
import { counted, formatDuration, printable, shortText } from '../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../flows/flow-set.ts'
import { ganttCalls } from '../views/widgets/gantt/gantt-model.ts'
import { textTable } from './printing.ts'

const MAX_CALLS = 25
const MAX_NAME_LENGTH = 76

/** A request of a period by its trace id, call by call; `null` where it is not of that period. */
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
 * The first example traces of a finding, before and after: who is called, when, and how long it takes.
 * Of many calls, those of its service, marked, and the longest, with their callers.
 */
export function exampleTexts(flows: FlowSet, finding: Finding): string[] {
  const { exemplars, services, operation } = finding
  const periods = [
    [BEFORE, exemplars.before[0]],
    [AFTER, exemplars.after[0]],
  ] as const
  return periods.flatMap(([of, id]) => {
    const example = id === undefined ? null : exampleOf(flows, of, id)
    if (example === null) return []
    const { calls, period, request } = example
    const depths: number[] = []
    for (const { parent } of calls) depths.push(parent < 0 ? 0 : (depths[parent] as number) + 1)
    const isNamed = ({ service, name }: (typeof calls)[number]) =>
      service === services[0] && (operation === null || name === operation)
    const rows = shownCalls(calls, isNamed).map((call) => {
      const one = calls[call] as (typeof calls)[number]
      const indent = '  '.repeat(depths[call] as number)
      const name = shortText(
        printable(`${one.service} ${one.name}`),
        MAX_NAME_LENGTH - indent.length,
      )
      return [
        indent + name + (one.isError ? ' (failed)' : '') + (isNamed(one) ? ' ◀' : ''),
        formatDuration(one.startUs),
        formatDuration(one.endUs - one.startUs),
      ]
    })
    const title = `Trace ${printable(id as string)} (${period}, ${formatDuration(flows.responseTimeUs[request] as number)}), ${counted(calls.length, 'call')} (◀ what the finding is about)`
    const left = calls.length - rows.length
    const table = textTable(['', 'begins', 'takes'], rows)
    return [
      [title, table, ...(left > 0 ? [`… and ${counted(left, 'shorter call')}`] : [])].join('\n'),
    ]
  })
}

type Call = ReturnType<typeof ganttCalls>[number]

/** Which calls are shown, in their order: with their callers, the wanted and then the longest. */
function shownCalls(calls: readonly Call[], isWanted: (call: Call) => boolean): number[] {
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
  return [...shown].sort((a, b) => a - b)
}
