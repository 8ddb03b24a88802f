import { sum } from 'd3-array'
import { OptionError } from '../../core/errors.ts'
import { custom, defineOptions, type OptionsOf, readOptions } from '../../core/options.ts'
import { shortText } from '../../core/words.ts'
import {
  chooseFeature,
  type FeatureChoice,
  type Partition,
  partSizes,
  partWords,
} from './features.ts'
import { exactPercent, MAX_NAME_LENGTH, type Scenario } from './scenario.ts'

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
