import { formatAmount, signedAmount } from '../../core/quantity.ts'
import { counted, grouped, shortText, tooltipText } from '../../core/words.ts'
import type { FocusCalls, FocusGraph } from '../../explain/focus-graph.ts'
import {
  type GraphBox,
  type GraphLine,
  type LineLook,
  layOutGraph,
  NodeLink,
} from './node-link.tsx'
import type { Picture } from './picture.ts'

const MAX_NAME_LENGTH = 30
const WIDTH = { min: 1.2, max: 7 }
/** A change of less than this share of the largest is drawn as none. */
const LITTLE = 0.05

/** Returns a service between who calls it and whom it calls: lines are as wide as their part of a mean request. */
export function focusPicture(graph: FocusGraph, limit: number): Picture {
  const { service, itself, quantity } = graph
  const drawn = (['caller', 'callee'] as const).map((direction) => {
    const all = graph.of(direction)
    return { rows: all.slice(0, limit), left: all.length - limit }
  })
  const [callers, callees] = drawn.map(({ rows }) => rows) as [FocusCalls[], FocusCalls[]]
  const rows = [...callers, ...callees]
  const timesOf = (one: Pick<FocusCalls, 'beforeUs' | 'afterUs'>) =>
    [one.beforeUs, one.afterUs]
      .map((us) => (Number.isNaN(us) ? 'none' : formatAmount(us, quantity)))
      .join(' → ')
  const most = Math.max(...rows.map(({ changeUs }) => Math.abs(changeUs)))
  const total = (one: FocusCalls) => one.afterCalls * one.afterUs || one.beforeCalls * one.beforeUs
  const widest = Math.max(...rows.map(total))
  const lookOf = (one: FocusCalls): LineLook => ({
    width: Math.max(WIDTH.min, (WIDTH.max * total(one)) / widest),
    color: Math.abs(one.changeUs) < LITTLE * most ? 'soft' : one.changeUs > 0 ? 'change' : 'less',
  })
  const boxOf = (name: string | null, detail: string): GraphBox => {
    const shown = name ?? 'clients'
    return {
      name: shortText(shown, MAX_NAME_LENGTH),
      detail,
      tooltip: tooltipText(`${shown} ${detail}`),
    }
  }
  const boxes = [
    { ...boxOf(service, `takes ${timesOf(itself)}`), look: { stroke: 'focus', width: 2 } as const },
    ...rows.map((one) => boxOf(one.service, one.direction === 'caller' ? 'calls it' : 'is called')),
  ]
  const lines = rows.map((one, i): GraphLine => {
    const other = i + 1
    const counts = `${grouped(Math.round(one.beforeCalls))} → ${grouped(Math.round(one.afterCalls))} calls`
    return {
      ...(one.direction === 'caller' ? { from: other, to: 0 } : { from: 0, to: other }),
      text: timesOf(one),
      note: counts,
      tooltip: `${tooltipText(one.service ?? 'clients')}: ${timesOf(one)} a call, ${counts}, ${signedAmount(one.changeUs, quantity)} a mean request`,
      look: lookOf(one),
    }
  })
  const layout = layOutGraph(boxes, lines, { notes: true })
  const [first] = rows.toSorted((a, b) => Math.abs(b.changeUs) - Math.abs(a.changeUs))
  return {
    title: `Who calls ${shortText(service, 60)}, and whom it calls`,
    subtitle: [
      'Mean time that a caller waits for a call, before → after. Width of lines: total time.',
      first !== undefined &&
        `${changeText(first, service)} ${signedAmount(first.changeUs, quantity)} a mean request.`,
    ],
    omissions: drawn.map(
      ({ left }, i) => left > 0 && `${counted(left, i === 0 ? 'caller' : 'callee')} left out.`,
    ),
    width: layout.width,
    height: layout.height,
    drawing: <NodeLink boxes={boxes} lines={lines} layout={layout} />,
  }
}

function changeText({ direction, service }: FocusCalls, focus: string): string {
  const other = shortText(service ?? 'clients', MAX_NAME_LENGTH)
  return direction === 'caller'
    ? `Most changed: calls of ${other} to ${shortText(focus, MAX_NAME_LENGTH)},`
    : `Most changed: its calls to ${other},`
}
