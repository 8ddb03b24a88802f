// Over every call of a service: the loops index with `!`.
import { OptionError } from '../../core/errors.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { isEntry } from './call-group.ts'
import { predictAtLoad } from './load-curve.ts'
import type { HostChange } from './load-queues.ts'
import { matchingPaths } from './scale-calls.ts'
import type { Scenario } from './scenario.ts'

/** What becomes of the load: of all requests, or of one service's calls where one is named. */
export type LoadChange = { readonly service?: string } & (
  | { readonly factor: number }
  | { readonly perSecond: number }
  /** Hosts that the service has more, or fewer (negative): each has a queue, or all share one, as times before tell. */
  | { readonly hosts: number }
)

/**
 * Describes a scenario in which more or fewer requests come, or fewer hosts serve them. How long calls
 * take at which load is learned from the same period (`predictAtLoad`); what a call takes longer is added
 * to its reply.
 *
 * @throws OptionError for a load that is not above 0; when applied, for a service that no call has, or a
 *   number of hosts that leaves none; FlowdeltaError, when applied, where nothing can be predicted
 *
 * @example
 * scaleLoad({ factor: 2 }).title // 'load × 2'
 */
export function scaleLoad(change: LoadChange): Scenario {
  const { service = '' } = change
  const size = 'factor' in change ? change.factor : 'perSecond' in change ? change.perSecond : 1
  if (!(size > 0 && size < Number.POSITIVE_INFINITY)) {
    throw new OptionError('load', size, 'a number above 0')
  }
  return {
    kind: 'load',
    service,
    operation: '',
    path: null,
    title: titleOf(change),
    apply(base) {
      const calls = callsOf(base, service)
      const { forest } = base
      const { startUs } = forest.traces.spans
      const hosts = 'hosts' in change ? hostChange(change, base, calls) : undefined
      const { shiftUs, limits } = predictAtLoad(
        {
          startUs: Float64Array.from(calls, (call) => startUs[forest.serverSpan[call]!]!),
          timeUs: Float64Array.from(calls, (call) => forest.serverUs[call]!),
          weight: Float64Array.from(calls, (call) => forest.weight[forest.request[call]!]!),
        },
        (perSecond) => {
          if ('factor' in change) return perSecond * change.factor
          if ('perSecond' in change) return change.perSecond
          return hosts === undefined ? perSecond : (perSecond * hosts.before) / hosts.after
        },
        hosts,
      )
      const replyUs = shiftUs.map((us, i) => base.replyUs[calls[i]!]! + us)
      return { changes: [{ calls, replyUs }], weight: null, limits }
    },
  }
}

function titleOf(change: LoadChange): string {
  const { service = '' } = change
  const whose = service === '' ? 'load' : `load of ${service}`
  if ('factor' in change) return `${whose} × ${change.factor}`
  if ('perSecond' in change) return `${whose} ${change.perSecond}/s`
  const count = Math.abs(change.hosts)
  const word = count === 1 ? 'host' : 'hosts'
  return `${service} with ${count} ${change.hosts < 0 ? `${word} fewer` : `more ${word}`}`
}

/** Requests, or the calls of a service that come from elsewhere; ascending. */
function callsOf({ forest, models }: RequestModel, service: string): Uint32Array {
  if (service === '') return forest.requestOffsets.slice(0, -1)
  const { paths } = models
  const members = new Set(matchingPaths(paths, { service, operation: '' }))
  return Uint32Array.from(forest.path.keys()).filter((call) => {
    const path = forest.path[call]!
    return members.has(path) && isEntry(paths, path)
  })
}

function hostChange(
  change: { readonly service?: string; readonly hosts: number },
  { forest }: RequestModel,
  calls: Uint32Array,
): HostChange {
  const { spans } = forest.traces
  const of = Uint32Array.from(calls, (call) => spans.host[forest.serverSpan[call]!]!)
  const before = new Set(of).size
  const after = before + change.hosts
  if (after >= 1) return { of, before, after }
  throw new OptionError(
    'hosts',
    change.hosts,
    `a number above −${before}: ${change.service} has ${before}`,
  )
}
