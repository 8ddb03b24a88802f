import { printable } from '../core/words.ts'
import { Dictionary } from '../traces/dictionary.ts'
import { pointNames } from '../traces/graph-traces.ts'

/** Moment that a node stands for: a span's start, its end, or a recorded trace point. */
export type Phase = 'call' | 'reply' | 'point'

/** Properties of a node. */
export interface NodeLabel {
  /** Service or component; for trace points, the empty string. */
  readonly service: string
  /** Operation, or the name of the trace point with its semantic label. */
  readonly operation: string
  /** Host, machine or pod; the empty string where none was recorded. */
  readonly host: string
  readonly phase: Phase
  /** Attributes added by `labelBy`: `tenant=gold, size=64..128`. */
  readonly attributes?: string
  /** Size of a folded flow, on its root: `×3 ×1024`, or `size=320KB`. */
  readonly size?: string
  /** Statements of the span that distinguish paths of the code; on replies, with `paths: 'logged'`. */
  readonly logged?: string
}

/** An operation of a service. */
export interface Operation {
  readonly service: string
  readonly operation: string
}

export function isSame(a: Operation, b: Operation): boolean {
  return a.service === b.service && a.operation === b.operation
}

export function callName({ service, operation }: Operation): string {
  return `${service} ${operation}`
}

export function operationOf(label: NodeLabel): Operation {
  return { service: place(label), operation: label.operation }
}

/** Returns the place of a node: its service, or its host if no service was recorded. */
export function place({ service, host }: NodeLabel): string {
  return service === '' ? host : service
}

/** The distinct node labels of a set of flows, numbered in order of first appearance. */
export class NodeLabels {
  readonly #texts = new Dictionary()
  readonly #labels: NodeLabel[] = []

  get size(): number {
    return this.#labels.length
  }

  /** Returns the code of `label`, which is added if it is new. */
  code(label: NodeLabel): number {
    const code = this.#texts.code(labelText(label))
    if (code === this.#labels.length) this.#labels.push(label)
    return code
  }

  /** Returns the label with this code. */
  get(code: number): NodeLabel {
    this.text(code)
    return this.#labels[code] as NodeLabel
  }

  /** Returns the label as it is shown and compared, with its host. */
  text(code: number): string {
    return this.#texts.value(code)
  }
}

/** `frontend@web-1 READ call`; a host that begins with the service's name stands alone. */
export function labelText(label: NodeLabel): string {
  const { service, host, phase, logged } = label
  const operation = `${label.operation}${detailText(label)}`
  if (phase === 'point') return host === '' ? operation : `${host}__${operation}`
  const where = host === '' ? service : host.startsWith(service) ? host : `${service}@${host}`
  return `${where} ${operation} ${phase}${logged === undefined ? '' : ` after logging ${logged}`}`
}

/** Returns what tells requests of one kind apart by their labels, or nothing: ` [tenant=gold] ×4`. */
export function detailText({ attributes, size }: NodeLabel): string {
  return `${attributes === undefined ? '' : ` [${attributes}]`}${size === undefined ? '' : ` ${size}`}`
}

/** Returns a label without attributes and size: the kind of request that begins with it. */
export function kindLabel({ attributes: _, size: __, ...kind }: NodeLabel): NodeLabel {
  return kind
}

export function withoutHost(label: NodeLabel): NodeLabel {
  return { ...label, host: '' }
}

/** Separator of thread and machine in a Stardust label. */
export const THREAD = '__'

/** Returns the machine of a node: its host, and of a Stardust label `machine__thread` the first half. */
export function machineOf({ host, phase }: NodeLabel): string {
  const end = phase === 'point' ? host.indexOf(THREAD) : -1
  return end < 0 ? host : host.slice(0, end)
}

export function parsePointLabel(text: string): NodeLabel {
  return { service: '', ...pointNames(text), phase: 'point' }
}

/** Methods of gRPC services, which say the package and the service before; behind a name in brackets. */
const GRPC_METHOD = /^(.* \()?\/?(?:[\w-]+\.)+[\w-]+\/([\w.-]+\)?)$/

/** Returns an operation to be printed; of a gRPC method, its last part: `GetProduct`. */
export function operationName({ operation }: Pick<NodeLabel, 'operation'>): string {
  return printable(operation.replace(GRPC_METHOD, '$1$2'))
}

/** Returns the same beside the name of its service, which it leaves out: of `cart/AddItem` and `GET to cart`. */
export function operationAt(service: string, operation: string): string {
  const [first, last] = [`${service}/`, ` to ${service}`]
  const from = operation.startsWith(first) ? first.length : 0
  const to = operation.endsWith(last) ? -last.length : operation.length
  return operationName({ operation: operation.slice(from, to) || operation })
}
