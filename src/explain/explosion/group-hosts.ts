// Merging hundreds of hosts looks at every pair of groups again and again: the loops index with `!`.
import type { HostPairs } from './compare-hosts.ts'

/**
 * Groups hosts that are alike. Groups are merged, the most alike first, while no more than half of
 * the pairs across them differ: a host stays apart when it differs from more than half of its peers,
 * so that neither one false alarm splits a group nor one host in between joins two.
 *
 * Hosts that have too few spans to be compared with anybody join the largest group that does the
 * same work; hosts with no operation in common are never in one group.
 *
 * @returns groups of numbers of hosts, ascending
 *
 * Source: Kasick et al. 2010, peer comparison (in Sambasivan 2013, §3.5.3); average linkage.
 */
export function groupHosts(pairs: HostPairs): number[][] {
  const groups = pairs.hosts.map((_, host) => [host])
  const compared = (host: number) =>
    pairs.hosts.some((_, other) => other !== host && pairs.pair(host, other).tests > 0)
  const isCompared = groups.map((_, host) => compared(host))
  const merged = mergeAlike(
    groups.filter((_, host) => isCompared[host]),
    pairs,
  )
  return joinUncompared(
    merged,
    groups.filter((_, host) => !isCompared[host]),
    pairs,
  ).map((hosts) => hosts.sort((a, b) => a - b))
}

/** What is known across two groups: sums over the pairs of hosts that could be compared. */
interface Across {
  tested: number
  different: number
  statistic: number
}

function mergeAlike(singles: number[][], pairs: HostPairs): number[][] {
  const groups: (number[] | null)[] = [...singles]
  const across: Across[][] = singles.map(([one], i) =>
    singles.slice(0, i).map(([other]) => {
      const { tests, different, statistic } = pairs.pair(one!, other!)
      const tested = Number(tests > 0)
      return { tested, different: Number(different), statistic: tested === 0 ? 0 : statistic }
    }),
  )
  const between = (a: number, b: number) => (a > b ? across[a]![b]! : across[b]![a]!)
  for (;;) {
    const best = mostAlike(groups, across)
    if (best === null) return groups.filter((group) => group !== null)
    const [into, gone] = best
    groups[into] = [...groups[into]!, ...groups[gone]!]
    groups[gone] = null
    for (let other = 0; other < groups.length; other++) {
      if (groups[other] === null || other === into) continue
      const [sum, more] = [between(into, other), between(gone, other)]
      sum.tested += more.tested
      sum.different += more.different
      sum.statistic += more.statistic
    }
  }
}

/** The two groups with the smallest share of different pairs, then the smallest mean statistic. */
function mostAlike(groups: (number[] | null)[], across: Across[][]): [number, number] | null {
  let best: [number, number] | null = null
  let leastShare = 0.5
  let leastStatistic = Number.POSITIVE_INFINITY
  for (let a = 1; a < groups.length; a++) {
    if (groups[a] === null) continue
    for (let b = 0; b < a; b++) {
      if (groups[b] === null) continue
      const { tested, different, statistic } = across[a]![b]!
      if (tested === 0) continue
      const share = different / tested
      if (share > leastShare) continue
      if (share === leastShare && statistic / tested >= leastStatistic) continue
      leastShare = share
      leastStatistic = statistic / tested
      best = [b, a]
    }
  }
  return best
}

function joinUncompared(merged: number[][], singles: number[][], pairs: HostPairs): number[][] {
  const groups = merged.map((hosts) => [...hosts])
  const size = (group: readonly number[]) => group.length
  const all = [...groups]
  for (const [host] of singles) {
    const peers = all
      .filter((group) => group.some((other) => pairs.pair(host!, other).peers))
      .sort((a, b) => size(b) - size(a))
    if (peers[0] === undefined) all.push([host!])
    else peers[0].push(host!)
  }
  return all
}
