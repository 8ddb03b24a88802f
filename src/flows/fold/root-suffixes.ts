import { labelText, type NodeLabel, type NodeLabels } from '../node-labels.ts'
import type { FoldedGraph } from './folded-graph.ts'
import { type KeyOptions, structureKey } from './structure-key.ts'

/** A folded flow and what its root's label is to say of its size. */
export interface SizedGraph {
  readonly graph: FoldedGraph
  readonly size: string
}

/**
 * What goes behind the label of each root: the size, and where that is not enough to tell
 * structures apart, as two loops may become one flow with and without a step from round to round,
 * a few letters that name the structure. So categories of folded flows stay one-to-one with the
 * structures they had, with hosts and, near enough always, without. The letters also tell a root from
 * one that was recorded by that name, size and all.
 *
 * @param options.roots label codes of the roots as they were recorded
 */
export function rootSuffixes(
  flows: readonly SizedGraph[],
  labels: NodeLabels,
  { timesOf, roots }: { timesOf: (times: number) => string; roots: ReadonlySet<number> },
): string[] {
  const recordedRoots = new Set(
    [...roots].flatMap((label) => [labels.text(label), withoutHost(labels.get(label))]),
  )
  const withHosts = (label: number) => labels.text(label)
  const withoutHosts = (label: number) => withoutHost(labels.get(label))
  const suffixes = flows.map(({ size }) => size)
  for (const textOf of [withoutHosts, withHosts]) {
    const key = (timesOf: KeyOptions['timesOf']) => (flow: SizedGraph, i: number) =>
      `${suffixes[i]} ${structureKey(flow.graph, { textOf, timesOf })}`
    const shown = flows.map(key(null))
    const whole = flows.map(key(timesOf))
    const structures = new Map<string, Set<string>>()
    shown.forEach((look, i) => {
      const known = structures.get(look) ?? new Set()
      structures.set(look, known.add(whole[i] as string))
    })
    shown.forEach((look, i) => {
      if ((structures.get(look)?.size ?? 0) < 2) return
      suffixes[i] += ` #${(whole[i] as string).split(' ').at(-1)}`
    })
  }
  flows.forEach(({ graph }, i) => {
    const root = labels.get(graph.labels[0] as number)
    const label = { ...root, operation: `${root.operation} ${suffixes[i]}` }
    const isTaken = recordedRoots.has(labelText(label)) || recordedRoots.has(withoutHost(label))
    if (!isTaken || (suffixes[i] as string).includes(' #')) return
    const key = structureKey(graph, { textOf: withHosts, timesOf })
    suffixes[i] += ` #${key}`
  })
  return suffixes
}

function withoutHost(label: NodeLabel): string {
  return labelText({ ...label, host: '' })
}
