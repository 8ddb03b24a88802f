import type { FlowSet } from '../flows/flow-set.ts'
import { machineOf, type NodeLabel, type NodeLabels } from '../flows/node-labels.ts'
import { neighborsOf, ShapeGraph } from '../traces/shape-table.ts'

export interface FlowCall {
  readonly start: number
  /** Node where it ends; -1 for a request whose first node has no reply: it ends with the request. */
  readonly end: number
  /** Number of the call it is made by; -1 for the request itself, which is call 0. */
  readonly parent: number
  readonly depth: number
  readonly service: string
  readonly name: string
  readonly host: string
}

export interface CallTree {
  /** Calls, with callers before callees. */
  readonly calls: readonly FlowCall[]
  /** Call whose own time each edge is. */
  readonly callOfEdge: Uint32Array
}

interface OpenCall extends Pick<FlowCall, 'start' | 'parent' | 'depth'> {
  end: number
  readonly key: string
}

/**
 * Takes a shape's graph apart into calls: each span; or a trace point and the next of that name on
 * the machine that ends it (`…_CALL…`, `…_REPLY…`). What lies between calls becomes steps.
 */
export function callTree(flows: FlowSet, shape: number): CallTree {
  const { shapes, labels } = flows
  const graph = new ShapeGraph().load(shapes, shape)
  const codes = shapes.labels(shape)
  const roles = nodeRoles(codes, labels)
  const key = roles[0]?.key ?? ''
  const found: OpenCall[] = [{ start: 0, end: -1, parent: -1, depth: 0, key }]
  const callAt = new Int32Array(graph.nodes).fill(-1)
  /** The innermost call that is under way after each node. */
  const within = new Int32Array(graph.nodes)
  for (const node of graph.order.subarray(0, graph.nodes)) {
    if (node === 0) {
      callAt[0] = 0
      continue
    }
    const role = roles[node] as (typeof roles)[number]
    const around = neighborsOf(graph.above, node).reduce(
      (common, before) => commonCaller(found, common, within[before] as number),
      -1,
    )
    const caller = Math.max(0, around)
    within[node] = caller
    if (role.phase === 'begins') {
      const depth = (found[caller] as OpenCall).depth + 1
      within[node] = found.push({ start: node, end: -1, parent: caller, depth, key: role.key }) - 1
    } else if (role.phase === 'ends') {
      const ended = openCall(found, caller, role.key)
      if (ended < 0) continue
      const call = found[ended] as OpenCall
      call.end = node
      callAt[call.start] = ended
      callAt[node] = ended
      within[node] = Math.max(0, call.parent)
    }
  }
  return numbered(flows, shape, { found, callAt, within })
}

function nodeRoles(codes: Uint32Array, labels: NodeLabels) {
  const parts = Array.from(codes, (code, node) => {
    const label = labels.get(code)
    // A span's reply is the node after its call.
    if (label.phase === 'call') return { key: String(node), ends: false, sure: true }
    if (label.phase === 'reply') return { key: String(node - 1), ends: true, sure: true }
    const { name, ends } = pointRole(label)
    return { key: `${machineOf(label)} ${name}`, ends, sure: false }
  })
  const ended = new Set(parts.filter(({ ends }) => ends).map(({ key }) => key))
  return parts.map(({ key, ends, sure }) => ({
    key,
    phase: ends ? 'ends' : sure || ended.has(key) ? 'begins' : 'neither',
  }))
}

function commonCaller(found: readonly OpenCall[], a: number, b: number): number {
  if (a < 0) return b
  let [left, right] = [a, b]
  while (left !== right) {
    if ((found[left] as OpenCall).depth >= (found[right] as OpenCall).depth) {
      left = (found[left] as OpenCall).parent
    } else right = (found[right] as OpenCall).parent
  }
  return left
}

/** Returns the innermost call with `key` that has not ended, from `call` outwards; -1 if there is none. */
function openCall(found: readonly OpenCall[], call: number, key: string): number {
  for (let at = call; at >= 0; at = (found[at] as OpenCall).parent) {
    const candidate = found[at] as OpenCall
    if (candidate.key === key && candidate.end < 0) return at
  }
  return -1
}

function numbered(
  { shapes, labels }: FlowSet,
  shape: number,
  { found, callAt, within }: { found: OpenCall[]; callAt: Int32Array; within: Int32Array },
): CallTree {
  const [codes, from, to] = [shapes.labels(shape), shapes.from(shape), shapes.to(shape)]
  const calls: FlowCall[] = []
  const numberOf = new Uint32Array(found.length)
  found.forEach(({ start, end, parent }, at) => {
    const caller = parent < 0 ? -1 : (numberOf[parent] as number)
    if (end < 0 && at > 0) {
      numberOf[at] = caller
      return
    }
    const label = labels.get(codes[start] as number)
    const { service, host } = label
    const name = label.phase === 'point' ? pointRole(label).name : label.operation
    const depth = caller < 0 ? 0 : (calls[caller] as FlowCall).depth + 1
    numberOf[at] = calls.push({ start, end, parent: caller, depth, service, name, host }) - 1
  })
  const isPoint = (node: number) => (callAt[node] as number) < 0
  const nodeLabel = (node: number) => labels.get(codes[node] as number)
  const callOfEdge = Uint32Array.from(from, (start, edge) => {
    const end = to[edge] as number
    const parent = numberOf[within[start] as number] as number
    // If the request as a whole has no reply, its first node is a point like any other.
    const bare = start === 0 && calls[0]?.end === -1
    if (!bare && !isPoint(start) && !isPoint(end)) return parent
    const name = `${pointName(nodeLabel(start))} → ${pointName(nodeLabel(end))}`
    const depth = (calls[parent] as FlowCall).depth + 1
    const { service, host } = nodeLabel(start)
    return calls.push({ start, end, parent, depth, service, name, host }) - 1
  })
  return { calls, callOfEdge }
}

const OPENING = /(^|_)(CALL|REQUEST|START|BEGIN|ENTER|ENTRY)(_TYPE)?(?=_|$)/i
const CLOSING = /(^|_)(REPLY|RESPONSE|RETURN|END|EXIT|DONE)(_TYPE)?(?=_|$)/i

/** Reads a point's name, its first line: `NFS3_READ_CALL_TYPE` begins `NFS3_READ`. */
export function pointRole({ operation }: NodeLabel): { name: string; ends: boolean } {
  const [first = ''] = operation.split(/\n|\\n/)
  const ends = CLOSING.test(first)
  const name = first.replace(ends ? CLOSING : OPENING, '')
  return { name: name === '' ? first : name, ends }
}

export function pointName({ operation }: NodeLabel): string {
  return operation.replace(/\n|\\n/g, ' ')
}
