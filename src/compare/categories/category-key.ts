// Runs once a span of a shape: the loops index with `!`.
import { fingerprint } from '../../core/fingerprint.ts'
import { remembered } from '../../core/remembered.ts'
import { counted, printable } from '../../core/words.ts'
import { withoutIds, withoutMachine } from '../../flows/label-parts.ts'
import { labelText, type NodeLabel } from '../../flows/node-labels.ts'
import type { Categories } from './categories.ts'

/** Returns a label as it is in other data, too: without hosts and ids. */
const lastingText = remembered((node: NodeLabel) => labelText(withoutIds(withoutMachine(node))))

/** Names a kind of request by its steps, whatever hosts it ran on and ids are in names. */
export function categoryKey(categories: Categories, category: number): string {
  const { from, to } = categories.outline(category)
  const textOf = (node: number) => lastingText(categories.nodeLabel(category, node))
  const edges = Array.from(from, (node, edge) => `${textOf(node)} > ${textOf(to[edge]!)}`)
  return `flow-${fingerprint([textOf(0), ...edges.sort()].join('\n'))}`
}

/** Returns the root of a kind of request and its number of steps. */
export function categoryText(categories: Categories, category: number): string {
  const root = lastingText(categories.nodeLabel(category, 0))
  return `${printable(root)}, ${counted(categories.nodeCount(category), 'step')}`
}
