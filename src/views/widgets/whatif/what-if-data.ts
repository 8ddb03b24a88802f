import { cumsum, group, sort } from 'd3-array'
import type { CallForest } from '../../../calls/call-forest.ts'
import { type CallName, CallPaths } from '../../../calls/call-paths.ts'
import { codeText } from '../../../core/code-literals.ts'
import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { FlowdeltaError } from '../../../core/errors.ts'
import {
  count,
  custom,
  defineOptions,
  most,
  number,
  type OptionsOf,
  oneOf,
  optionalCount,
  readOptions,
} from '../../../core/options.ts'
import { shortText, tooltipText } from '../../../core/words.ts'
import { randomSource } from '../../../stats/random.ts'
import { QualityLog } from '../../../traces/quality.ts'
import { SpanTracesBuilder } from '../../../traces/span-traces-builder.ts'
import { LatencyDiagnosis } from '../../../whatif/diagnosis/latency-diagnosis.ts'
import { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import {
  type LatencyProfile,
  profileOf,
  profileSummary,
} from '../../../whatif/recompute/latency-profile.ts'
import { RequestModel } from '../../../whatif/recompute/request-model.ts'
import {
  combineScenarios,
  parseScenario,
  SCALE_OPTIONS,
  scaleCalls,
} from '../../../whatif/scenarios/parse-scenario.ts'
import type { Scenario } from '../../../whatif/scenarios/scenario.ts'
import { namesInPage } from '../../charts/text-width.ts'
import { diagnosisRows } from '../../charts/what-if.ts'
import { STAGE_NAME } from '../define-widget.ts'

// Over every call of the sampled requests: the loops index with `!`.

type RequestSample = NonNullable<ReturnType<typeof sampleUpTo>>

type RequestSampleOptions = Record<'seed' | 'requests' | 'size', number>

/** Characters of JSON that a call takes at least. */
const MIN_CALL_SIZE = 8
const MAX_NAME_LENGTH = 300
const NONE = -1

/** Samples every k-th request by response time, for a profile close to that of all; very large requests are counted. */
export function sampleRequests(
  models: ExecutionModels,
  options: RequestSampleOptions,
): RequestSample {
  const first = Math.floor(options.size / 2 / MIN_CALL_SIZE)
  for (let maxCalls = first; maxCalls > 0; maxCalls >>= 1) {
    const sample = sampleUpTo(models, maxCalls, options)
    if (sample !== null) return sample
  }
  throw new FlowdeltaError(
    `No request has as few as ${first} calls, with names short enough for a page. Use applyScenario, which has no limit.`,
  )
}

function sampleUpTo(
  models: ExecutionModels,
  maxCalls: number,
  { seed, requests, size }: RequestSampleOptions,
) {
  const { requestOffsets, requestTrace, latencyUs } = models.period(0).forest
  const fitting = Array.from(requestTrace, (_, request) => request)
    .filter((request) => requestOffsets[request + 1]! - requestOffsets[request]! <= maxCalls)
    .sort((a, b) => latencyUs[requestOffsets[a]!]! - latencyUs[requestOffsets[b]!]! || a - b)
  const ofRequests = requestTrace.length
  const start = randomSource(seed).next()
  for (let count = Math.min(requests, fitting.length); count > 0; ) {
    const step = fitting.length / count
    const chosen = Array.from({ length: count }, (_, i) => fitting[Math.floor((i + start) * step)]!)
    const carried = encodeColumns(carriedRequests(models, chosen))
    const length = JSON.stringify(carried).length
    if (length <= size) {
      /** Number of all requests with too many calls to be chosen. */
      const tooLarge = ofRequests - fitting.length
      return { carried, requests: count, ofRequests, tooLarge }
    }
    count = Math.min(count - 1, Math.max(1, Math.floor((0.97 * count * size) / length)))
  }
  return null
}

function carriedRequests(models: ExecutionModels, chosen: readonly number[]) {
  const { forest, planOf, plans, nodeCalls } = models.period(0)
  const { requestOffsets, childOffsets, offsetUs, latencyUs, serverUs } = forest
  const calls: number[] = []
  const sizes = Uint32Array.from(chosen, (request) => {
    const first = calls.length
    calls.push(requestOffsets[request]!)
    for (let at = first; at < calls.length; at++) {
      const call = calls[at]!
      for (let child = childOffsets[call]!; child < childOffsets[call + 1]!; child++) {
        calls.push(nodeCalls[child]!)
      }
    }
    return calls.length - first
  })
  const paths = numbered(calls.map((call) => forest.path[call]!))
  const services = paths.values.map((path) => models.paths.service(path))
  const operations = paths.values.map((path) => models.paths.operation(path))
  const ownPlans = numbered(calls.map((call) => planOf[call]!))
  const rounded = (time: (call: number) => number) =>
    Float64Array.from(calls, (call) => Math.fround(time(call)))
  return {
    services: services.map(namesInPage(services, MAX_NAME_LENGTH)),
    operations: operations.map(namesInPage(operations, MAX_NAME_LENGTH)),
    /** Calling path of each path, −1 for roots; callers come before callees. */
    parentPath: Int32Array.from(
      paths.values,
      (path) => paths.numbers.get(models.paths.parent(path)) ?? NONE,
    ),
    /** In lists, which are short. */
    plans: ownPlans.values.map((number) => {
      const { order, waitsFor, replyWaitsFor, setOffsets, setNodes } = plans[number]!
      return {
        order: [...order],
        waitsFor: [...waitsFor],
        replyWaitsFor,
        setOffsets: [...setOffsets],
        setNodes: [...setNodes],
      }
    }),
    sizes,
    weight: Float64Array.from(chosen, (request) => forest.weight[request]!),
    slackUs: models.options.slackUs,
    // Calls level by level within a request, so that calls of one caller stand together.
    childCounts: Uint32Array.from(calls, (call) => childOffsets[call + 1]! - childOffsets[call]!),
    path: Uint32Array.from(calls, (call) => paths.numbers.get(forest.path[call]!)!),
    planOf: Uint32Array.from(calls, (call) => ownPlans.numbers.get(planOf[call]!)!),
    offsetUs: rounded((call) => offsetUs[call]!),
    latencyUs: rounded((call) => latencyUs[call]!),
    /** Time between client and server: mostly 0 if there are only spans of servers. */
    networkUs: rounded((call) => latencyUs[call]! - serverUs[call]!),
  }
}

/** Numbers distinct values, the smallest first: paths stay after those of their callers. */
function numbered(all: readonly number[]) {
  const values = [...new Set(all)].sort((a, b) => a - b)
  return { values, numbers: new Map(values.map((value, number) => [value, number])) }
}

/** Returns the requests of a sample, recomputed by the same code as in Node; spans are missing. */
export function restoreRequests({ carried }: RequestSample): RequestModel {
  const { services, operations, parentPath, planOf, slackUs, ...columns } = decodeColumns(carried)
  const { sizes, weight, childCounts, path, offsetUs, latencyUs, networkUs } = columns
  const requestOffsets = offsetsOf(sizes)
  const childOffsets = offsetsOf(childCounts)
  const request = new Uint32Array(path.length)
  sizes.forEach((_, number) => {
    request.fill(number, requestOffsets[number], requestOffsets[number + 1])
  })
  const roots = new Set(requestOffsets)
  const children = Uint32Array.from(path.keys()).filter((call) => !roots.has(call))
  const parent = new Int32Array(path.length).fill(NONE)
  childCounts.forEach((_, call) => {
    for (const child of children.subarray(childOffsets[call], childOffsets[call + 1])) {
      parent[child] = call
    }
  })
  const nothing = new Uint32Array(path.length)
  const forest: CallForest = {
    traces: new SpanTracesBuilder(new QualityLog()).finish('sample'),
    requestOffsets,
    request,
    weight,
    parent,
    childOffsets,
    children,
    path,
    offsetUs,
    latencyUs,
    serverSpan: nothing,
    requestTrace: Uint32Array.from(sizes.keys()),
    serverUs: latencyUs.map((us, call) => us - networkUs[call]!),
    clientSpan: new Int32Array(path.length).fill(NONE),
    detached: new Uint8Array(path.length),
  }
  const paths = new CallPaths()
  parentPath.forEach((caller, each) => {
    const name = paths.nameOf(services[each]!, operations[each]!)
    paths.child(caller < 0 ? null : caller, name)
  })
  const plans = columns.plans.map((plan) => ({
    nodes: plan.order.length,
    order: Uint32Array.from(plan.order),
    waitsFor: Int32Array.from(plan.waitsFor),
    replyWaitsFor: plan.replyWaitsFor,
    setOffsets: Uint32Array.from(plan.setOffsets),
    setNodes: Uint32Array.from(plan.setNodes),
  }))
  const options = { service: '', operation: '', caller: '', slackUs, similarity: 0, share: 1 }
  const unknown = { modelOf: nothing, orderOf: nothing, clusters: [] }
  const period = { forest, planOf, plans, nodeCalls: children, ...unknown }
  const models = new ExecutionModels({ paths, models: [], orders: [], options }, [period])
  return new RequestModel(models, 0)
}

function offsetsOf(lengths: Uint32Array): Uint32Array {
  return Uint32Array.from([0, ...cumsum(lengths)])
}

export const PARTS = ['server', 'network', 'preprocessing'] as const
export type WhatIfPart = (typeof PARTS)[number]

/** Most scenarios that are shown along with the one of the sliders. */
export const MAX_KEPT = 3

const CHANGE_OPTIONS = defineOptions({
  service: SCALE_OPTIONS.service,
  operation: SCALE_OPTIONS.operation,
  part: SCALE_OPTIONS.part,
  factor: number({ default: 1, min: 0, sentence: 'Factor that times are multiplied by' }),
})

export type WhatIfChange = OptionsOf<typeof CHANGE_OPTIONS>
type GivenChange = Pick<WhatIfChange, 'service' | 'factor'> & Partial<WhatIfChange>

export const WHAT_IF_WIDGET_OPTIONS = defineOptions({
  part: oneOf(PARTS, { default: 'server', sentence: 'Time that the sliders change' }),
  by: oneOf(['service', 'operation'], {
    default: 'service',
    sentence: 'Whether services have sliders, or each of their operations',
  }),
  changes: custom<readonly GivenChange[]>({
    default: [],
    sentence: 'Changes to begin with: a service and a factor each, maybe an operation and a part',
    accepts: Array.isArray,
    expected: "a list of changes such as { service: 'db', factor: 2 }",
  }),
  kept: custom<readonly (readonly GivenChange[])[]>({
    default: [],
    sentence: `Scenarios that are shown as well, at most ${MAX_KEPT}: a list of changes each`,
    accepts: (value) =>
      Array.isArray(value) && value.length <= MAX_KEPT && value.every(Array.isArray),
    expected: `up to ${MAX_KEPT} lists of changes such as [{ service: 'db', factor: 2 }]`,
  }),
  cause: optionalCount('Rank of the cause of a diagnosis whose profile is shown; null for none'),
  within: custom<number | null>({
    default: null,
    sentence: 'Time, in µs: shows the share of requests that take no longer',
    accepts: (value) => value === null || (typeof value === 'number' && value > 0),
    expected: 'a time in µs above 0, or null',
  }),
  requests: most(1500, 'requests', 'Requests that are recomputed in the page at most'),
  seed: count({ default: 1, min: 0, sentence: 'Seed of the sample of requests' }),
  name: STAGE_NAME,
})
export type WhatIfWidgetOptions = OptionsOf<typeof WHAT_IF_WIDGET_OPTIONS>
export type WhatIfUnit = WhatIfWidgetOptions['by']

export function readChanges(changes: readonly GivenChange[], of = 'changes') {
  return changes.map((change, i) => readOptions(CHANGE_OPTIONS, change, `${of}[${i}].`))
}

export function shortChange({ service, operation, part, factor }: WhatIfChange): GivenChange {
  return {
    service,
    ...(operation !== '' && { operation }),
    ...(part !== 'server' && { part }),
    factor,
  }
}

export function isSameSlider(one: WhatIfChange, other: Omit<WhatIfChange, 'factor'>): boolean {
  return (['service', 'operation', 'part'] as const).every((name) => one[name] === other[name])
}

export function withChange(
  changes: readonly WhatIfChange[],
  moved: WhatIfChange,
): readonly WhatIfChange[] {
  const others = changes.filter((each) => !isSameSlider(each, moved))
  if (moved.factor === 1) return others
  // A slider keeps its place among the others while it is dragged.
  return others.length === changes.length
    ? [...changes, moved]
    : changes.map((each) => (isSameSlider(each, moved) ? moved : each))
}

export function scenarioOf(changes: readonly WhatIfChange[]): Scenario | null {
  return changes.length === 0 ? null : combineScenarios(...changes.map(scaleCalls))
}

export function changesText(changes: readonly WhatIfChange[], maxLength: number): string {
  return shortText(scenarioOf(changes)?.title ?? 'no change', maxLength)
}

export function predictedProfile(
  model: RequestModel,
  changes: readonly WhatIfChange[],
): LatencyProfile {
  const effect = scenarioOf(changes)?.apply(model, null)
  return profileOf(effect === undefined ? model.recorded : model.after(effect))
}

/** Writes the code that computes the sample's prediction for all requests; `null` without changes. */
export function whatIfCode(models: string, changes: readonly WhatIfChange[]): string | null {
  if (changes.length === 0) return null
  const scenarios = changes.map(changeCode)
  const scenario =
    scenarios.length === 1 ? scenarios[0] : `combineScenarios(${scenarios.join(', ')})`
  return `applyScenario(${models}, ${scenario})`
}

function changeCode(change: WhatIfChange): string {
  const { service, operation, part, factor } = change
  const whole = scaleCalls(change)
  const prefixes = part === 'server' ? ['', 'server:'] : [`${part}:`]
  for (const prefix of operation === '' ? prefixes : []) {
    const text = `${prefix}${service}*${factor}`
    if (saysTheSame(text, whole)) return `parseScenario(${codeText(text)})`
  }
  return `scaleCalls(${codeText(shortChange(change))})`
}

function saysTheSame(text: string, { kind, title, service }: Scenario): boolean {
  try {
    const read = parseScenario(text)
    return read.kind === kind && read.title === title && read.service === service
  } catch (problem) {
    if (problem instanceof FlowdeltaError) return false
    throw problem
  }
}

/** Factors of a slider: those to the left of its middle mirror those to the right. */
const FACTORS = [
  0.1, 0.11, 0.125, 0.14, 0.16, 0.18, 0.2, 0.22, 0.25, 0.28, 0.32, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6,
  0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2,
  2.5, 2.8, 3.2, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9, 10,
]

export const SLIDER_REACH = (FACTORS.length - 1) / 2

/** Returns the factor at a place, from `-SLIDER_REACH` (a tenth) over 0 to `SLIDER_REACH` (ten times). */
export function factorAt(place: number): number {
  return FACTORS[Math.round(place) + SLIDER_REACH] ?? (place < 0 ? 0.1 : 10)
}

export function placeOfFactor(factor: number): number {
  if (!(factor > 0)) return -SLIDER_REACH
  const distances = FACTORS.map((each) => Math.abs(Math.log(each / factor)))
  return distances.indexOf(Math.min(...distances)) - SLIDER_REACH
}

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
  { seed, requests }: Omit<RequestSampleOptions, 'size'>,
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
    diagnosis: diagnosis && carriedDiagnosis(diagnosis),
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

export type CarriedProfile = ReturnType<typeof carriedProfile>

export function carriedProfile(profile: LatencyProfile, points: number) {
  const at = (share: number) => Number(profile.quantile(share).toPrecision(4))
  return {
    facts: profileSummary(profile),
    /** The least, those at (i + ½)/n of the requests, the most. */
    latencyUs: [at(0), ...Array.from({ length: points }, (_, i) => at((i + 0.5) / points)), at(1)],
  }
}
