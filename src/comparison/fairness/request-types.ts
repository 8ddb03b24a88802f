import { group, sum } from 'd3-array'
import { type RootTypes, rootTypes } from '../../compare/steps/root-types.ts'
import { slowSample } from '../../compare/steps/slow-sample.ts'
import {
  ALIKE,
  MIN_SEEN,
  NEARLY_ALL,
  NEGLIGIBLE,
  PART,
  SMALL,
  SURE,
  SURE_LEVEL,
} from '../../compare/thresholds.ts'
import { addAt } from '../../core/entries.ts'
import { amountsName, formatAmount, moreText } from '../../core/quantity.ts'
import { remembered } from '../../core/remembered.ts'
import { counted, firstOf, grouped } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import {
  type ComparedPeriods,
  type ComparisonWarning,
  exactPercent,
  signedPercent,
  warning,
} from './comparison-warning.ts'

interface Cell {
  readonly name: string
  readonly before: number
  readonly after: number
}

/** Before and after are shares of all requests. */
interface TypeShares extends Cell {
  readonly residual: number
}

/**
 * Types of one period alone in whose place their service has others, about as many: they may only be called
 * otherwise. A service's are as one then.
 */
const replacedTypes = remembered((given: FlowSet) => {
  const flows = recordedFlows(given)
  const types = rootTypes(flows)
  const { names, typeOf } = types
  const counts = sumsOfTypes(flows, types, () => 1)
  const serviceOf = new Map<number, string>()
  for (const [request, type] of typeOf.entries()) {
    if (serviceOf.has(type)) continue
    const [root = 0] = flows.shapes.labels(flows.shapeOf[request] as number)
    serviceOf.set(type, flows.labels.get(root).service)
  }
  const onceOf = (period: Period) =>
    [...names.keys()].filter(
      (type) => counts[1 - period]?.[type] === 0 && (counts[period][type] as number) >= MIN_SEEN,
    )
  const [gone, come] = [BEFORE, AFTER].map((period) =>
    group(onceOf(period as Period), (type) => serviceOf.get(type)),
  ) as [Map<string, number[]>, Map<string, number[]>]
  const replaced = [...gone].flatMap(([service, was]) => {
    const is = come.get(service) ?? []
    const shares = [was, is].map(
      (own, period) =>
        sum(own, (type) => counts[period]?.[type] as number) / flows.wholes(period as Period),
    ) as [number, number]
    const isAsMany = Math.abs(shares[AFTER] - shares[BEFORE]) <= PART * Math.max(...shares)
    return isAsMany ? [{ was, is }] : []
  })
  const firstOfAll = new Map(
    replaced.flatMap(({ was, is }) => [...was, ...is].map((one) => [one, was[0] as number])),
  )
  return { names, replaced, typeOf: typeOf.map((type) => firstOfAll.get(type) ?? type) }
})

/** Kinds of requests that are compared: by root and first call, one where it only may be called otherwise. */
export interface RequestKinds {
  readonly count: number
  /** Kind of each request. */
  readonly of: Uint32Array
  /** Kinds of requests that end before they show theirs. */
  readonly unknown: ReadonlySet<number>
}

export function kindsOfRequests(flows: FlowSet): RequestKinds {
  const { names, typeOf } = replacedTypes(flows)
  return { count: names.length, of: typeOf, unknown: rootTypes(flows).unknown }
}

/** Whether requests cannot be compared, as their kinds may be called otherwise after. */
export function otherKinds({ flows: given }: ComparedPeriods): ComparisonWarning[] {
  const flows = recordedFlows(given)
  const { names, replaced } = replacedTypes(flows)
  const { typeOf } = rootTypes(flows)
  const [was, is] = [replaced.flatMap((one) => one.was), replaced.flatMap((one) => one.is)]
  const isNew = new Set(is)
  const all = flows.wholes(AFTER)
  const others = [...typeOf.keys()].filter(
    (request) => isNew.has(typeOf[request] as number) && !flows.isPart(request),
  )
  if (others.length === 0 || others.length < NEGLIGIBLE * all) return []
  const named = (own: readonly number[]) =>
    firstOf(
      own.map((type) => names[type] as string),
      { most: 2 },
    )
  return warning('recorded-otherwise', {
    finding: `Only ${grouped(all - others.length)} of ${counted(all, 'request')} after can be compared. Probably renamed: ${named(was)} to ${named(is)}.`,
    effect: 'For the others, only steps that both names share are compared.',
    answer: 'To compare them, record both periods the same way.',
  })
}

/**
 * Types whose shares differ, and the effect of the mix alone on the mean; `null` if the mix is the same. Requests that
 * end before they show their type do not change the mix: a fault may have ended them.
 */
export const otherMix = remembered((flows: FlowSet) => {
  const types = { ...rootTypes(flows), typeOf: replacedTypes(flows).typeOf }
  // A sample that prefers slow requests has more of the types that take long.
  const differing = slowSample(recordedFlows(flows)) === null ? typesOfOtherShare(flows, types) : []
  const of = types.unknown.size === 0 ? 'requests' : 'requests that show their type'
  return differing.length === 0 ? null : { differing, of, ...shiftByMix(flows, types) }
})

/** Whether the mix of request types changed, by χ² at 0.001, rare types as one. */
export function requestMix({ flows, options }: ComparedPeriods): ComparisonWarning[] {
  const mix = otherMix(flows)
  if (mix === null) return []
  const { differing, of, beforeUs, shiftUs } = mix
  const isAuto = options.smPThreshold === 'auto'
  const shares = differing.map(
    ({ name, before, after }) => `${name} ${exactPercent(before)} → ${exactPercent(after)}`,
  )
  return warning('request-mix', {
    finding: `The request mix changed, which alone makes requests take ${moreText(shiftUs, flows.quantity)} on average: ${firstOf(shares)} of ${of}.`,
    effect:
      `The mix alone moves the mean ${amountsName(flows.quantity)} of all requests by ` +
      `${shiftUs > 0 ? '+' : ''}${formatAmount(shiftUs, flows.quantity)} (${signedPercent(shiftUs / beforeUs)} of ${formatAmount(beforeUs, flows.quantity)})` +
      (isAuto
        ? '.'
        : ', and categories of these types gain or lose requests without any change of structure.'),
    answer:
      'Compare times within categories, as response-time mutations do' +
      (isAuto
        ? ', and not the means of all requests.'
        : "; `smPThreshold: 'auto'` compares counts within each type."),
    advice: isAuto ? {} : { smPThreshold: 'auto' },
  })
}

/** Types whose shares differ by more than chance and enough to matter, the largest change first. */
function typesOfOtherShare(flows: FlowSet, types: RootTypes): TypeShares[] {
  const cells = countCells(flows, types)
  const { p, residuals } = chiSquareTest(
    cells.map(({ before }) => before),
    cells.map(({ after }) => after),
  )
  if (!(p < SURE_LEVEL)) return []
  const all = [sum(cells, ({ before }) => before), sum(cells, ({ after }) => after)] as const
  return cells
    .map(({ name, before, after }, cell) => ({
      name,
      before: before / all[BEFORE],
      after: after / all[AFTER],
      residual: residuals[cell] as number,
    }))
    .filter(matters)
    .sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
}

/** Counts the requests of each type by weight, scaled to the number of requests that the periods are worth. */
function countCells(flows: FlowSet, types: RootTypes): Cell[] {
  const { names, unknown } = types
  const [before, after] = sumsOfTypes(flows, types, (request) => flows.countOf(request))
  const [had, has] = [flows.worthIn(BEFORE), flows.worthIn(AFTER)]
  const smaller = Math.min(had, has) / Math.max(1, had + has)
  const [ofBefore, ofAfter] = flows.counted
    ? [had / flows.countedIn(BEFORE), has / flows.countedIn(AFTER)]
    : [1, 1]
  const cells = names.flatMap((name, type): Cell | [] => {
    const own = { before: before[type] as number, after: after[type] as number }
    return unknown.has(type)
      ? []
      : { name, before: own.before * ofBefore, after: own.after * ofAfter }
  })
  const isRare = (cell: Cell) => (cell.before + cell.after) * smaller < MIN_SEEN
  const rare = cells.filter(isRare)
  const rest = {
    name: `${grouped(rare.length)} rare types together`,
    before: rare.reduce((sum, cell) => sum + cell.before, 0),
    after: rare.reduce((sum, cell) => sum + cell.after, 0),
  }
  return [...cells.filter((cell) => !isRare(cell)), rest]
}

/** Adds up the amounts of whole requests by type, in both periods; unknown amounts count as 0. */
function sumsOfTypes(
  flows: FlowSet,
  { names, typeOf }: RootTypes,
  amountOf: (request: number) => number,
) {
  const sums = [new Float64Array(names.length), new Float64Array(names.length)] as const
  typeOf.forEach((type, request) => {
    const amount = flows.isPart(request) ? 0 : amountOf(request) || 0
    addAt(sums[flows.period[request] === BEFORE ? BEFORE : AFTER], type, amount)
  })
  return sums
}

function matters({ before, after, residual }: TypeShares): boolean {
  const change = Math.abs(after - before)
  return Math.abs(residual) > SURE && (change >= NEGLIGIBLE || change >= PART * before)
}

/** Returns the mean before, and how much it would move if only the mix of types changed. */
function shiftByMix(flows: FlowSet, types: RootTypes) {
  const { responseTimeUs } = flows
  const isTimed = (request: number) => Number.isFinite(responseTimeUs[request])
  const sums = sumsOfTypes(flows, types, (request) =>
    isTimed(request) ? flows.countOf(request) * (responseTimeUs[request] as number) : 0,
  )
  const counts = sumsOfTypes(flows, types, (request) =>
    isTimed(request) ? flows.countOf(request) : 0,
  )
  const beforeUs = sum(sums[BEFORE]) / sum(counts[BEFORE])
  const all = sum(counts[AFTER])
  for (const values of [...sums, ...counts]) for (const type of types.unknown) values[type] = 0
  const usualUs = sum(sums[BEFORE]) / sum(counts[BEFORE])
  const means = counts[BEFORE].map((count, type) => {
    const period = count > 0 ? BEFORE : AFTER
    return (sums[period][type] as number) / Math.max(1, counts[period][type] as number)
  })
  const mixed = means.map((meanUs, type) => meanUs * (counts[AFTER][type] as number))
  return { beforeUs, shiftUs: (sum(mixed) - usualUs * sum(counts[AFTER])) / all }
}

/**
 * Whether the same type of request was recorded with other weights, or one period does not say;
 * silent where counts are weighted.
 */
export function samplingDiffers({ flows, options }: ComparedPeriods): ComparisonWarning[] {
  const { weight } = flows
  if (weight === undefined) return []
  const recorded = [recordedShare(flows, weight, BEFORE), recordedShare(flows, weight, AFTER)]
  const [before = Number.NaN, after = Number.NaN] = recorded
  if (Math.abs(after - before) > SMALL) return partlyRecorded(before, after)
  if (flows.counting(options.counts) === 'weighted') return []
  const preferred = options.sampling === 'even' ? [] : unevenTypes(flows, weight)
  if (preferred.length > 0) return samplePrefers(preferred)
  const differing = typesOfOtherWeight(flows, weight)
  if (differing.length === 0) return []
  const estimates = ([BEFORE, AFTER] as const).map((period) => {
    const count = flows.count(period)
    return `${counted(count, 'recorded request')} stand for ${grouped(flows.stoodFor(period))}`
  })
  return warning('sampling-differs', {
    finding: `The sampling probability changed: ${firstOf(differing)}.`,
    effect:
      `Counts change with it: ${estimates[0]} before, ${estimates[1]} after. ` +
      'Times are not affected, unless slow or failed requests were preferred.',
    answer: "Count each request by its weight with `counts: 'weighted'`.",
    advice: { counts: 'weighted' },
  })
}

function samplePrefers(preferred: readonly UnevenType[]): ComparisonWarning[] {
  const both = preferred.filter(({ periods }) => periods === 'both')
  if (both.length === preferred.length) {
    return warning('sampling-differs', {
      finding:
        'Requests of one type were sampled at different rates within each period, so recorded rates and means ' +
        `are biased: ${firstOf(both.map(({ rates }) => rates))}.`,
      effect:
        'If failed or slow requests were preferred, recorded ones fail more often, or take longer, than all of them.',
      answer:
        "`counts: 'weighted'` counts each request by its weight; `sampling: 'even'` also thins out those that were preferred.",
      advice: { sampling: 'even', counts: 'weighted' },
    })
  }
  const names = preferred.map(
    ({ rates, periods }) => `${rates} ${periods === 'both' ? 'before and after' : periods}`,
  )
  return warning('sampling-differs', {
    finding: `The sample preferred some requests of a type over others: ${firstOf(names)}.`,
    effect:
      'If slow or failed requests were preferred, requests look slower and fail more often than they really do.',
    answer:
      "Count each request by its weight with `counts: 'weighted'`; `sampling: 'even'` also thins out those that were preferred.",
    advice: { sampling: 'even', counts: 'weighted' },
  })
}

/** Text about how unevenly a type was sampled, and the periods in which it was. */
interface UnevenType {
  readonly rates: string
  readonly periods: 'before' | 'after' | 'both'
}

/** Types of which a period has requests that stand for more than others. Source: Kish 1965, §11.7. */
function unevenTypes(flows: FlowSet, weight: Float64Array): UnevenType[] {
  const { names, typeOf } = rootTypes(flows)
  const uneven = ([BEFORE, AFTER] as const).flatMap((period) => {
    const rows = flows.requestsOf(period).filter((row) => !Number.isNaN(weight[row]))
    return Array.from(group(rows, (row) => typeOf[row] as number)).flatMap(([type, own]) => {
      const weights = own.map((row) => weight[row] as number)
      const worth = sum(weights) ** 2 / sum(weights, (each) => each ** 2) / own.length
      if (own.length < NEGLIGIBLE * rows.length || worth >= NEARLY_ALL) return []
      const [least, most] = [Math.min(...weights), Math.max(...weights)].map((each) =>
        Number((each as number).toPrecision(3)),
      )
      const periods: UnevenType['periods'] = period === BEFORE ? 'before' : 'after'
      return { rates: `${names[type]}: one in ${least} to one in ${most}`, periods }
    })
  })
  return Array.from(group(uneven, ({ rates }) => rates).values(), ([first, other]) =>
    other === undefined ? (first as UnevenType) : { rates: other.rates, periods: 'both' },
  )
}

function partlyRecorded(before: number, after: number): ComparisonWarning[] {
  return warning('sampling-differs', {
    finding: `The sampling probability was recorded for ${exactPercent(before)} of the requests before and ${exactPercent(after)} after.`,
    effect: 'Request counts may reflect sampling. Requests without a weight count once.',
    answer: "Compare shares with `smPThreshold: 'auto'`, or scale counts with `counts: 'scaled'`.",
    advice: { smPThreshold: 'auto', counts: 'scaled' },
  })
}

function recordedShare(flows: FlowSet, weight: Float64Array, period: Period): number {
  const requests = flows.requestsOf(period)
  return requests.filter((one) => !Number.isNaN(weight[one])).length / requests.length
}

/** Types whose requests weigh more or less than before, as text, the largest change first. */
function typesOfOtherWeight(flows: FlowSet, weight: Float64Array): string[] {
  const types = rootTypes(flows)
  const sums = sumsOfTypes(flows, types, (request) => weight[request] as number)
  const counts = sumsOfTypes(flows, types, (request) => Number((weight[request] as number) >= 0))
  const meanOf = (type: number, period: Period) =>
    (sums[period][type] as number) / (counts[period][type] as number)
  const isSeldom = (type: number) =>
    counts.some((own) => (own[type] as number) < NEGLIGIBLE * Math.max(1, sum(own)))
  return types.names
    .map((name, type) => ({ name, type, before: meanOf(type, BEFORE), after: meanOf(type, AFTER) }))
    .filter(({ type }) => !isSeldom(type))
    .map((type) => ({ ...type, factor: Math.abs(Math.log(type.after / type.before)) }))
    .filter(({ factor }) => factor > Math.log(ALIKE))
    .sort((a, b) => b.factor - a.factor)
    .map(
      ({ name, before, after }) =>
        `${name}: one in ${Number(before.toPrecision(3))} before, one in ${Number(after.toPrecision(3))} after`,
    )
}
