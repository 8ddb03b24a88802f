import type { Categories } from '../../compare/categories/categories.ts'
import type { CategoryStructure } from '../../compare/categories/category-structure.ts'
import { shortText } from '../../core/shown-text.ts'

/** What a node is called in a chart: what happens, and where. */
export interface NodeName {
  readonly name: string
  /** Service or host, and for spans whether it is the call or the reply; may be empty. */
  readonly where: string
}

/** The name of a node of a category's structure, each part at most `longest` characters. */
export function nodeName(
  categories: Categories,
  { category, node, longest }: { category: number; node: number; longest: number },
): NodeName {
  const { shape, labels } = categories.structure(category)
  const { omitHosts, label } = categories.options
  const { flows } = categories
  const text = labels[node] ?? ''
  if (label !== null) return { name: shortText(text, longest), where: '' }
  const known = flows.labels.get(flows.shapes.labels(shape)[node] ?? 0)
  const host = omitHosts ? '' : known.host
  const place = known.service === '' || host.startsWith(known.service) ? host : known.service
  const phase = known.phase === 'point' ? '' : known.phase
  return {
    name: shortText(known.operation === '' ? text : known.operation, longest),
    where: shortText([place, phase].filter((part) => part !== '').join(' · '), longest),
  }
}

/** The name of a node of a flow as it is drawn; one that begins the next round says so. */
export function drawnName(
  categories: Categories,
  flow: DrawnFlow,
  { category, node, longest }: { category: number; node: number; longest: number },
): NodeName {
  const own = nodeName(categories, { category, node: flow.nodeOf[node] as number, longest })
  if (node < flow.nextRound) return own
  return { ...own, where: own.where === '' ? 'next round' : `${own.where} · next round` }
}

/**
 * The name of a category's root on one line, by which a category is called: service and
 * operation, or trace point, without host.
 */
export function rootName(categories: Categories, category: number, longest: number): string {
  const { shape, root } = categories.structure(category)
  if (categories.options.label !== null) return shortText(root, longest)
  const { flows } = categories
  const { service, operation } = flows.labels.get(flows.shapes.labels(shape)[0] ?? 0)
  const name = [service, operation].filter((part) => part !== '').join(' ')
  return shortText(name === '' ? root : name, longest)
}

/** A category's flow as it is drawn. */
export interface DrawnFlow {
  readonly labels: readonly string[]
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** Number of each edge's class. */
  readonly classOf: Uint32Array
  /** For each node drawn the one it is, or stands for where it begins the next round. */
  readonly nodeOf: readonly number[]
  /** Nodes from this number on stand for the beginning of the next round. */
  readonly nextRound: number
}

/**
 * A category's flow as it is drawn: its nodes and edges, and in folded flows behind the last step of
 * a round a node more, for that with which the next round begins. A step from round to round
 * closes a cycle, which no drawing from top to bottom can have, but it takes time like any other.
 */
export function drawnFlow(structure: CategoryStructure): DrawnFlow {
  const { labels, from, to, classOf, classEnds, edgeClasses } = structure
  const places = new Map<number, number>()
  const loops = edgeClasses.flatMap(({ fromRoundBefore }, number) => {
    const ends = classEnds[number]
    if (!fromRoundBefore || ends === undefined) return []
    const place = places.get(ends.to) ?? labels.length + places.size
    places.set(ends.to, place)
    return [{ from: ends.from, to: place, number }]
  })
  const again = [...places.keys()]
  return {
    labels: [...labels, ...again.map((node) => `${labels[node]}, next round`)],
    from: Uint32Array.from([...from, ...loops.map((loop) => loop.from)]),
    to: Uint32Array.from([...to, ...loops.map((loop) => loop.to)]),
    classOf: Uint32Array.from([...classOf, ...loops.map(({ number }) => number)]),
    nodeOf: [...labels.keys(), ...again],
    nextRound: labels.length,
  }
}
