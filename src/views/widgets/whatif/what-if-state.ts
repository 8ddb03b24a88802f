import { codeText } from '../../../core/code-literals.ts'
import { FlowdeltaError } from '../../../core/errors.ts'
import { LatencyProfile } from '../../../whatif/recompute/latency-profile.ts'
import type { RequestModel } from '../../../whatif/recompute/request-model.ts'
import { combineScenarios, parseScenario } from '../../../whatif/scenarios/parse-scenario.ts'
import { scaleCalls } from '../../../whatif/scenarios/scale-calls.ts'
import type { Scenario } from '../../../whatif/scenarios/scenario.ts'

/** Which time of a service changes; see `scaleCalls`. */
export type WhatIfPart = 'server' | 'network' | 'preprocessing'

export const PARTS: readonly WhatIfPart[] = ['server', 'network', 'preprocessing']

/** One slider that is not in the middle. */
export interface WhatIfChange {
  readonly service: string
  /** Empty for all calls of the service. */
  readonly operation: string
  readonly part: WhatIfPart
  /** How many times as long, from 0 up. */
  readonly factor: number
}

/** Whether two changes are of the same slider. */
export function isSameSlider(one: WhatIfChange, other: Omit<WhatIfChange, 'factor'>): boolean {
  return (
    one.service === other.service && one.operation === other.operation && one.part === other.part
  )
}

/** The changes once a slider was moved; one moved to 1 is none. */
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

/** The changes as one scenario; `null` without any. */
export function scenarioOf(changes: readonly WhatIfChange[]): Scenario | null {
  if (changes.length === 0) return null
  return combineScenarios(...changes.map((change) => scaleCalls(scaleOptions(change))))
}

/** The response times of all requests of the sample under the changes. */
export function predictedProfile(
  model: RequestModel,
  changes: readonly WhatIfChange[],
): LatencyProfile {
  const effect = scenarioOf(changes)?.apply(model, null)
  return LatencyProfile.ofRequests(
    model.responseTimes(effect?.changes ?? []),
    effect?.weight ?? model.forest.weight,
  )
}

/** The code that predicts for all requests what is shown for the sample; `null` without changes. */
export function whatIfCode(models: string, changes: readonly WhatIfChange[]): string | null {
  if (changes.length === 0) return null
  const scenarios = changes.map(changeCode)
  const scenario =
    scenarios.length === 1 ? scenarios[0] : `combineScenarios(${scenarios.join(', ')})`
  return `applyScenario(${models}, ${scenario})`
}

/** As it is written on the command line, where that says the same. */
function changeCode(change: WhatIfChange): string {
  const { service, operation, part, factor } = change
  const whole = scaleCalls(scaleOptions(change))
  const prefixes = part === 'server' ? ['', 'server:'] : [`${part}:`]
  for (const prefix of operation === '' ? prefixes : []) {
    const text = `${prefix}${service}*${factor}`
    if (saysTheSame(text, whole)) return `parseScenario(${codeText(text)})`
  }
  return `scaleCalls(${codeText(scaleOptions(change))})`
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

function scaleOptions({ service, operation, part, factor }: WhatIfChange) {
  return {
    service,
    ...(operation !== '' && { operation }),
    ...(part !== 'server' && { part }),
    factor,
  }
}
