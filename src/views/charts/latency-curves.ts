import { OptionError } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import { ExecutionModels } from '../../whatif/models/execution-models.ts'
import { LatencyProfile } from '../../whatif/recompute/latency-profile.ts'
import { RequestModel } from '../../whatif/recompute/request-model.ts'
import type { ScenarioProfile } from '../../whatif/scenarios/scenario-profile.ts'
import type { SpecPart } from './chart-frame.ts'
import { PALETTE, PERIOD_NAMES } from './palette.ts'

/** A latency profile that is drawn. */
export interface LatencyCurve {
  readonly name: string
  readonly profile: LatencyProfile
  readonly colour: string
  readonly dash: readonly number[]
}

/** What of several profiles is drawn, the one that the others are compared with first. */
export interface DrawnProfiles {
  readonly title: string
  readonly curves: readonly LatencyCurve[]
}

const LONGEST_NAME = 76
const SOLID = [1, 0]
/** Looks of scenarios; more of them could not be told apart. */
const SCENARIO_LOOKS = [
  { colour: PALETTE.text, dash: [6, 3] },
  { colour: PALETTE.change, dash: [2, 2] },
  { colour: PALETTE.rest, dash: [8, 2, 2, 2] },
] as const

/** @throws OptionError for none or more than three profiles, those of other requests, and a target beside execution models */
export function drawnProfiles(
  profiles: ExecutionModels | ScenarioProfile | readonly ScenarioProfile[],
  {
    target,
    targetName,
  }: { readonly target: LatencyProfile | undefined; readonly targetName: string },
): DrawnProfiles {
  if (profiles instanceof ExecutionModels) {
    if (target === undefined) return recordedProfiles(profiles)
    throw new OptionError('target', target, 'profiles of applyScenario beside it')
  }
  const scenarios = 'before' in profiles ? [profiles] : profiles
  const curves = scenarioCurves(scenarios)
  const aim = target ?? scenarios[0]?.target ?? null
  if (aim !== null) {
    const name = shortText(targetName, LONGEST_NAME)
    curves.push({ name, profile: aim, colour: PALETTE.after, dash: SOLID })
  }
  return {
    title: 'Response times, as recorded and as they would be',
    curves: distinctNames(curves),
  }
}

/** What was recorded, of one period or of two. */
function recordedProfiles(models: ExecutionModels): DrawnProfiles {
  const periods = models.forests.length > 1 ? ([0, 1] as const) : ([0] as const)
  const curves = periods.map((period) => {
    const base = new RequestModel(models, period)
    return {
      name: PERIOD_NAMES[period],
      profile: LatencyProfile.ofRequests(base.responseTimes([]), base.forest.weight),
      colour: period === 0 ? PALETTE.before : PALETTE.after,
      dash: SOLID,
    }
  })
  return {
    title: curves.length > 1 ? 'Response times before and after' : 'Response times',
    curves,
  }
}

function scenarioCurves(scenarios: readonly ScenarioProfile[]): LatencyCurve[] {
  const [first] = scenarios
  if (first === undefined || scenarios.length > SCENARIO_LOOKS.length) {
    throw new OptionError('profiles', scenarios.length, 'one, two or three profiles')
  }
  const { before } = first
  scenarios.forEach((scenario, i) => {
    if (isSame(before, scenario.before)) return
    throw new OptionError(
      `profiles[${i}]`,
      scenario.title,
      `a profile of the same requests as ${JSON.stringify(first.title)}`,
    )
  })
  return [
    { name: 'before', profile: before, colour: PALETTE.before, dash: SOLID },
    ...scenarios.map(({ title, profile }, i) => ({
      ...{ name: shortText(title, LONGEST_NAME), profile },
      ...(SCENARIO_LOOKS[i] as (typeof SCENARIO_LOOKS)[number]),
    })),
  ]
}

/** Legends tell by name. */
function distinctNames(curves: readonly LatencyCurve[]): LatencyCurve[] {
  const seen = new Map<string, number>()
  return curves.map((curve) => {
    const times = (seen.get(curve.name) ?? 0) + 1
    seen.set(curve.name, times)
    return times === 1 ? curve : { ...curve, name: `${curve.name} (${times})` }
  })
}

function isSame(one: LatencyProfile, other: LatencyProfile): boolean {
  return (
    one.latencyUs.length === other.latencyUs.length &&
    one.latencyUs.every((us, i) => us === other.latencyUs[i])
  )
}

/** Colour and dash of a curve, in one legend. */
export function curveLooks(curves: readonly LatencyCurve[]): SpecPart {
  const domain = curves.map(({ name }) => name)
  const field = { field: 'profile', type: 'nominal' }
  const legend = { title: null, symbolType: 'stroke', symbolSize: 400, columns: 1 }
  return {
    color: { ...field, legend, scale: { domain, range: curves.map(({ colour }) => colour) } },
    strokeDash: { ...field, legend, scale: { domain, range: curves.map(({ dash }) => dash) } },
  }
}
