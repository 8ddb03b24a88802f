import { quantile } from '../../stats/quantile.ts'
import type { HostClass } from './host-classes.ts'
import type { OperationSamples } from './host-samples.ts'

/**
 * Names groups of hosts by what their names have in common, without digits and separators at its
 * end: `datanode*`. One host alone keeps its name. Groups whose names would be the same are numbered,
 * the fastest first.
 */
export function nameClasses(
  groups: readonly (readonly string[])[],
  samples: readonly OperationSamples[],
): HostClass[] {
  const drafts = groups
    .map((hosts) => ({ hosts, beginning: beginning(hosts), slowness: slowness(hosts, samples) }))
    .sort(
      (a, b) =>
        compareText(a.beginning, b.beginning) ||
        (a.slowness || 0) - (b.slowness || 0) ||
        compareText(a.hosts[0] ?? '', b.hosts[0] ?? ''),
    )
  const taken = new Map<string, number>()
  for (const draft of drafts) taken.set(draft.beginning, (taken.get(draft.beginning) ?? 0) + 1)
  const numbers = new Map<string, number>()
  return drafts.map(({ hosts, beginning, slowness }) => {
    const number = (numbers.get(beginning) ?? 0) + 1
    numbers.set(beginning, number)
    const name = (taken.get(beginning) ?? 0) > 1 ? `${beginning} ${number}` : beginning
    return { name, hosts, slowness }
  })
}

function beginning(hosts: readonly string[]): string {
  const [first = '', ...others] = hosts
  if (others.length === 0) return first
  let length = first.length
  for (const host of others) {
    while (!host.startsWith(first.slice(0, length))) length--
  }
  return `${first.slice(0, length).replace(/[-_.:/0-9]+$/, '')}*`
}

/** See {@link HostClass.slowness}. */
function slowness(hosts: readonly string[], samples: readonly OperationSamples[]): number {
  const ratios = samples.flatMap(({ byHost }) => {
    const own = medianOver(hosts, byHost)
    const all = medianOver([...byHost.keys()], byHost)
    return own > 0 && all > 0 ? [own / all] : []
  })
  return quantile(Float64Array.from(ratios).sort(), 0.5)
}

/** The median of the hosts' medians, so that busy hosts count no more than others. */
function medianOver(hosts: readonly string[], byHost: ReadonlyMap<string, Float64Array>): number {
  const medians = hosts.flatMap((host) => {
    const times = byHost.get(host)
    return times === undefined ? [] : [quantile(times, 0.5)]
  })
  return quantile(Float64Array.from(medians).sort(), 0.5)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
