import { FlowdeltaError, OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { counted, grouped } from '../../../core/words.ts'
import { requireCount, requireOneOf } from '../../../stats/require-option.ts'
import { LatencyDiagnosis } from '../../../whatif/diagnosis/latency-diagnosis.ts'
import { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { type WhatIfData, whatIfData } from './what-if-data.ts'
import { WhatIfPicture } from './what-if-picture.tsx'
import { PARTS, type WhatIfChange, type WhatIfPart } from './what-if-state.ts'

/** How what-if is explored. */
export interface WhatIfOptions {
  /**
   * Which time the sliders change at first: `'server'` what calls take in a service with all that it
   * calls, `'network'` between callers and it, `'preprocessing'` what it does itself. Default
   * `'server'`.
   */
  readonly part?: WhatIfPart
  /** What has a slider of its own: services, or each of their operations. Default `'service'`. */
  readonly by?: 'service' | 'operation'
  /** What is changed at first. Default: nothing. */
  readonly changes?: readonly {
    readonly service: string
    readonly operation?: string
    /** As `part` above; the same default. */
    readonly part?: WhatIfPart
    /** How many times as long, from 0 up. */
    readonly factor: number
  }[]
  /** Rank of the cause whose profile is shown at first, of a diagnosis. Default `null`: none. */
  readonly cause?: number | null
  /** Most requests that are recomputed in the page. Default 1,500. */
  readonly requests?: number
  /** Chooses the requests. Default 1. */
  readonly seed?: number
  /** What the subject is called in code. Default `'diagnosis'` or `'models'`. */
  readonly name?: string
}

const OPTIONS = ['part', 'by', 'changes', 'cause', 'requests', 'seed', 'name']

/**
 * What if a service were faster or slower? A slider for each: dragging one recomputes the requests
 * before, in the page and by the same code as `applyScenario`, and redraws the profile of response
 * times, with p50, p90 and p99 before, with the change, and of the target. Of a diagnosis, its causes
 * stand beside, to be opened and laid over the profile.
 *
 * Only a sample of the requests goes into the page, as many as fit into 200 kB: every k-th by response
 * time from a random one on, times rounded to five digits. The code below the widget gives the
 * prediction for all of them. The target's and the causes' profiles are of all requests.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3 and §4.
 *
 * @param subject from `diagnoseLatency`, or from `learnExecutionModels`: of two periods, the second is
 *   the target
 * @param options see {@link WhatIfOptions}
 * @throws OptionError for an option out of range; FlowdeltaError for an unknown one, and where no
 *   request is small enough for a page
 *
 * @example
 * exploreWhatIf(learnExecutionModels([before, after])).title // 'What if?'
 */
export function exploreWhatIf(
  subject: LatencyDiagnosis | ExecutionModels,
  options: WhatIfOptions = {},
): Widget {
  rejectUnknownOptions(options, OPTIONS)
  const isDiagnosis = subject instanceof LatencyDiagnosis
  if (!isDiagnosis && !(subject instanceof ExecutionModels)) {
    throw new OptionError('subject', subject, 'what diagnoseLatency or learnExecutionModels gives')
  }
  const { part = 'server', by = 'service', cause = null, requests = 1500, seed = 1 } = options
  const { name = isDiagnosis ? 'diagnosis' : 'models' } = options
  requireOneOf('part', part, PARTS)
  requireOneOf('by', by, ['service', 'operation'])
  requireCount('requests', requests)
  const changes = (options.changes ?? []).map((change, i) => checkedChange(change, i))
  const data = whatIfData(subject, { name, seed, requests, initial: { part, by, changes, cause } })
  requireCause(data, cause)
  for (const change of changes) requireSampled(data, change)
  return new Widget({
    ...{ view: 'what-if', title: 'What if?', data },
    description: description(data),
    picture: () => renderSvg(WhatIfPicture({ data })),
  })
}

function checkedChange(
  change: NonNullable<WhatIfOptions['changes']>[number],
  i: number,
): WhatIfChange {
  const { service, operation = '', part = 'server', factor } = change
  requireOneOf(`changes[${i}].part`, part, PARTS)
  if (!(factor >= 0 && factor < Number.POSITIVE_INFINITY)) {
    throw new OptionError(`changes[${i}].factor`, factor, 'a number from 0 up')
  }
  return { service, operation, part, factor }
}

function requireCause({ diagnosis }: WhatIfData, cause: number | null): void {
  if (cause === null) return
  const causes = diagnosis?.causes ?? []
  if (causes.some(({ rank }) => rank === cause)) return
  const most =
    causes.length === 0 ? 'null: there are no causes' : 'the rank of one of the best causes'
  throw new OptionError('cause', cause, most)
}

/** What is in no request of the sample has no slider. */
function requireSampled({ sample }: WhatIfData, { service, operation }: WhatIfChange): void {
  const { services, operations, paths } = sample
  const isThere = paths.some(
    ([, ofService, ofOperation]) =>
      services[ofService] === service &&
      (operation === '' || operations[ofOperation] === operation),
  )
  if (isThere) return
  throw new FlowdeltaError(
    `No request of the sample calls ${service}${operation === '' ? '' : ` ${operation}`}. Give a service that is called, or raise requests.`,
  )
}

function description({ sample, target }: WhatIfData): string {
  const { shapeOf, ofRequests } = sample
  const size =
    shapeOf.length === ofRequests
      ? counted(ofRequests, 'request')
      : `${grouped(shapeOf.length)} of ${counted(ofRequests, 'request')}`
  return `Drag a service’s speed, and the response times of ${size} follow${target === null ? '' : `, beside those of ${target.title}`}.`
}
