import { shortText } from '../../../core/shown-text.ts'
import { LatencyDiagnosis } from '../../../whatif/diagnosis/latency-diagnosis.ts'
import type { DivergenceName } from '../../../whatif/diagnosis/target-divergence.ts'
import type { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import { LatencyProfile } from '../../../whatif/recompute/latency-profile.ts'
import { RequestModel } from '../../../whatif/recompute/request-model.ts'
import { findSingleChanges } from '../../../whatif/scenarios/single-changes.ts'
import { type RequestSample, sampleRequests } from './request-sample.ts'
import { restoreRequests } from './restore-requests.ts'
import { type WhatIfCause, whatIfCauses } from './what-if-causes.ts'
import {
  type PackedProfile,
  type ProfileFacts,
  packProfile,
  profileFacts,
} from './what-if-curves.ts'
import { PARTS, type WhatIfChange, type WhatIfPart } from './what-if-state.ts'

/** What can be changed: a service, or one of its operations. */
export interface WhatIfRow {
  readonly service: string
  readonly operation: string
  /** By which share the mean would change if each of `PARTS` took half as long. */
  readonly halved: readonly number[]
}

/** A row as it travels: numbers of the sample's services and operations, −1 for all, then `halved`. */
export type PackedRow = readonly [service: number, operation: number, ...halved: number[]]

export type WhatIfUnit = 'service' | 'operation'

/** What the explorer of what-if carries into a page. */
export interface WhatIfData {
  readonly sample: RequestSample
  /** Of all requests as recorded. */
  readonly before: ProfileFacts
  /** What moves the mean most first. */
  readonly rows: Readonly<Record<WhatIfUnit, readonly PackedRow[]>>
  /** Services and operations in all of the sample. */
  readonly rowsInAll: Readonly<Record<WhatIfUnit, number>>
  readonly target: { readonly title: string; readonly profile: PackedProfile } | null
  /** `null` without a diagnosis. */
  readonly diagnosis: {
    readonly causes: readonly WhatIfCause[]
    readonly causesInAll: number
    readonly divergence: DivergenceName
    readonly unchanged: number
    readonly isComplete: boolean
  } | null
  /** What the subject is called in code, and the models. */
  readonly name: string
  readonly models: string
  readonly initial: WhatIfInitial
}

export interface WhatIfInitial {
  readonly part: WhatIfPart
  readonly by: WhatIfUnit
  readonly changes: readonly WhatIfChange[]
  /** Rank of the cause whose profile is shown; `null` for none. */
  readonly cause: number | null
}

export interface WhatIfDataOptions {
  readonly name: string
  readonly seed: number
  readonly requests: number
  readonly initial: WhatIfInitial
}

/** Characters of JSON of the sample; the whole stays below 200,000. */
const SAMPLE_SIZE = 140_000
const MOST_CAUSES = 50
const MOST_ROWS = { service: 80, operation: 120 } as const
const TARGET_POINTS = 200
const LONGEST_TITLE = 100
const NONE = -1

/** Takes a sample of the requests, the target and the causes out of models or a diagnosis. */
export function whatIfData(
  subject: ExecutionModels | LatencyDiagnosis,
  { name, seed, requests, initial }: WhatIfDataOptions,
): WhatIfData {
  const isDiagnosis = subject instanceof LatencyDiagnosis
  const models = isDiagnosis ? subject.models : subject
  const sample = sampleRequests(models, { period: 0, seed, requests, size: SAMPLE_SIZE })
  const restored = restoreRequests(sample).models
  const [services, operations] = [rowsOf(restored, 'service'), rowsOf(restored, 'operation')]
  const rows = {
    service: packRows(services.slice(0, MOST_ROWS.service), sample),
    operation: packRows(operations.slice(0, MOST_ROWS.operation), sample),
  }
  return {
    ...{ sample, rows, name, initial },
    before: profileFacts(recorded(models, 0)),
    rowsInAll: { service: services.length, operation: operations.length },
    target: targetOf(subject),
    diagnosis: isDiagnosis ? diagnosisOf(subject) : null,
    models: isDiagnosis ? `${name}.models` : name,
  }
}

function recorded(models: ExecutionModels, period: 0 | 1): LatencyProfile {
  const model = new RequestModel(models, period)
  return LatencyProfile.ofRequests(model.responseTimes([]), model.forest.weight)
}

function targetOf(subject: ExecutionModels | LatencyDiagnosis): WhatIfData['target'] {
  if (subject instanceof LatencyDiagnosis) {
    const { targetTitle, target } = subject
    return {
      title: shortText(targetTitle, LONGEST_TITLE),
      profile: packProfile(target, TARGET_POINTS),
    }
  }
  if (subject.forests.length < 2) return null
  return { title: 'after', profile: packProfile(recorded(subject, 1), TARGET_POINTS) }
}

function diagnosisOf(diagnosis: LatencyDiagnosis): WhatIfData['diagnosis'] {
  return {
    causes: whatIfCauses(diagnosis, MOST_CAUSES),
    causesInAll: diagnosis.size,
    divergence: diagnosis.options.divergence,
    unchanged: diagnosis.divergence,
    isComplete: diagnosis.state === 'complete',
  }
}

function packRows(rows: readonly WhatIfRow[], sample: RequestSample): PackedRow[] {
  const [services, operations] = [sample.services, sample.operations].map(
    (names) => new Map(names.map((name, number) => [name, number])),
  ) as [Map<string, number>, Map<string, number>]
  return rows.map(({ service, operation, halved }) => [
    services.get(service) ?? NONE,
    operation === '' ? NONE : (operations.get(operation) ?? NONE),
    ...halved,
  ])
}

/** What has a slider. */
export function whatIfRows({ rows, sample }: WhatIfData, by: WhatIfUnit): WhatIfRow[] {
  return rows[by].map(([service, operation, ...halved]) => ({
    ...{ service: sample.services[service] ?? '', halved },
    operation: sample.operations[operation] ?? '',
  }))
}

/** Everything that can be changed, with what half of each of its times would do. */
function rowsOf(models: ExecutionModels, by: WhatIfUnit): WhatIfRow[] {
  const found = new Map<string, { service: string; operation: string; halved: number[] }>()
  for (const part of PARTS) {
    const { before, changes } = findSingleChanges(models, { part, by, factors: [0.5] })
    for (const { service, operation, effects } of changes) {
      const key = JSON.stringify([service, operation])
      const row = found.get(key) ?? { service, operation, halved: [] }
      found.set(key, row)
      const share = before.meanUs > 0 ? (effects[0]?.meanUs ?? 0) / before.meanUs - 1 : 0
      row.halved.push(Number(share.toPrecision(3)))
    }
  }
  // The first part's order: what its server's time does.
  return [...found.values()]
}
