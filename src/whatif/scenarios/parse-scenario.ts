import type { CallPaths } from '../../calls/call-paths.ts'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { QUOTED, unquoted } from '../../core/quoted.ts'
import { UNITS_US } from '../../core/words.ts'
import type { FeatureChoice } from './features.ts'
import { reweightRequests } from './reweight-requests.ts'
import { type ScaleOptions, scaleCalls } from './scale-calls.ts'
import type { Scenario } from './scenario.ts'

const FORMS =
  "'inventory*0.5', 'network:inventory*2', 'server:inventory+10ms', 'preprocessing:inventory-1ms', 'inventory GET /items*2' (one operation) or 'attribute:cache.hit=true:90%'; names with signs of these forms go between double quotes"

const SIZE = '(?:[*×]\\s*(\\d+(?:\\.\\d+)?)|([+-])\\s*(\\d+(?:\\.\\d+)?)\\s*(us|µs|ms|s))'
const SCALE = new RegExp(
  `^(?:(server|network|preprocessing):)?(?:(${QUOTED})(?:\\s+(${QUOTED}|.+?))?|(.+?))\\s*${SIZE}$`,
)
const SHARE = new RegExp(
  `^(host|calls|load|attribute:(?:${QUOTED}|[^=]+))=(${QUOTED}|.+):\\s*(\\d+(?:\\.\\d+)?)\\s*%$`,
)
const ATTRIBUTE = 'attribute:'

/**
 * Reads a scenario as it is written on the command line.
 *
 * `[PART:]SERVICE[ OPERATION]*FACTOR` makes a service's calls so many times as long, `[PART:]SERVICE[ OPERATION]+10ms`
 * (or `-10ms`; units `us`, `ms`, `s`) so much longer or shorter; PART is `server`, `network` or `preprocessing`, as of
 * `scaleCalls`. `FEATURE=VALUE:90%` makes requests with that value 90 % of all; FEATURE is `host`, `calls`, `load`,
 * or `attribute:KEY`.
 *
 * A name that could be read as part of a form goes between double quotes, service and operation each
 * for itself: `"network:ads" "GET /a*2"*0.5`, `attribute:"k:=v"="a:5%":90%`. Within them `\"`, `\\` and
 * `\n` are a quote, a backslash and a new line.
 *
 * @throws OptionError for a value that is no text; FlowdeltaError for text of none of these forms; when the scenario is
 *   applied, OptionError for a service, an operation or a value that does not occur, with a list of those that do.
 *
 * @example
 * parseScenario('inventory*0.5').title // 'inventory × 0.5'
 * parseScenario('attribute:cache.hit=true:90%').kind // 'reweight'
 * parseScenario('"network:ads"*2').service // 'network:ads'
 */
export function parseScenario(text: string): Scenario {
  if (typeof text !== 'string') throw new OptionError('scenario', text, `text, as ${FORMS}`)
  const trimmed = text.trim()
  const share = SHARE.exec(trimmed)
  if (share !== null) {
    const [, by = '', value = '', percents = ''] = share
    const feature = by.startsWith(ATTRIBUTE)
      ? `${ATTRIBUTE}${unquoted(by.slice(ATTRIBUTE.length))}`
      : by
    return reweightRequests({
      by: feature as FeatureChoice,
      shares: { [unquoted(value)]: Number(percents) / 100 },
    })
  }
  const scale = SCALE.exec(trimmed)
  if (scale === null) {
    throw new FlowdeltaError(`Scenario ${show(text)} has none of the known forms. Give ${FORMS}.`)
  }
  const [, part, service, operation, name = '', factor, sign, amount, unit = ''] = scale
  const size =
    factor === undefined
      ? { addUs: Number(`${sign}${amount}`) * (UNITS_US.get(unit) as number) }
      : { factor: Number(factor) }
  const change = { ...(part === undefined ? {} : { part: part as Part }), ...size }
  if (service === undefined) return named(name, change)
  return scaleCalls({
    service: unquoted(service),
    ...change,
    ...(operation !== undefined && { operation: unquoted(operation) }),
  })
}

type Part = NonNullable<ScaleOptions['part']>

/**
 * Returns a scenario that splits a name into service and operation when it is applied, because the names are known only
 * then.
 */
function named(name: string, change: Omit<ScaleOptions, 'service' | 'operation'>): Scenario {
  const whole = scaleCalls({ service: name, ...change })
  return {
    ...whole,
    apply: (base, target) =>
      scaleCalls({ ...resolved(base.models.paths, name), ...change }).apply(base, target),
  }
}

/** Splits a name that is no service into a service and its operation, at a space. */
function resolved(paths: CallPaths, name: string): { service: string; operation?: string } {
  const services = new Set(paths.all().map((path) => paths.service(path)))
  if (services.has(name)) return { service: name }
  const service = [...services]
    .filter((each) => name.startsWith(`${each} `))
    .sort((a, b) => b.length - a.length)[0]
  if (service === undefined) return { service: name }
  return { service, operation: name.slice(service.length + 1) }
}

/**
 * Returns the scenario, or reads one as it is written on the command line.
 *
 * @throws OptionError for any other value, FlowdeltaError for text of no known form
 */
export function requireScenario(scenario: Scenario | string, option: string): Scenario {
  if (typeof scenario === 'string') return parseScenario(scenario)
  if (typeof scenario?.apply === 'function') return scenario
  throw new OptionError(option, scenario, "a scenario, or one as text: 'inventory*0.5'")
}

/**
 * Combines several scenarios into one. Those of `scaleCalls` build on each other: a service's time is scaled together
 * with the changes below it, and `+5 ms` twice is 10 ms. If others change the same time of the same call, the later one
 * counts; weights multiply.
 *
 * @param given scenarios, or some as `parseScenario` reads them
 * @throws OptionError for none, and for a value that is no scenario.
 *
 * @example
 * combineScenarios(
 *   scaleCalls({ service: 'cart', factor: 0.5 }),
 *   scaleCalls({ service: 'price', addUs: 1000 }),
 * ).title // 'cart × 0.5, and price +1 ms'
 */
export function combineScenarios(...given: readonly (Scenario | string)[]): Scenario {
  const scenarios = given.map((each, i) => requireScenario(each, `scenarios[${i}]`))
  const [first] = scenarios
  if (first === undefined) throw new OptionError('scenarios', 'none', 'at least one')
  const common = (name: 'service' | 'operation') =>
    scenarios.every((scenario) => scenario[name] === first[name]) ? first[name] : ''
  return {
    kind: 'combined',
    service: common('service'),
    operation: common('operation'),
    path: null,
    title: scenarios.map(({ title }) => title).join(', and '),
    apply(base, target) {
      const effects = scenarios.map((scenario) => scenario.apply(base, target))
      const weights = effects.flatMap(({ weight }) => (weight === null ? [] : [weight]))
      // Weights are those recorded times a share each: the recorded ones must count once.
      const product = (a: Float64Array, b: Float64Array) =>
        a.map((weight, i) => (weight * (b[i] as number)) / (base.forest.weight[i] as number))
      return {
        changes: effects.flatMap(({ changes }) => changes),
        weight: weights.length === 0 ? null : weights.reduce(product),
      }
    },
  }
}
