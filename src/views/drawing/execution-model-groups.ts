import { ascending } from 'd3-array'
import type { ExecutionModel } from '../../whatif/models/execution-models.ts'

export type CallGroup = ReturnType<typeof groupedModel>['groups'][number]

interface Growing {
  readonly name: string
  readonly nodes: number[]
  inSequence: boolean
  readonly before: Set<Growing>
  after: Set<Growing>
}

/** Puts equal calls together that wait for the same, then those that just follow one another. */
export function groupedModel(
  model: Pick<ExecutionModel, 'nodes' | 'predecessors' | 'returnPredecessors'>,
) {
  const { nodes, predecessors, returnPredecessors } = model
  const names = nodes.map(({ service, operation }) => JSON.stringify([service, operation]))
  const grown = [...names, 'reply'].map((name, node): Growing => {
    return { name, nodes: [node], inSequence: false, before: new Set(), after: new Set() }
  })
  const links = [...predecessors, returnPredecessors]
  grown.forEach((group, node) => {
    for (const number of links[node] ?? []) {
      const before = grown[number] as Growing
      before.after.add(group)
      group.before.add(before)
    }
  })
  const reply = grown.at(-1) as Growing
  const order = inOrder(inSequence(sideBySide(grown))).filter((group) => group !== reply)
  const places = new Map(order.map((group, i) => [group, i]))
  const placesOf = (groups: ReadonlySet<Growing>) =>
    Array.from(groups, (group) => places.get(group) as number).sort(ascending)
  return {
    groups: order.map(({ nodes: members, inSequence: isSequence, before }) => ({
      nodes: members.sort(ascending),
      inSequence: isSequence,
      /** Groups; none for the start. */
      waitsFor: placesOf(before),
    })),
    replyWaitsFor: placesOf(reply.before),
  }
}

function sideBySide(groups: readonly Growing[]): Growing[] {
  const numbers = new Map(groups.map((group, i) => [group, i]))
  const numbersOf = (set: ReadonlySet<Growing>) =>
    Array.from(set, (each) => numbers.get(each) as number).sort(ascending)
  const first = new Map<string, Growing>()
  return groups.filter((group) => {
    const key = JSON.stringify([group.name, numbersOf(group.before), numbersOf(group.after)])
    const same = first.get(key)
    if (same === undefined) {
      first.set(key, group)
      return true
    }
    same.nodes.push(...group.nodes)
    for (const before of group.before) before.after.delete(group)
    for (const after of group.after) after.before.delete(group)
    return false
  })
}

function inSequence(groups: readonly Growing[]): Growing[] {
  const gone = new Set<Growing>()
  const isSingle = ({ nodes, inSequence: isSequence }: Growing) => nodes.length === 1 || isSequence
  for (const group of groups) {
    if (gone.has(group)) continue
    for (;;) {
      const [next, other] = group.after
      if (next === undefined || other !== undefined || next.before.size !== 1) break
      if (next.name !== group.name || !isSingle(group) || !isSingle(next)) break
      group.nodes.push(...next.nodes)
      group.inSequence = true
      group.after = next.after
      for (const after of next.after) {
        after.before.delete(next)
        after.before.add(group)
      }
      gone.add(next)
    }
  }
  return groups.filter((group) => !gone.has(group))
}

function inOrder(groups: readonly Growing[]): Growing[] {
  const placed = new Set<Growing>()
  for (let ready = groups; ready.length > 0; ) {
    ready = groups.filter(
      (group) => !placed.has(group) && [...group.before].every((each) => placed.has(each)),
    )
    for (const group of ready) placed.add(group)
  }
  return [...placed]
}
