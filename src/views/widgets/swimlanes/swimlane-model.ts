import { group, max, range, rollups, sort } from 'd3-array'
import { callTree, pointName, pointRole } from '../../../calls/call-tree.ts'
import { CriticalPathFinder } from '../../../calls/critical-path.ts'
import type { Finding } from '../../../compare/findings/finding.ts'
import type { Comparison } from '../../../comparison/comparison.ts'
import { FlowdeltaError, OptionError } from '../../../core/errors.ts'
import {
  custom,
  defineOptions,
  flag,
  type OptionsOf,
  oneOf,
  optionalNumber,
} from '../../../core/options.ts'
import { counted, shortText } from '../../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import type { NodeLabel } from '../../../flows/node-labels.ts'
import { lanesOf } from '../../charts/lanes.ts'
import { rootName } from '../../charts/node-names.ts'
import { joined, type StretchUs, TIME_RANGE, toNanoseconds } from '../../drawing/time-range.tsx'
import { STAGE_NAME } from '../define-widget.ts'
import { ganttCalls } from '../gantt/gantt-model.ts'

export interface SwimlaneTraces {
  readonly before?: string
  readonly after?: string
}

export const SWIMLANE_OPTIONS = defineOptions({
  category: optionalNumber(
    'Category whose median requests are shown; null for the examples of the first finding, or the category of the highest-ranked mutation',
  ),
  traces: custom<string | SwimlaneTraces | null>({
    default: null,
    sentence: 'Traces that are shown instead: an id, or { before, after } with ids',
    expected: 'a trace id, or { before, after } with trace ids',
    accepts: (traces) =>
      traces === null ||
      typeof traces === 'string' ||
      (typeof traces === 'object' &&
        Object.keys(traces).length > 0 &&
        Object.entries(traces).every(
          ([side, id]) => ['before', 'after'].includes(side) && typeof id === 'string',
        )),
  }),
  arrangement: oneOf(['below', 'beside'], {
    default: 'below',
    sentence: 'Where the request after stands: below the one before over one axis, or beside it',
  }),
  range: TIME_RANGE,
  folded: flag({
    default: true,
    sentence:
      'Whether the components that matter least share a lane where there are more than 16 lines; stills always fold',
  }),
  lanes: oneOf(['service', 'host'], {
    default: 'service',
    sentence: 'What has a lane of its own; of trace points it is always the host',
  }),
  name: STAGE_NAME,
})

export type SwimlaneOptions = OptionsOf<typeof SWIMLANE_OPTIONS>

/** Work of a component for a request, from being asked to having answered. */
export interface Visit {
  readonly lane: string
  readonly name: string
  readonly startUs: number
  readonly endUs: number
  readonly work: readonly StretchUs[]
  readonly critical: readonly StretchUs[]
}

export interface Message {
  readonly name: string
  readonly kind: 'call' | 'reply'
  readonly from: number
  readonly to: number
  readonly sentUs: number
  readonly arrivedUs: number
  readonly isCritical: boolean
}

export interface PlacedVisit extends Visit {
  /** Track of its lane that it is in: simultaneous visits have different ones. */
  readonly track: number
}

export type SwimlaneData = ReturnType<typeof swimlaneData>

export type SwimlaneSide = SwimlaneData['sides'][number]

export function swimlaneData(comparison: Comparison, options: SwimlaneOptions) {
  const { lanes: by } = options
  const { flows, categories } = comparison
  const { traces, category } = shownRequests(comparison, options)
  const chosen =
    category === null ? ofTraces(flows, traces ?? {}) : ofCategory(comparison, category)
  const sides = chosen.map(({ request, choice }) => {
    const { visits, messages } = requestTraffic(flows, request, by)
    const tracks = tracksOf(visits)
    return {
      visits: visits.map((visit, i) => ({ ...toNanoseconds(visit), track: tracks[i] as number })),
      messages: messages.map(toNanoseconds),
      traceId: flows.ids[request] ?? '',
      period: flows.period[request] === BEFORE ? ('before' as const) : ('after' as const),
      responseTimeUs: flows.responseTimeUs[request] ?? 0,
      choice,
    }
  })
  const ends = sides.flatMap(({ visits, responseTimeUs }) => [
    responseTimeUs,
    ...visits.map(({ endUs }) => endUs),
  ])
  return {
    sides,
    lanes: lanesIn(sides),
    lengthUs: Math.max(MIN_LENGTH_US, ...ends),
    title:
      category === null
        ? titleOf(comparison, traces)
        : `${rootName(categories, category, 80)}, category ${category}`,
  }
}

/** Returns the traces to show, or the category whose median requests are shown: by default what changed first. */
export function shownRequests(
  { findings: { findings }, ranking }: Comparison,
  { category, traces }: SwimlaneOptions,
): Pick<SwimlaneOptions, 'category' | 'traces'> {
  if (traces !== null) return { category: null, traces }
  if (category !== null) return { category, traces }
  for (const { exemplars } of findings) {
    const [before, after] = [exemplars.before[0], exemplars.after[0]]
    if (before && after) return { category: null, traces: { before, after } }
  }
  const chosen = ranking.mutations[0]?.category
  if (chosen !== undefined) return { category: chosen, traces }
  throw new FlowdeltaError(
    'No change is sure enough to show first. Give a category, such as { category: 0 } or traces.',
  )
}

function titleOf(
  { findings: { findings } }: Comparison,
  traces: SwimlaneOptions['traces'],
): string {
  const isOf = (period: 'before' | 'after') => (finding: Finding) =>
    typeof traces === 'object' && finding.exemplars[period].includes(traces?.[period] ?? '')
  const finding = findings.filter(isOf('before')).find(isOf('after'))
  return finding === undefined
    ? 'Chosen requests'
    : shortText(`Examples of #${finding.rank} ${finding.title}`, 120)
}

/** A request that took no time is drawn on an axis of this length. */
const MIN_LENGTH_US = 1

/** Returns the request with the median response time, before and after; fewer where there is none. */
function ofCategory({ categories, ranking }: Comparison, category: number) {
  if (!Number.isInteger(category) || category < 0 || category >= categories.size) {
    const last = categories.size - 1
    throw new OptionError('category', category, `a category from 0 to ${last}`)
  }
  const isNew = categories.count(category, BEFORE) === 0
  const mutation = ranking.mutations.find(
    (each) => each.category === category && each.precursors.length > 0,
  )
  const origin = isNew ? (mutation?.precursors[0]?.category ?? category) : category
  return ([BEFORE, AFTER] as const).flatMap((period) => {
    const own = period === BEFORE ? origin : category
    const { responseTimeUs } = categories.flows
    const byTime = sort(categories.members(own, period), (request) => responseTimeUs[request])
    const request = byTime[(byTime.length - 1) >> 1]
    const choice = `the median of ${counted(byTime.length, 'request')} of category ${own}`
    return request === undefined ? [] : [{ request, choice }]
  })
}

function ofTraces(flows: FlowSet, traces: string | SwimlaneTraces) {
  const rows = (id: string | undefined, periods: readonly Period[]) => {
    if (id === undefined) return []
    const request = flows.ids.findIndex(
      (each, row) => each === id && periods.includes(flows.period[row] as Period),
    )
    if (request < 0) throw new OptionError('traces', id, 'the id of a trace of that period')
    return [{ request, choice: 'chosen' }]
  }
  if (typeof traces === 'string') return rows(traces, [BEFORE, AFTER])
  return [...rows(traces.before, [BEFORE]), ...rows(traces.after, [AFTER])]
}

/** Puts visits at the same time in one lane into tracks of their own. */
export function tracksOf(visits: readonly Visit[]): number[] {
  const tracks: number[] = []
  for (const own of group(visits.entries(), ([, { lane }]) => lane).values()) {
    const inOrder = sort(
      own,
      ([, { startUs }]) => startUs,
      ([, { endUs }]) => -endUs,
    )
    const { lanes } = lanesOf(inOrder.map(([, visit]) => visit))
    inOrder.forEach(([number], i) => {
      tracks[number] = lanes[i] as number
    })
  }
  return tracks
}

export function lanesIn(sides: readonly { readonly visits: readonly PlacedVisit[] }[]) {
  const visits = sides.flatMap((side) => sort(side.visits, ({ startUs }) => startUs))
  const tracksIn = (own: PlacedVisit[]) => 1 + (max(own, ({ track }) => track) ?? 0)
  const lanes = rollups(visits, tracksIn, ({ lane }) => lane)
  return lanes.map(([name, tracks]) => ({ name, tracks }))
}

export function requestTraffic(flows: FlowSet, request: number, by: SwimlaneOptions['lanes']) {
  const traces = flows.tracesOf(request)
  return traces?.kind === 'graphs' ? pointTraffic(flows, request) : spanTraffic(flows, request, by)
}

/** Between trace points: those of one host in a row are one visit; a step to another host is a message. */
function pointTraffic(flows: FlowSet, request: number) {
  const { shapes, labels, shapeOf } = flows
  const shape = shapeOf[request] as number
  const nodes = Array.from(shapes.labels(shape), (code) => labels.get(code))
  const lanes = nodes.map(({ host, service }) => host || service || 'no host')
  const finder = new CriticalPathFinder(flows)
  const timeUs = finder.nodeTimes(request)
  const onPath = new Uint8Array(shapes.from(shape).length)
  finder.mark(request, onPath)
  const edges = Array.from(shapes.from(shape), (from, edge) => {
    const to = shapes.to(shape)[edge] as number
    const stretch: StretchUs = [timeUs[from] as number, timeUs[to] as number]
    return { from, to, stretch, isCritical: onPath[edge] === 1 }
  })
  const inside = edges.filter(({ from, to }) => lanes[from] === lanes[to])
  const between = edges.filter(({ from, to }) => lanes[from] !== lanes[to])
  // A call asked and answered on one host is one visit, wherever it went in between.
  const answered = callTree(flows, shape).calls.filter(
    ({ start, end }) => end >= 0 && lanes[start] === lanes[end],
  )
  const setOf = connectedSets(nodes.length, [
    ...inside,
    ...answered.map(({ start, end }) => ({ from: start, to: end })),
  ])
  const workOf = group(inside, ({ from }) => setOf(from))
  const members = group(nodes.keys(), setOf)
  const visitOf = new Map([...members.keys()].map((set, visit) => [set, visit]))
  const visits = Array.from(members, ([set, own]): Visit => {
    const inOrder = sort(own, (node) => timeUs[node] as number)
    const first = inOrder[0] as number
    const work = workOf.get(set) ?? []
    return {
      lane: lanes[first] as string,
      name: pointRole(nodes[first] as NodeLabel).name,
      startUs: timeUs[first] as number,
      endUs: timeUs[inOrder.at(-1) as number] as number,
      work: joined(work.map(({ stretch }) => stretch)),
      critical: joined(work.filter((edge) => edge.isCritical).map(({ stretch }) => stretch)),
    }
  })
  const messages = between.map(({ from, to, stretch, isCritical }): Message => {
    const name = pointName(nodes[to] as NodeLabel)
    return {
      name,
      sentUs: stretch[0],
      arrivedUs: stretch[1],
      isCritical,
      kind: /REPLY|RESPONSE|RETURN/i.test(name) ? 'reply' : 'call',
      from: visitOf.get(setOf(from)) as number,
      to: visitOf.get(setOf(to)) as number,
    }
  })
  return { visits, messages }
}

/** Returns for each node one of those that pairs connect it with, the same for all of them. */
function connectedSets(nodes: number, pairs: readonly { from: number; to: number }[]) {
  const next = range(nodes)
  const find = (node: number): number => {
    let root = node
    while (next[root] !== root) root = next[root] as number
    next[node] = root
    return root
  }
  for (const { from, to } of pairs) next[find(to)] = find(from)
  return find
}

/** Between spans: calls of itself are one visit; a call that only calls elsewhere is a way there and back. */
function spanTraffic(flows: FlowSet, request: number, by: SwimlaneOptions['lanes']) {
  const calls = ganttCalls(flows, [request]).map((call) => ({
    ...call,
    lane: by === 'host' && call.host !== '' ? call.host : call.service,
  }))
  const isOwn = ({ parent, lane }: (typeof calls)[number]) => calls[parent]?.lane === lane
  const isWay = calls.map((call, i) => {
    // An only call is the next in order.
    const only = calls[i + 1]
    const isAlone = only?.parent === i && only.inner === call.inner - 1
    return isAlone && isOwn(call) && only.lane !== call.lane
  })
  const members: number[][] = []
  const visitOf: number[] = []
  calls.forEach((call, i) => {
    const visit = isOwn(call) ? (visitOf[call.parent] as number) : members.push([]) - 1
    visitOf.push(visit)
    members[visit]?.push(i)
  })
  const visits = members.map((own): Visit => {
    const all = own.map((call) => calls[call] as (typeof calls)[number])
    const working = all.filter((_, i) => !isWay[own[i] as number])
    const { lane, name, startUs } = all[0] as (typeof calls)[number]
    return {
      lane,
      name,
      startUs,
      endUs: Math.max(...all.map(({ endUs }) => endUs)),
      work: joined(working.flatMap(({ work }) => work)),
      critical: joined(working.flatMap(({ critical }) => critical)),
    }
  })
  const messages = calls.flatMap((call, i): Message[] => {
    const { parent, name, startUs, endUs, inner } = call
    const caller = calls[parent]
    if (caller === undefined || isOwn(call)) return []
    const [outside, inside] = [visitOf[parent] as number, visitOf[i] as number]
    const [sentUs, answeredUs] = isWay[parent]
      ? [Math.min(caller.startUs, startUs), Math.max(caller.endUs, endUs)]
      : [startUs, endUs]
    const isCritical = calls.slice(i, i + 1 + inner).some(({ critical }) => critical.length > 0)
    const asked = { sentUs, arrivedUs: startUs, from: outside, to: inside }
    const answered = { sentUs: endUs, arrivedUs: answeredUs, from: inside, to: outside }
    return [
      { name, kind: 'call', isCritical, ...asked },
      // Nobody waits for a call that ends after its caller.
      ...(endUs > caller.endUs ? [] : [{ name, kind: 'reply' as const, isCritical, ...answered }]),
    ]
  })
  return { visits, messages }
}
