import type { Categories } from '../../compare/categories/categories.ts'
import { shortText } from '../../core/shown-text.ts'
import type { DrawnFlow } from './drawn-flow.ts'

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
