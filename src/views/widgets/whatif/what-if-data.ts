import { group, sort } from 'd3-array'
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
import { scaleCalls } from '../../../whatif/scenarios/scale-calls.ts'
import { diagnosisRows } from '../../charts/diagnosis-rows.ts'
import { restoreRequests, sampleRequests } from './request-sample.ts'
import { PARTS, type WhatIfPart, type WhatIfUnit } from './what-if-options.ts'
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

/** Returns the services, or operations, with the effect of each in half the time: the largest of server time first. */
function rowsOf(models: ExecutionModels, by: WhatIfUnit): CarriedRow[] {
  const { paths } = models
  const base = new RequestModel(models, 0)
  const { meanUs } = profileOf(base.recorded)
  const halvedUs = (name: CallName, part: WhatIfPart) => {
    const halved = scaleCalls({ ...name, part, factor: 0.5 })
    return profileOf(base.after(halved.apply(base, null))).meanUs
  }
  const byName = group(paths.all(), (path) => JSON.stringify(nameOf(paths, path, by)))
  const rows = Array.from(byName.values(), (same) => {
    const path = same.at(-1) as number
    return { path, us: PARTS.map((part) => halvedUs(nameOf(paths, path, by), part)) }
  })
  return sort(rows, ({ us: [server = meanUs] }) => -Math.abs(server - meanUs)).map(
    ({ path, us }) => [path, ...us.map((one) => Number((one / meanUs - 1 || 0).toPrecision(3)))],
  )
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
