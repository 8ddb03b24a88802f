// Runs once a span of a shape: the loops index with `!`.
import { fingerprint } from '../../core/fingerprint.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { counted, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { withoutIds, withoutMachine } from '../../flows/label-parts.ts'
import { labelText, type NodeLabel } from '../../flows/node-labels.ts'
import { areFromSpans, spanTree } from '../../flows/span-tree.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import { namesOf, withoutNames } from '../knowledge/names.ts'
import type { StructureOutline } from './structure-outline.ts'

/** The parts of `Categories` that are needed here. A type of its own, because `Categories` itself calls for names. */
interface Categories {
  readonly flows: FlowSet
  readonly options: { readonly knowledge: Knowledge | null }
  outline(category: number): StructureOutline
  nodeLabel(category: number, node: number): NodeLabel
  nodeCount(category: number): number
  members(category: number, period: Period): Uint32Array
}

/** A call of a flow with all that it calls, in whatever order and however often. */
export interface Part {
  readonly key: string
  readonly node: NodeLabel
  /** Key of the call that makes it; `null` for that of the request. */
  readonly within: string | null
  /** Calls in it, itself included. */
  readonly calls: number
  /** Numbers of the parts it calls, in the list that it stands in. */
  readonly children: readonly number[]
}

/** Labels as they are in other data: without hosts and ids, and as they were recorded. */
const lastingTexts = remembered(({ options: { knowledge } }: Categories) =>
  remembered(({ service, operation, ...rest }: NodeLabel) => {
    const recorded = (text: string) => withoutNames(text, knowledge)
    const node = { ...rest, service: recorded(service), operation: recorded(operation) }
    return labelText(withoutIds(withoutMachine(node)))
  }),
)

/** Names a kind of request by its steps, whatever hosts it ran on and ids are in names. */
export function categoryKey(categories: Categories, category: number): string {
  const { from, to } = categories.outline(category)
  const textOf = (node: number) => lastingTexts(categories)(categories.nodeLabel(category, node))
  const edges = Array.from(from, (node, edge) => `${textOf(node)} > ${textOf(to[edge]!)}`)
  return `flow-${fingerprint([textOf(0), ...edges.sort()].join('\n'))}`
}

/** Returns the id of an edge in a knowledge file. */
export function edgeKey(categories: Categories, ends: readonly NodeLabel[]): string {
  return `edge:${ends.map(lastingTexts(categories)).join(' → ')}`
}

/** Returns the root of a kind of request and its number of steps. */
export function categoryText(categories: Categories, category: number): string {
  const root = lastingTexts(categories)(categories.nodeLabel(category, 0))
  return `${printable(root)}, ${counted(categories.nodeCount(category), 'step')}`
}

const partsBy = remembered((categories: Categories) =>
  memoized((category: number) => findParts(categories, category)),
)

/** Returns the calls of a category, callers first; none of trace points, which do not call. */
export function partsOf(categories: Categories, category: number): readonly Part[] {
  return partsBy(categories)(category)
}

function findParts(categories: Categories, category: number): readonly Part[] {
  const flows =
    categories.flows instanceof FoldedFlows ? categories.flows.unfolded : categories.flows
  const [request] = [BEFORE, AFTER].flatMap((period) => [...categories.members(category, period)])
  if (request === undefined || !areFromSpans(flows)) return []
  const shape = flows.shapeOf[request]!
  const { size, parent, firstChild } = spanTree(flows, shape)
  const nodes = flows.shapes.labels(shape)
  const [keys, calls] = [new Array<string>(size), new Uint32Array(size).fill(1)]
  // Callers come before what they call.
  for (let span = size - 1; span >= 0; span--) {
    const called = new Set<string>()
    for (let child = firstChild[span]!; child < firstChild[span + 1]!; child++) {
      called.add(keys[child]!)
      calls[span]! += calls[child]!
    }
    const own = lastingTexts(categories)(flows.labels.get(nodes[2 * span]!))
    keys[span] = `part-${fingerprint([own, ...[...called].sort()].join('\n'))}`
  }
  return keys.map((key, span) => ({
    key,
    node: flows.labels.get(nodes[2 * span]!),
    within: parent[span]! < 0 ? null : keys[parent[span]!]!,
    calls: calls[span]!,
    children: Array.from(
      { length: firstChild[span + 1]! - firstChild[span]! },
      (_, child) => firstChild[span]! + child,
    ),
  }))
}

/**
 * Returns the name that people gave a category: its own, or those of the parts in it, such as `cache miss and 2 × fetch
 * a block`; the empty string if none has a name. Names within a named part are left out. Source: Sambasivan 2013,
 * §8.2.2.
 */
export function meaningOf(categories: Categories, category: number): string {
  const names = namesOf(categories.options.knowledge)
  if (names.length === 0) return ''
  const known = new Map(names.map(({ about, name }) => [about, printable(name)]))
  const own = known.get(categoryKey(categories, category))
  if (own !== undefined) return own
  const parts = partsOf(categories, category)
  const counts = new Map<string, number>()
  const pending = parts.length === 0 ? [] : [0]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const name = known.get(parts[part]!.key)
    if (name === undefined) pending.push(...parts[part]!.children.toReversed())
    else counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const told = Array.from(counts, ([name, count]) => (count === 1 ? name : `${count} × ${name}`))
  return told.join(', ')
}
