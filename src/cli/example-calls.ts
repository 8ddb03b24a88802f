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

/** The first example traces of a finding, before and after: who is called, when, and how long it takes. */
export function exampleTexts(flows: FlowSet, { exemplars }: Finding): string[] {
  const periods = [
    [BEFORE, exemplars.before[0]],
    [AFTER, exemplars.after[0]],
  ] as const
  return periods.flatMap(([of, id]) => {
    const example = id === undefined ? null : exampleOf(flows, of, id)
    if (example === null) return []
    const { calls, period, request } = example
    const depths: number[] = []
    const rows = calls.map(({ parent, service, name, startUs, endUs, isError }, call) => {
      const depth = parent < 0 ? 0 : (depths[parent] as number) + 1
      depths[call] = depth
      const indented = '  '.repeat(depth) + printable(`${service} ${name}`)
      return [
        shortText(indented, MAX_NAME_LENGTH) + (isError ? ' (failed)' : ''),
        formatDuration(startUs),
        formatDuration(endUs - startUs),
      ]
    })
    const title = `Trace ${printable(id as string)} (${period}, ${formatDuration(flows.responseTimeUs[request] as number)}), ${counted(calls.length, 'call')}`
    const left = rows.length - MAX_CALLS
    const table = textTable(['', 'begins', 'takes'], rows.slice(0, MAX_CALLS))
    return [[title, table, ...(left > 0 ? [`… and ${counted(left, 'more call')}`] : [])].join('\n')]
  })
}
