import { requireFields } from '../core/errors.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import { FlowSet } from './flow-set.ts'
import {
  detailText,
  kindLabel,
  labelText,
  machineOf,
  type NodeLabel,
  NodeLabels,
  THREAD,
  withoutHost,
} from './node-labels.ts'

export type LabelChange = (node: NodeLabel) => NodeLabel

export function threadOf(node: NodeLabel): string {
  return node.host.slice(machineOf(node).length + THREAD.length)
}

/** Returns the node on another machine, or on none, with its thread if it has one. */
export function onMachine(node: NodeLabel, machine: string): NodeLabel {
  const host = [machine, threadOf(node)].filter((part) => part !== '').join(THREAD)
  return { ...node, host }
}

export const withoutMachine: LabelChange = (node) => onMachine(node, '')

export const withoutThread: LabelChange = (node) => ({ ...node, host: machineOf(node) })

/** Services may be called by their instances (`frontend-1`): the host that says so goes as well. */
export const withoutIds: LabelChange = (node) => {
  const service = stripIds(node.service)
  const host = node.host === node.service ? service : node.host
  return { ...node, service, host, operation: stripIds(node.operation) }
}

/**
 * Returns the label of a node without the ids in the names of its operation and service, as a rule for `categorize` and
 * `compare`; see `stripIds`.
 *
 * @example
 * comparison.with({ label: labelWithoutIds }).categories.size // 6
 */
export function labelWithoutIds(node: NodeLabel): string {
  requireFields('labelWithoutIds(node)', node, 'service', 'operation')
  return labelText(withoutIds(node))
}

/**
 * Returns the label of a node without its thread, as a rule for `categorize` and `compare`: Stardust labels are
 * `machine__thread__POINT`. Others stay as they are.
 *
 * @example
 * const point = { service: '', host: 'sn1__t7', operation: 'WRITE', phase: 'point' }
 * labelWithoutThreads(point) // 'sn1__WRITE'
 */
export function labelWithoutThreads(node: NodeLabel): string {
  requireFields('labelWithoutThreads(node)', node, 'host')
  return labelText(withoutThread(node))
}

interface LabelOptions {
  readonly label: ((node: NodeLabel) => string) | null
  readonly omitHosts: boolean
}

/**
 * Returns how nodes are named: `text` tells categories apart; `kind` leaves out size and attributes,
 * so that it tells kinds of request apart where the node is a root.
 */
export function labelRules({ label, omitHosts }: LabelOptions) {
  const shown = (node: NodeLabel) => labelText(omitHosts ? withoutHost(node) : node)
  const kind = (node: NodeLabel) => (label ?? shown)(kindLabel(node))
  const text = (node: NodeLabel) =>
    label === null ? shown(node) : `${kind(node)}${detailText(node)}`
  return { text, kind }
}

export function changesLabels(
  {
    flows: { labels },
    options,
  }: { readonly flows: { readonly labels: NodeLabels }; readonly options: LabelOptions },
  change: LabelChange,
): boolean {
  const { kind } = labelRules(options)
  return Array.from({ length: labels.size }, (_, code) => labels.get(code)).some(
    (node) => kind(change(node)) !== kind(node),
  )
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
/** Hexadecimal with a prefix, or eight digits or more of which some are letters and some are not. */
const HEX = /0x[0-9a-f]+|(?<![0-9a-z])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9a-z])/gi
/** Number by itself, with separators of its groups; or four digits or more after a word. */
const NUMBER = /(?<![0-9a-z])-?[0-9]+(?:[.,:][0-9]+)*(?![0-9a-z])|[0-9]{4,}(?![0-9a-z])/gi

/**
 * Replaces UUIDs, hexadecimal numbers and numbers by `#`, so that requests of one operation are one
 * category: `GET /users/#`. Digits of words stay: `NFS3`, `v2`, `sha256`.
 */
export function stripIds(name: string): string {
  return name.replace(UUID, '#').replace(HEX, '#').replace(NUMBER, '#')
}

/** Returns the same flows with other labels, as a system with these names would have recorded them. */
export function relabelFlows(
  flows: FlowSet,
  changes: readonly ((node: NodeLabel) => NodeLabel)[],
): FlowSet {
  if (changes.length === 0) return flows
  const labels = new NodeLabels()
  const codes = Uint32Array.from({ length: flows.labels.size }, (_, code) =>
    labels.code(changes.reduce((node, change) => change(node), flows.labels.get(code))),
  )
  const shapes = new ShapeTable()
  const all = Array.from({ length: flows.shapes.size }, (_, shape) => shape)
  const numbers = relabelShapes(flows.shapes, { codes, used: all, into: shapes })
  const shapeOf = flows.shapeOf.map((shape) => numbers[shape] as number)
  return new FlowSet({ ...flows, labels, shapes, shapeOf }, flows.options, flows.report)
}

/** Adds the used shapes with other labels, by code, to a table; gives the new number of each. */
export function relabelShapes(
  shapes: ShapeTable,
  { codes, used, into }: { codes: Uint32Array; used: Iterable<number>; into: ShapeTable },
): Uint32Array {
  const numbers = new Uint32Array(shapes.size)
  for (const shape of used) {
    const relabeled = shapes.labels(shape).map((code) => codes[code] as number)
    const [from, to] = [shapes.from(shape), shapes.to(shape)]
    const edges = { from, to, edgeCount: from.length }
    numbers[shape] = into.intern(relabeled, relabeled.length, edges)
  }
  return numbers
}
