import { sum } from 'd3-array'
import type { CallPaths } from '../../calls/call-paths.ts'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import {
  custom,
  defineOptions,
  number,
  type OptionsOf,
  oneOf,
  readOptions,
  text,
} from '../../core/options.ts'
import { QUOTED, unquoted } from '../../core/quoted.ts'
import { firstOf, formatDuration, shortText, signedDuration, UNITS_US } from '../../core/words.ts'
import { isEntry } from './call-group.ts'
import { type ChangedPart, changeParts, type NewTime } from './change-parts.ts'
import {
  ATTRIBUTE,
  chooseFeature,
  type FeatureChoice,
  type Partition,
  partSizes,
  partWords,
} from './features.ts'
import { exactPercent, MAX_NAME_LENGTH, type Scenario } from './scenario.ts'

const FORMS =
  "'inventory*0.5', 'network:inventory*2', 'server:inventory+10ms', 'preprocessing:inventory-1ms', 'inventory GET /items*2' (one operation) or 'attribute:cache.hit=true:90%'; names with signs of these forms go between double quotes"

const SIZE = '(?:[*×]\\s*(\\d+(?:\\.\\d+)?)|([+-])\\s*(\\d+(?:\\.\\d+)?)\\s*(us|µs|ms|s))'
const SCALE = new RegExp(
  `^(?:(server|network|preprocessing):)?(?:(${QUOTED})(?:\\s+(${QUOTED}|.+?))?|(.+?))\\s*${SIZE}$`,
)
const SHARE = new RegExp(
  `^(host|calls|load|attribute:(?:${QUOTED}|[^=]+))=(${QUOTED}|.+):\\s*(\\d+(?:\\.\\d+)?)\\s*%$`,
)

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

const REWEIGHT_OPTIONS = defineOptions({
  by: custom<FeatureChoice>({
    default: 'calls',
    sentence: 'Feature that divides requests',
    accepts: (value) => value !== null,
    expected: 'a feature',
  }),
  shares: custom<Readonly<Record<string, number>>>({
    default: {},
    sentence:
      'Share of each kind, 0 to 1; kinds that are not named share the rest in their present proportions',
    accepts: (value) => typeof value === 'object' && value !== null,
    expected: 'an object { kind: share }',
  }),
})
export type ReweightOptions = OptionsOf<typeof REWEIGHT_OPTIONS>

/** Shares that are to make up 1 may miss it by rounding. */
const ROUNDING = 1e-9

/**
 * Describes a scenario with another mix of requests: each kind gets the share asked for; no request gets
 * faster or slower.
 *
 * @param options see {@link REWEIGHT_OPTIONS}
 * @throws OptionError for no shares, or shares above 1 in total; when applied, for a kind that no request
 *   is of, and if no other requests are there to take the rest
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.2, equation 4.
 *
 * @example
 * reweightRequests({ by: 'attribute:cache.hit', shares: { true: 0.9 } }).title // '90 % of requests with cache.hit = true'
 */
export function reweightRequests(given: ReweightOptions): Scenario {
  const options = readOptions(REWEIGHT_OPTIONS, given)
  const feature = chooseFeature(options.by)
  const shares = Object.entries(options.shares)
  requireShares(shares)
  const words = shares.map(
    ([name, share]) => `${exactPercent(share)} of requests ${partWords(feature.name, name)}`,
  )
  return {
    kind: 'reweight',
    service: '',
    operation: '',
    path: null,
    title: words.join(', '),
    apply(base) {
      const partition = feature.ofRequests(base)
      const asked = new Map(shares.map(([name, share]) => [requirePart(partition, name), share]))
      return { changes: [], weight: reweighted(partition, base.forest.weight, asked) }
    },
  }
}

function requireShares(shares: readonly (readonly [string, number])[]): void {
  if (shares.length === 0)
    throw new OptionError('shares', 'empty', 'a share of some kind of request')
  for (const [name, share] of shares) {
    if (!(share >= 0 && share <= 1))
      throw new OptionError(shareOf(name), share, 'a share from 0 to 1')
  }
  const total = sum(shares, ([, share]) => share)
  if (total > 1 + ROUNDING) {
    throw new OptionError('shares', `${total} in all`, 'shares of at most 1 in all')
  }
}

/** Returns the name of a kind's option in messages. */
function shareOf(name: string): string {
  return `shares.${shortText(name, MAX_NAME_LENGTH)}`
}

/** Returns the part of that name; throws an error that lists the existing ones if there is none. */
function requirePart({ names }: Partition, name: string): number {
  const part = names.indexOf(name)
  if (part >= 0) return part
  const known = names.slice(0, 12).map((each) => shortText(each, MAX_NAME_LENGTH))
  if (names.length > 12) known.push('…')
  const expected =
    names.length > 0 ? `one of ${known.join(', ')}` : 'a feature that some request has'
  throw new OptionError(shareOf(name), name, expected)
}

function reweighted(
  partition: Partition,
  weight: Float64Array,
  asked: ReadonlyMap<number, number>,
): Float64Array {
  const total = sum(weight)
  const sizes = partSizes(partition, weight)
  let rest = total
  let remaining = 1
  for (const [part, share] of asked) {
    rest -= sizes[part] as number
    remaining -= share
  }
  const hasRest = partition.codes.some((code) => !asked.has(code))
  if (remaining > ROUNDING && !hasRest) {
    const found = `${1 - remaining} in all`
    throw new OptionError('shares', found, 'shares that add up to 1: there are no other requests')
  }
  const restFactor = hasRest ? (Math.max(remaining, 0) * total) / rest : 0
  return weight.map((own, request) => {
    const part = partition.codes[request] as number
    const share = asked.get(part)
    return share === undefined ? own * restFactor : (own * share * total) / (sizes[part] as number)
  })
}

export const SCALE_OPTIONS = defineOptions({
  service: text({ default: '', sentence: 'Service whose calls change' }),
  operation: text({ default: '', sentence: "Operation whose calls change; '' for all" }),
  part: oneOf(['server', 'network', 'preprocessing'], {
    default: 'server',
    sentence:
      "Time that changes: 'server' all of it, 'network' to the service, 'preprocessing' its own time between the calls it makes",
  }),
  factor: number({
    default: null,
    or: null,
    min: 0,
    sentence: 'Factor that times are multiplied by',
  }),
  addUs: number({
    default: null,
    or: null,
    unit: 'µs',
    sentence: 'Time to add, instead of factor; none gets shorter than 0',
  }),
})
export type ScaleOptions = Pick<Scaling, 'service'> & Partial<Scaling>
type Scaling = OptionsOf<typeof SCALE_OPTIONS>

const WORDS = { server: '', network: 'network to ', preprocessing: 'own time of ' }

/**
 * Describes a scenario in which a service is slower or faster: its calls take `factor` times as long, or
 * `addUs` longer, wherever they are made. Calls that a service makes to itself count once, as part of the
 * call from outside.
 *
 * @param options see {@link SCALE_OPTIONS}
 * @throws OptionError unless either `factor` or `addUs` is given; when applied, for a service or an
 *   operation that no call has
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4.2.
 *
 * @example
 * scaleCalls({ service: 'inventory', factor: 0.5 }).title // 'inventory × 0.5'
 * scaleCalls({ service: 'inventory', part: 'network', addUs: 10_000 }).title // 'network to inventory +10 ms'
 */
export function scaleCalls(given: ScaleOptions): Scenario {
  const options = readOptions(SCALE_OPTIONS, given)
  const { service, operation, part } = options
  if (given?.service === undefined) throw new OptionError('service', undefined, 'the name of one')
  const { newTime, words } = change(options)
  const name = operation === '' ? service : `${service} ${operation}`
  return {
    kind: 'scale',
    service,
    operation,
    path: null,
    title: `${WORDS[part]}${name} ${words}`,
    apply(base) {
      const { paths } = base.models
      const members = matchingPaths(paths, { service, operation })
      const parts = changedParts(paths, members, part)
      const changes = parts.map((each) => ({ ...changeParts(base, each, newTime), newTime }))
      return { changes, weight: null }
    },
  }
}

function change({ factor, addUs }: Scaling): { newTime: NewTime; words: string } {
  if (factor !== null && addUs === null) {
    return { newTime: (us) => us * factor, words: `× ${factor}` }
  }
  if (addUs === null || factor !== null) {
    throw new OptionError('factor', factor ?? undefined, 'either factor or addUs')
  }
  // A time below 0 comes from differing clocks already, and stays comparable to itself.
  const newTime: NewTime = (us) => Math.max(us + addUs, Math.min(us, 0))
  return { newTime, words: addUs === 0 ? `+${formatDuration(0)}` : signedDuration(addUs) }
}

/** @throws OptionError if there is none, with a list of the existing ones */
function matchingPaths(
  paths: CallPaths,
  { service, operation }: Pick<Scaling, 'service' | 'operation'>,
): number[] {
  const all = paths.all()
  const ofService = all.filter((path) => paths.service(path) === service)
  const chosen = ofService.filter((path) => ['', paths.operation(path)].includes(operation))
  if (chosen.length > 0) return chosen
  if (ofService.length === 0) {
    const known = listed(all.map((path) => paths.service(path)))
    throw new OptionError('service', service, `one of ${known}`)
  }
  const known = listed(ofService.map((path) => paths.operation(path)))
  const expected = `one of ${known}, which ${shortText(service, MAX_NAME_LENGTH)} has`
  throw new OptionError('operation', operation, expected)
}

function changedParts(
  paths: CallPaths,
  members: readonly number[],
  part: Scaling['part'],
): ChangedPart[] {
  const chosen = new Set(members)
  if (part === 'preprocessing') {
    const called = paths.all().filter((path) => chosen.has(paths.parent(path)))
    return [
      { part, paths: called },
      { part: 'reply', paths: members },
    ]
  }
  // Steps within a service are in the time of the call from outside already.
  const isOutermost = (path: number) => !paths.above(path).some((each) => chosen.has(each))
  const isCounted = part === 'server' ? isOutermost : (path: number) => isEntry(paths, path)
  return [{ part, paths: members.filter(isCounted) }]
}

function listed(names: readonly string[]): string {
  const distinct = [...new Set(names)].sort().map((name) => shortText(name, MAX_NAME_LENGTH))
  return firstOf(distinct, { most: 30 })
}
