import type { ExecutionModel } from '../../whatif/models/execution-models.ts'

/** Calls of a model that are drawn as one: equal ones at the same time, or one after the other. */
export interface CallGroup {
  /** Nodes of the model, ascending. */
  readonly nodes: readonly number[]
  readonly inSequence: boolean
  /** Groups it waits for; none: the start. */
  readonly waitsFor: readonly number[]
}

/** A model with its groups in an order in which each comes after those it waits for. */
export interface GroupedModel {
  readonly groups: readonly CallGroup[]
  /** Groups that the reply waits for; none: the start. */
  readonly replyWaitsFor: readonly number[]
}

interface Growing {
  nodes: number[]
  inSequence: boolean
  name: string
  before: Set<Growing>
  after: Set<Growing | 'reply'>
}

/**
 * Puts calls together that are calls to the same and wait for the same, as do those that wait for
 * them; then those of which one is just after the other.
 */
export function groupedModel({
  nodes,
  predecessors,
  returnPredecessors,
}: Pick<ExecutionModel, 'nodes' | 'predecessors' | 'returnPredecessors'>): GroupedModel {
  const grown = nodes.map(
    ({ service, operation }, node): Growing => ({
      ...{ nodes: [node], inSequence: false, name: JSON.stringify([service, operation]) },
      ...{ before: new Set(), after: new Set() },
    }),
  )
  grown.forEach((group, node) => {
    for (const before of predecessors[node] ?? []) link(grown[before] as Growing, group)
  })
  for (const last of returnPredecessors) (grown[last] as Growing).after.add('reply')
  return finished(inSequence(sideBySide(grown)))
}

function link(before: Growing, after: Growing): void {
  before.after.add(after)
  after.before.add(before)
}

/** Merges equal calls with the same neighbours. */
function sideBySide(groups: readonly Growing[]): Growing[] {
  const numbers = new Map(groups.map((group, i) => [group, i]))
  const numbersOf = (set: ReadonlySet<Growing | 'reply'>) =>
    Array.from(set, (each) => (each === 'reply' ? -1 : (numbers.get(each) as number)))
      .sort((a, b) => a - b)
      .join()
  const first = new Map<string, Growing>()
  return groups.filter((group) => {
    const key = [group.name, numbersOf(group.before), numbersOf(group.after)].join('|')
    const same = first.get(key)
    if (same === undefined) {
      first.set(key, group)
      return true
    }
    same.nodes.push(...group.nodes)
    for (const before of group.before) before.after.delete(group)
    for (const after of group.after) if (after !== 'reply') after.before.delete(group)
    return false
  })
}

/** Merges single calls that only follow an equal one. */
function inSequence(groups: readonly Growing[]): Growing[] {
  const gone = new Set<Growing>()
  for (const group of groups) {
    if (gone.has(group)) continue
    for (;;) {
      const [next] = group.after
      if (group.after.size !== 1 || next === undefined || next === 'reply') break
      const isAlone = group.nodes.length === 1 || group.inSequence
      if (next.name !== group.name || next.before.size !== 1) break
      if (!isAlone || (next.nodes.length > 1 && !next.inSequence)) break
      group.nodes.push(...next.nodes)
      group.inSequence = true
      group.after = next.after
      for (const after of next.after) {
        if (after === 'reply') continue
        after.before.delete(next)
        after.before.add(group)
      }
      gone.add(next)
    }
  }
  return groups.filter((group) => !gone.has(group))
}

function finished(groups: readonly Growing[]): GroupedModel {
  const order: Growing[] = []
  const placed = new Set<Growing>()
  while (order.length < groups.length) {
    const ready = groups.filter(
      (group) => !placed.has(group) && [...group.before].every((each) => placed.has(each)),
    )
    // An order without circles always has one that is ready.
    if (ready.length === 0) break
    for (const group of ready) {
      placed.add(group)
      order.push(group)
    }
  }
  const place = new Map(order.map((group, i) => [group, i]))
  return {
    groups: order.map(({ nodes, inSequence: isSequence, before }) => ({
      nodes: [...nodes].sort((a, b) => a - b),
      inSequence: isSequence,
      waitsFor: Array.from(before, (each) => place.get(each) as number).sort((a, b) => a - b),
    })),
    replyWaitsFor: order.flatMap(({ after }, i) => (after.has('reply') ? [i] : [])),
  }
}
