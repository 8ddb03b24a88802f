import { FlowdeltaError, show } from '../../errors.ts'
import type { CallPaths } from '../calls/call-paths.ts'
import type { FeatureChoice } from './choose-feature.ts'
import { reweightRequests } from './reweight-requests.ts'
import { type ScaleOptions, scaleCalls } from './scale-calls.ts'
import type { Scenario } from './scenario.ts'

const FORMS =
  "'inventory*0.5', 'network:inventory*2', 'server:inventory+10ms', 'preprocessing:inventory-1ms', 'inventory GET /items*2' (one operation) or 'attribute:cache.hit=true:90%'"

const UNITS: Readonly<Record<string, number>> = { us: 1, µs: 1, ms: 1e3, s: 1e6 }

const SCALE =
  /^(?:(server|network|preprocessing):)?(.+?)\s*(?:[*×]\s*(\d+(?:\.\d+)?)|([+-])\s*(\d+(?:\.\d+)?)\s*(us|µs|ms|s))$/
const SHARE = /^(host|calls|load|concurrency|attribute:[^=]+)=(.+):\s*(\d+(?:\.\d+)?)\s*%$/

/**
 * A scenario as it is written on the command line.
 *
 * `[PART:]SERVICE[ OPERATION]*FACTOR` makes a service's calls so many times as long,
 * `[PART:]SERVICE[ OPERATION]+10ms` (or `-10ms`; units `us`, `ms`, `s`) so much longer or shorter;
 * PART is `server`, `network` or `preprocessing`, as of `scaleCalls`. `FEATURE=VALUE:90%` makes such
 * requests 90 % of all; FEATURE is `host`, `calls`, `load`, `concurrency` or `attribute:KEY`.
 *
 * @throws FlowdeltaError for text of none of these forms; when the scenario is applied, OptionError
 *   for a service, an operation or a value that does not occur, with those that do.
 *
 * @example
 * parseScenario('inventory*0.5').title // 'inventory × 0.5'
 * parseScenario('attribute:cache.hit=true:90%').kind // 'reweight'
 */
export function parseScenario(text: string): Scenario {
  const trimmed = text.trim()
  const share = SHARE.exec(trimmed)
  if (share !== null) {
    const [, by = '', value = '', percents = ''] = share
    return reweightRequests({
      by: by as FeatureChoice,
      shares: { [value]: Number(percents) / 100 },
    })
  }
  const scale = SCALE.exec(trimmed)
  if (scale === null) {
    throw new FlowdeltaError(`Scenario ${show(text)} has none of the known forms. Give ${FORMS}.`)
  }
  const [, part, name = '', factor, sign, amount, unit = ''] = scale
  const size =
    factor === undefined
      ? { addUs: Number(`${sign}${amount}`) * (UNITS[unit] as number) }
      : { factor: Number(factor) }
  return named(name, { ...(part === undefined ? {} : { part: part as Part }), ...size })
}

type Part = NonNullable<ScaleOptions['part']>

/** Which service and operation are meant shows when it is known which there are. */
function named(name: string, change: Omit<ScaleOptions, 'service' | 'operation'>): Scenario {
  const whole = scaleCalls({ service: name, ...change })
  return {
    ...whole,
    apply: (base, target) =>
      scaleCalls({ ...resolved(base.models.paths, name), ...change }).apply(base, target),
  }
}

/** A name that is no service is a service and its operation, with a space between them. */
function resolved(paths: CallPaths, name: string): { service: string; operation?: string } {
  const services = new Set(Array.from({ length: paths.size }, (_, path) => paths.service(path)))
  if (services.has(name)) return { service: name }
  const service = [...services]
    .filter((each) => name.startsWith(`${each} `))
    .sort((a, b) => b.length - a.length)[0]
  if (service === undefined) return { service: name }
  return { service, operation: name.slice(service.length + 1) }
}
