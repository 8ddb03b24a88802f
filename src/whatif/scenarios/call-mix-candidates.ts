// Over every call of a group: the loops index with `!`.
import { quantileMap } from '../../stats/quantile-map.ts'
import type { LatencyChange } from '../recompute/latency-change.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { type CallGroup, groupName } from './call-group.ts'
import { callRows } from './call-rows.ts'
import type { CandidateContext } from './candidate-context.ts'
import type { Feature } from './feature.ts'
import { featureWords } from './feature-words.ts'
import { onePerRequest } from './one-per-request.ts'
import type { Candidate } from './scenario.ts'
import { spreadOrder } from './spread-order.ts'

interface CallMix {
  readonly group: CallGroup
  readonly feature: Feature
  /** The kinds of calls that there are enough of. */
  readonly parts: readonly string[]
}

/**
 * What if as many calls of a group were of each kind as in the target: cache misses instead of hits,
 * say? Calls that become another kind take the same quantile of the server times of that kind, as
 * they were before. Unlike the mix of requests, this keeps all else about each request.
 *
 * None for requests as a whole, where it would be the mix of requests.
 */
export function callMixCandidates(context: CandidateContext, mix: CallMix): Candidate[] {
  const { group, feature } = mix
  const { paths, target } = context
  if (target === null || group.paths.some((path) => paths.parent(path) < 0)) return []
  return [
    {
      kind: 'partition',
      key: `mix ${feature.name} ${group.paths}`,
      title: `mix of calls to ${groupName(group)} by ${featureWords(feature.name)} as after`,
      service: group.service,
      operation: group.operation,
      path: group.paths.length === 1 ? (group.paths[0] as number) : null,
      within: () => [],
      apply: (base, to) => ({
        changes: to === null ? [] : mixedAs(base, to, mix),
        weight: null,
      }),
      evidence: (base, to) => ({
        ...{ measured: 'kinds', before: kindsOf(base, mix), after: kindsOf(to, mix) },
      }),
    },
  ]
}

/** The calls of each part, rows. */
function divided(model: RequestModel, { group, feature, parts }: CallMix): number[][] {
  const calls = callRows(model.forest, group.paths)
  const partition = feature.ofCalls?.(model, calls)
  const rows: number[][] = parts.map(() => [])
  calls.forEach((call, i) => {
    const name = partition?.names[partition.codes[i]!]
    if (name !== undefined) rows[parts.indexOf(name)]?.push(call)
  })
  return rows
}

function mixedAs(base: RequestModel, target: RequestModel, mix: CallMix): LatencyChange[] {
  const own = divided(base, mix)
  const theirs = divided(target, mix)
  const size = (rows: readonly number[][]) => rows.reduce((sum, { length }) => sum + length, 0)
  if (size(theirs) === 0) return []
  const scale = size(own) / size(theirs)
  const spare = own.map((calls, part) => calls.length - Math.round(theirs[part]!.length * scale))
  const timesOf = (calls: ArrayLike<number>) =>
    Float64Array.from(calls, (call) => base.forest.serverUs[call]!)
  const changes: LatencyChange[] = []
  own.forEach((calls, from) => {
    const order = spreadOrder(calls)
    for (let to = 0; to < own.length && spare[from]! > 0; to++) {
      const moved = Math.min(spare[from]!, -spare[to]!)
      if (moved <= 0) continue
      spare[from]! -= moved
      spare[to]! += moved
      const chosen = Uint32Array.from(order.splice(0, moved)).sort()
      const map = quantileMap(timesOf(calls), timesOf(own[to]!))
      changes.push({ calls: chosen, serverUs: timesOf(chosen).map((us) => map(us)) })
    }
  })
  return changes
}

/** The kind of one call of each request. */
function kindsOf(model: RequestModel, mix: CallMix): Float64Array {
  const kindOf = new Map<number, number>()
  divided(model, mix).forEach((calls, part) => {
    for (const call of calls) kindOf.set(call, part)
  })
  const calls = Uint32Array.from(kindOf.keys()).sort()
  return Float64Array.from(onePerRequest(model.forest, calls), (call) => kindOf.get(call)!)
}
