import type { CallName, CallPaths } from '../../../calls/call-paths.ts'
import { shortText, tooltipText } from '../../../core/words.ts'
import { LatencyDiagnosis } from '../../../whatif/diagnosis/latency-diagnosis.ts'
import type { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import {
  type LatencyProfile,
  profileOf,
  profileSummary,
} from '../../../whatif/recompute/latency-profile.ts'
import { RequestModel } from '../../../whatif/recompute/request-model.ts'
import { findSingleChanges } from '../../../whatif/scenarios/single-changes.ts'
import { diagnosisRows } from '../../charts/diagnosis-rows.ts'
import { restoreRequests, sampleRequests } from './request-sample.ts'
import { PARTS, type WhatIfUnit } from './what-if-options.ts'
import { carriedProfile } from './what-if-profiles.tsx'

export interface WhatIfRow extends CallName {
  /** Shares by which the mean would change if each of `PARTS` took half as long. */
  readonly halved: readonly number[]
}

/** A row as a page carries it: a path of calls that ends there, then `halved`. */
type CarriedRow = readonly [path: number, ...halved: number[]]

export type WhatIfCause = WhatIfDiagnosis['causes'][number]

export type WhatIfDiagnosis = ReturnType<typeof carriedDiagnosis>

export type WhatIfData = ReturnType<typeof whatIfData>

/** Characters of JSON of the sample; the whole stays below 200,000. */
const SAMPLE_SIZE = 165_000
const MAX_CAUSES = 50
const MAX_ROWS = { service: 80, operation: 120 }
const TARGET_POINTS = 200
const CAUSE_POINTS = 40
const MAX_TITLE_LENGTH = 100

export function whatIfData(
  subject: ExecutionModels | LatencyDiagnosis,
  { seed, requests }: { readonly seed: number; readonly requests: number },
) {
  const diagnosis = subject instanceof LatencyDiagnosis ? subject : null
  const models = subject instanceof LatencyDiagnosis ? subject.models : subject
  const sample = sampleRequests(models, { seed, requests, size: SAMPLE_SIZE })
  const sampled = restoreRequests(sample).models
  const [service, operation] = [rowsOf(sampled, 'service'), rowsOf(sampled, 'operation')]
  return {
    sample,
    before: profileSummary(recorded(models, 0)),
    rows: {
      service: service.slice(0, MAX_ROWS.service),
      operation: operation.slice(0, MAX_ROWS.operation),
    },
    /** Number of rows in the sample. */
    rowsInAll: { service: service.length, operation: operation.length },
    target: targetOf(subject),
    diagnosis: diagnosis === null ? null : carriedDiagnosis(diagnosis),
  }
}

function recorded(models: ExecutionModels, period: 0 | 1): LatencyProfile {
  return profileOf(new RequestModel(models, period).recorded)
}

function targetOf(subject: ExecutionModels | LatencyDiagnosis) {
  if (subject instanceof LatencyDiagnosis) {
    const title = shortText(subject.targetTitle, MAX_TITLE_LENGTH)
    return { title, profile: carriedProfile(subject.target, TARGET_POINTS) }
  }
  if (subject.forests.length < 2) return null
  return { title: 'after', profile: carriedProfile(recorded(subject, 1), TARGET_POINTS) }
}

/** Lists the best causes and those they lie within, which stand before them. */
function carriedDiagnosis(diagnosis: LatencyDiagnosis) {
  const rows = diagnosisRows(diagnosis, MAX_CAUSES)
  const placeOf = new Map(rows.map(({ cause }, place) => [cause.rank, place]))
  const short = (value: number) => Number(value.toPrecision(4))
  const causes = rows.map(({ cause, level }) => {
    const { rank, scenario, significant, touched, gain, divergence, q, parent } = cause
    return {
      rank,
      title: tooltipText(scenario.title),
      /** Share of the divergence by which it is closer to the target; negative if it is further. */
      gain: short(gain),
      divergence: short(divergence),
      q: Number.isFinite(q) ? short(q) : null,
      significant,
      touched,
      profile: carriedProfile(diagnosis.profile(rank).profile, CAUSE_POINTS),
      /** Place in the list of the cause it lies within, −1 for none. */
      parent: placeOf.get(parent?.rank ?? 0) ?? -1,
      level,
    }
  })
  return {
    causes,
    causesInAll: diagnosis.size,
    divergence: diagnosis.options.divergence,
    unchanged: diagnosis.divergence,
    isComplete: diagnosis.state === 'complete',
  }
}

function rowsOf(models: ExecutionModels, by: WhatIfUnit): CarriedRow[] {
  const { paths } = models
  const keyOf = ({ service, operation }: CallName) => JSON.stringify([service, operation])
  const pathOf = new Map(paths.all().map((path) => [keyOf(nameOf(paths, path, by)), path]))
  const halved = new Map<string, number[]>()
  for (const part of PARTS) {
    const { before, changes } = findSingleChanges(models, { part, by, factors: [0.5] })
    for (const { effects, ...name } of changes) {
      const share = before.meanUs > 0 ? (effects[0]?.meanUs ?? 0) / before.meanUs - 1 : 0
      const key = keyOf(name)
      halved.set(key, [...(halved.get(key) ?? []), Number(share.toPrecision(3))])
    }
  }
  // In the order of the first part, by the effect of server time.
  return Array.from(halved, ([key, shares]) => [pathOf.get(key) ?? 0, ...shares])
}

function nameOf(paths: CallPaths, path: number, by: WhatIfUnit): CallName {
  return {
    service: paths.service(path),
    operation: by === 'operation' ? paths.operation(path) : '',
  }
}

export function whatIfRows(
  rows: WhatIfData['rows'],
  by: WhatIfUnit,
  paths: CallPaths,
): WhatIfRow[] {
  return rows[by].map(([path, ...halved]) => ({ ...nameOf(paths, path, by), halved }))
}
