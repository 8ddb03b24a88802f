import type { Categories } from '../../compare/categories/categories.ts'
import type { CategoryStructure } from '../../compare/categories/category-structure.ts'
import { meaningOf } from '../../compare/categories/parts.ts'
import { rootTypes } from '../../compare/steps/root-types.ts'
import { printable, shortText, spoken } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { detailText, operationName } from '../../flows/node-labels.ts'

interface NamedNode {
  readonly category: number
  readonly node: number
  readonly longest: number
}

/** Names a node: what happens, and where (service or host, call or reply; may be empty). */
function nodeName(categories: Categories, { category, node, longest }: NamedNode) {
  const { labels } = categories.structure(category)
  const text = labels[node] ?? ''
  if (categories.options.label !== null) return { name: shortText(text, longest), where: '' }
  const known = categories.shownNode(category, node)
  const { host } = known
  const place = known.service === '' || host.startsWith(known.service) ? host : known.service
  const phase = known.phase === 'point' ? '' : known.phase
  return {
    name: shortText(`${known.operation}${detailText(known)}` || text, longest),
    where: shortText(spoken([place, phase]).join(' · '), longest),
  }
}

/** Returns the name of a node of a flow as it is drawn; one that begins the next round says so. */
export function drawnName(categories: Categories, flow: DrawnFlow, named: NamedNode) {
  const { node } = named
  const own = nodeName(categories, { ...named, node: flow.nodeOf[node] as number })
  if (node < flow.nextRound) return own
  return { ...own, where: own.where === '' ? 'next round' : `${own.where} · next round` }
}

/**
 * Names a kind of request by its root; behind a gateway also by the call that tells it from others,
 * as `frontend Recv. → currencyservice Convert`; of gRPC methods with the last part.
 */
export function rootName(categories: Categories, category: number, longest: number): string {
  const { shape, root } = categories.structure(category)
  if (categories.options.label !== null) return shortText(root, longest)
  const { flows } = categories
  const label = flows.labels.get(flows.shapes.labels(shape)[0] ?? 0)
  const { service, operation } = label
  const own = spoken([service, operation]).join(' ')
  const { names, typeOf } = rootTypes(flows)
  const [before] = categories.members(category, BEFORE)
  const [request = before ?? 0] = categories.members(category, AFTER)
  const type = names[typeOf[request] ?? 0] ?? own
  const distinct = type.startsWith(`${own} → `) ? type.slice(own.length + 3) : null
  // A type has requests that make one of several calls; it is called by the first of them.
  const isMade = flows.shapes.labels(shape).some((label) => {
    const { service, operation } = flows.labels.get(label)
    return `${service} ${operation}` === distinct
  })
  const call = isMade ? distinct : null
  const name = spoken([methodName(own), call && methodName(call)]).join(' → ')
  const meaning = meaningOf(categories, category)
  const text = name === '' ? root : `${name}${detailText(label)}`
  return shortText(meaning === '' ? text : `${text}: ${meaning}`, longest)
}

/** `service operation`, of whose gRPC method the last part is enough. */
function methodName(name: string): string {
  const [, service = '', operation = name] = /^(.*) (\S+)$/.exec(name) ?? []
  const method = operationName({ operation })
  return method === printable(operation) ? name : spoken([service, method]).join(' ')
}

export type DrawnFlow = ReturnType<typeof drawnFlow>

/**
 * Returns a category's flow as drawn. In folded flows a further node stands for the beginning of the next round: a step
 * from round to round would close a cycle.
 */
export function drawnFlow(structure: CategoryStructure) {
  const { labels, from, to, classOf, classFrom, classTo } = structure
  const places = new Map<number, number>()
  const plain = classTo.length - structure.loops
  const loops = Array.from(classTo.subarray(plain), (target, loop) => {
    const place = places.get(target) ?? labels.length + places.size
    places.set(target, place)
    return { from: classFrom[plain + loop] as number, to: place, number: plain + loop }
  })
  const again = [...places.keys()]
  return {
    labels: [...labels, ...again.map((node) => `${labels[node]}, next round`)],
    from: Uint32Array.from([...from, ...loops.map((loop) => loop.from)]),
    to: Uint32Array.from([...to, ...loops.map((loop) => loop.to)]),
    classOf: Uint32Array.from([...classOf, ...loops.map(({ number }) => number)]),
    /** Node that each drawn node is, or stands for if it begins the next round. */
    nodeOf: [...labels.keys(), ...again],
    /** Nodes from this number on stand for the beginning of the next round. */
    nextRound: labels.length,
  }
}
