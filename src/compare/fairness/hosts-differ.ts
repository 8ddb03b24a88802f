import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'
import { firstOf } from './number-text.ts'

/** Whether services run on other hosts than before, while hosts are part of node labels. */
export function hostsDiffer({ flows, options }: ComparedPeriods): ComparisonWarning[] {
  if (options.omitHosts) return []
  const before = hostsByService(flows, BEFORE)
  const after = hostsByService(flows, AFTER)
  const moved = [...before].filter(([service, hosts]) => {
    const now = after.get(service)
    return now !== undefined && [...hosts].every((host) => !now.has(host))
  })
  if (moved.length === 0) return []
  const services = firstOf(
    moved.map(([service]) => service),
    { most: 10 },
  )
  return [
    warning('hosts-differ', {
      finding: `${services}: no host of the before period serves in the after period.`,
      effect: 'Every request through them looks like a new structure.',
      answer: 'Leave hosts out of labels with `omitHosts: true` (--omit-hosts).',
    }),
  ]
}

function hostsByService({ shapeOf, shapes, labels, period }: FlowSet, wanted: Period) {
  const used = new Set<number>()
  period.forEach((of, request) => {
    if (of === wanted) used.add(shapeOf[request] as number)
  })
  const hosts = new Map<string, Set<string>>()
  for (const shape of used) {
    for (const code of shapes.labels(shape)) {
      const { service, host } = labels.get(code)
      if (host === '' || service === '') continue
      const known = hosts.get(service)
      if (known === undefined) hosts.set(service, new Set([host]))
      else known.add(host)
    }
  }
  return hosts
}
