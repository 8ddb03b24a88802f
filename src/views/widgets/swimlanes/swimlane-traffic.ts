import { callTree, pointName, pointRole } from '../../../explain/calling-contexts/call-tree.ts'
import { nodeTimes } from '../../../explain/calling-contexts/find-calling-contexts.ts'
import { CriticalPathFinder } from '../../../flows/critical-path.ts'
import type { FlowSet } from '../../../flows/flow-set.ts'
import type { NodeLabel } from '../../../flows/node-labels.ts'
import { joined, type StretchUs } from '../../drawing/stretches.ts'
import { type GanttCall, ganttCalls } from '../gantt/gantt-model.ts'
import type { SwimlaneOptions } from './options.ts'
import type { Message, Traffic, Visit } from './swimlane-model.ts'

/** Visits and messages of a request. */
export function requestTraffic(
  flows: FlowSet,
  request: number,
  by: SwimlaneOptions['lanes'],
): Traffic {
  const traces = flows.tracesOf(request)
  return traces?.kind === 'graphs' ? pointTraffic(flows, request) : spanTraffic(flows, request, by)
}

/**
 * Visits and messages of a request that was recorded in trace points. Points of one host (machine
 * and thread) that follow one another are one visit, which works between them; a step to another
 * host is a message.
 */
function pointTraffic(flows: FlowSet, request: number): Traffic {
  const { shapes, labels, shapeOf } = flows
  const shape = shapeOf[request] as number
  const [from, to] = [shapes.from(shape), shapes.to(shape)]
  const nodes = Array.from(shapes.labels(shape), (code) => labels.get(code))
  const lanes = nodes.map(({ host, service }) => host || service || 'no host')
  const timeUs = nodeTimes(flows, request)
  const stretch = (edge: number): StretchUs => [
    timeUs[from[edge] as number] as number,
    timeUs[to[edge] as number] as number,
  ]
  const isOwn = (edge: number) => lanes[from[edge] as number] === lanes[to[edge] as number]
  const edges = [...from.keys()]
  // What was asked on a host and answered there is one visit, wherever it went in between.
  const answered = callTree(flows, shape)
    .calls.filter(({ start, end }) => end >= 0 && lanes[start] === lanes[end])
    .map(({ start, end }) => [start, end] as const)
  const ownEdges = edges.filter(isOwn)
  const visitOf = components(nodes.length, [
    ...ownEdges.map((edge) => [from[edge] as number, to[edge] as number] as const),
    ...answered,
  ])
  const onPath = new Uint8Array(from.length)
  new CriticalPathFinder(flows).mark(request, onPath)
  const inside = grouped(ownEdges, (edge) => visitOf[from[edge] as number] as number)
  const visits = grouped([...nodes.keys()], (node) => visitOf[node] as number).map(
    (own, visit): Visit => {
      own.sort((a, b) => (timeUs[a] as number) - (timeUs[b] as number) || a - b)
      const first = own[0] as number
      const work = inside[visit] ?? []
      return {
        lane: lanes[first] as string,
        name: pointRole(nodes[first] as NodeLabel).name,
        startUs: timeUs[first] as number,
        endUs: timeUs[own.at(-1) as number] as number,
        work: joined(work.map(stretch)),
        critical: joined(work.filter((edge) => onPath[edge] === 1).map(stretch)),
      }
    },
  )
  const messages = edges
    .filter((edge) => !isOwn(edge))
    .map((edge): Message => {
      const [source, target] = [from[edge] as number, to[edge] as number]
      const [sentUs, arrivedUs] = stretch(edge)
      const name = pointName(nodes[target] as NodeLabel)
      return {
        ...{ name, sentUs, arrivedUs, isCritical: onPath[edge] === 1 },
        kind: /REPLY|RESPONSE|RETURN/i.test(name) ? 'reply' : 'call',
        ...{ from: visitOf[source] as number, to: visitOf[target] as number },
      }
    })
  return { visits, messages }
}

/** Items by the number of their group. */
function grouped<T>(items: readonly T[], groupOf: (item: T) => number): T[][] {
  const groups: T[][] = []
  for (const item of items) {
    const group = groupOf(item)
    groups[group] ??= []
    groups[group].push(item)
  }
  return groups
}

/** For each node the number of the set of nodes that pairs connect it with. */
function components(
  nodes: number,
  pairs: readonly (readonly [number, number])[],
): readonly number[] {
  const set = Array.from({ length: nodes }, (_, node) => node)
  const find = (node: number): number => {
    let root = node
    while (set[root] !== root) root = set[root] as number
    set[node] = root
    return root
  }
  for (const [a, b] of pairs) set[find(b)] = find(a)
  const numbers = new Map<number, number>()
  return set.map((_, node) => {
    const root = find(node)
    const number = numbers.get(root) ?? numbers.size
    numbers.set(root, number)
    return number
  })
}

/**
 * Visits and messages of a request that was recorded in spans. A component's calls of itself are
 * one visit. A call that does nothing but call another component is the way there and back: the
 * message takes as long as lies between the two.
 */
function spanTraffic(flows: FlowSet, request: number, by: SwimlaneOptions['lanes']): Traffic {
  const calls = ganttCalls(flows, [request])
  const lanes = calls.map((call) => laneOf(call, by))
  const children = calls.map((): number[] => [])
  calls.forEach(({ parent }, call) => {
    children[parent]?.push(call)
  })
  const isWay = calls.map(({ parent }, call) => {
    const [only, ...others] = children[call] as number[]
    const isOwn = parent >= 0 && lanes[parent] === lanes[call]
    return isOwn && only !== undefined && others.length === 0 && lanes[only] !== lanes[call]
  })
  const visitOf: number[] = []
  const members: number[][] = []
  calls.forEach(({ parent }, call) => {
    const isInside = parent >= 0 && lanes[parent] === lanes[call]
    const visit = isInside ? (visitOf[parent] as number) : members.push([]) - 1
    visitOf.push(visit)
    members[visit]?.push(call)
  })
  const visits = members.map((own): Visit => {
    const working = own.filter((call) => !isWay[call]).map((call) => calls[call] as GanttCall)
    const all = own.map((call) => calls[call] as GanttCall)
    const first = all[0] as GanttCall
    return {
      lane: lanes[own[0] as number] as string,
      name: first.name,
      startUs: first.startUs,
      endUs: Math.max(...all.map(({ endUs }) => endUs)),
      work: joined(working.flatMap(({ work }) => work)),
      critical: joined(working.flatMap(({ critical }) => critical)),
    }
  })
  return { visits, messages: messages({ calls, lanes, visitOf, isWay }) }
}

function laneOf({ service, host }: GanttCall, by: SwimlaneOptions['lanes']): string {
  return by === 'host' && host !== '' ? host : service
}

interface Placed {
  readonly calls: readonly GanttCall[]
  readonly lanes: readonly string[]
  readonly visitOf: readonly number[]
  readonly isWay: readonly boolean[]
}

function messages({ calls, lanes, visitOf, isWay }: Placed): Message[] {
  const isCritical = calls.map(({ critical }) => critical.length > 0)
  for (let call = calls.length - 1; call >= 0; call--) {
    const { parent } = calls[call] as GanttCall
    if (parent >= 0 && isCritical[call]) isCritical[parent] = true
  }
  return calls.flatMap((called, call): Message[] => {
    const { parent, name, startUs, endUs } = called
    if (parent < 0 || lanes[parent] === lanes[call]) return []
    const caller = calls[parent] as GanttCall
    const way: StretchUs = isWay[parent]
      ? [Math.min(caller.startUs, startUs), Math.max(caller.endUs, endUs)]
      : [startUs, endUs]
    const [outside, inside] = [visitOf[parent] as number, visitOf[call] as number]
    const shared = { name, isCritical: isCritical[call] as boolean }
    const asked: Message = {
      ...{ ...shared, kind: 'call', from: outside, to: inside },
      ...{ sentUs: way[0], arrivedUs: startUs },
    }
    // Nobody waits for what ends after its caller.
    if (endUs > caller.endUs) return [asked]
    return [
      asked,
      {
        ...{ ...shared, kind: 'reply', from: inside, to: outside },
        ...{ sentUs: endUs, arrivedUs: way[1] },
      },
    ]
  })
}
