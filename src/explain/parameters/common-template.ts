import type { FlowForm } from '../flow-pair/flow-form.ts'

/** A place in both structures: positions in their depth-first order. */
export interface TemplateNode {
  readonly before: number
  readonly after: number
}

/**
 * The part that two structures share: walked depth first from their roots, children with equal
 * labels taken together in their order, up to the first difference on each path. A node that is
 * reached again through a join counts once.
 *
 * Source: Sambasivan 2013, §2.6.6.
 */
export function commonTemplate(before: FlowForm, after: FlowForm): TemplateNode[] {
  const seen = [new Set<number>(), new Set<number>()] as const
  const template: TemplateNode[] = []
  const pending = paired(roots(before), roots(after), [before, after])
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    if (seen[0].has(pair.before) || seen[1].has(pair.after)) continue
    seen[0].add(pair.before)
    seen[1].add(pair.after)
    template.push(pair)
    const children = paired(
      before.children[pair.before] as readonly number[],
      after.children[pair.after] as readonly number[],
      [before, after],
    )
    pending.push(...children)
  }
  return template.sort((a, b) => a.before - b.before)
}

function roots({ parents }: FlowForm): number[] {
  return parents.flatMap((above, node) => (above.length === 0 ? [node] : []))
}

/** Nodes of equal label, the first of one side with the first of the other; last to first. */
function paired(
  before: readonly number[],
  after: readonly number[],
  [a, b]: readonly [FlowForm, FlowForm],
): TemplateNode[] {
  const free = new Map<string, number[]>()
  for (const node of [...after].reverse()) {
    const label = b.labels[node] as string
    free.set(label, [...(free.get(label) ?? []), node])
  }
  return before
    .flatMap((node) => {
      const partner = free.get(a.labels[node] as string)?.pop()
      return partner === undefined ? [] : [{ before: node, after: partner }]
    })
    .reverse()
}
