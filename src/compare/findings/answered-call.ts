import type { Categories } from '../categories/categories.ts'
import type { AnsweredCall } from './finding.ts'

/**
 * The call to another service than `service` whose reply comes last before a node, if only replies
 * lie between: what it answered may be why the flow goes on as it does.
 */
export function answeredCall(
  categories: Categories,
  { category, at, service }: { category: number; at: number; service: string },
): AnsweredCall | null {
  const { labels, from, to } = categories.structure(category)
  const before = (node: number) =>
    Array.from(to.keys())
      .filter((edge) => to[edge] === node)
      .map((edge) => from[edge] as number)
  let reply = at
  for (;;) {
    const label = categories.nodeLabel(category, reply)
    if (label.phase !== 'reply') return null
    if (label.service !== service) break
    const [only, ...others] = before(reply)
    if (only === undefined || others.length > 0) return null
    reply = only
  }
  const { service: called, operation } = categories.nodeLabel(category, reply)
  const within = new Set([reply])
  for (const node of within) {
    const label = categories.nodeLabel(category, node)
    const isCall =
      label.phase === 'call' && label.service === called && label.operation === operation
    if (isCall) continue
    for (const earlier of before(node)) within.add(earlier)
  }
  const others = [...within].map((node) => categories.nodeLabel(category, node).service)
  return {
    ...{ service: called, operation },
    restsOn: [...new Set(others)].filter((other) => other !== called),
    labels: new Set([...within].map((node) => labels[node] as string)),
  }
}
