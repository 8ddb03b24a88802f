// Runs once a span of a shape: the loops index with `!`.
import { sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { callName } from '../../flows/node-labels.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { twoSidedTP } from '../../stats/distributions.ts'
import { stratifiedFisherP } from '../../stats/fisher-exact.ts'
import {
  designEffects,
  type Lasting,
  type StretchOptions,
  StretchSums,
} from '../../stats/moderated-shifts.ts'
import { differ, equalRows } from '../../stats/weighted-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import {
  type Caller,
  type CallerKind,
  type CallSite,
  type CallSites,
  isSame,
  isSameCall,
  type Operation,
} from './call-order.ts'
import type { RootCalls } from './root-types.ts'
import {
  BLOCKS,
  type ChoiceCounts,
  type StretchCounts,
  timeBlocks,
  type WeightSpread,
} from './time-blocks.ts'

/**
 * Choices of an operation about calls, independent of its other choices. `'calls'`: makes a call; `'next'`: goes on
 * with one at any time after another was answered; `'again'`: repeats a call once it has failed; `'hedges'`: repeats
 * one while it runs longer than usual; `'outlives'`: does not wait for one. Choices about two calls whose order the
 * operation may choose: `'together'`: some overlap; `'in turn'`: none overlap, and one comes right after the other;
 * `'before'`: the one is over before the other begins. With logs, also `'logs'`: logs a statement each time it is
 * called; `'logs next'`: goes on with one right after another. Statements then stand for calls.
 */
export const CALL_CHOICES = [
  'calls',
  'next',
  'again',
  'hedges',
  'outlives',
  'together',
  'in turn',
  'before',
  'logs',
  'logs next',
] as const

/** Something that an operation may do. */
export interface CallChoice {
  readonly kind: (typeof CALL_CHOICES)[number]
  readonly of: Operation
  /**
   * For `'next'`, the call that was answered before; for two calls, one of them (for `'before'`, the first). `null` for
   * none.
   */
  readonly previous: Operation | null
  /** Call that is made; `null` where the operation makes no further call. */
  readonly call: Operation | null
}

export function isSameChoice(
  a: Omit<CallChoice, 'kind'> & { readonly kind: string },
  b: CallChoice,
): boolean {
  return (
    a.kind === b.kind &&
    isSame(a.of, b.of) &&
    isSameCall(a.call, b.call) &&
    isSameCall(a.previous, b.previous)
  )
}

/** One choice, counted in both periods. */
export interface CallCounts extends CallChoice {
  /** By the operation that called this one. */
  readonly strata: readonly ChoiceCounts[]
  /** Sites that could make it, and those that made it. */
  readonly chanceSites: ReadonlySet<number>
  readonly madeSites: ReadonlySet<number>
}

/**
 * Counts the calls that operations make, and their order, given that the operations were called. Leaves out calls of a
 * root that distinguish types of requests; see `rootCalls`.
 */
export function callCounts({ sites }: CallSites, roots: RootCalls): readonly CallCounts[] {
  const questions = new Map<string, Question>()
  const names = new OperationNames()
  sites.forEach((site, number) => {
    const all = sum(site.requests.counts)
    const contexts = new Map<string, string>()
    for (const choice of choicesOf(site, names, roots)) {
      const { of, kind, about, among = '', answers } = choice
      const key = `${kind} ${names.number(of)} ${about.map((one) => names.number(one)).join(' ')}`
      const question = getOrInsert(questions, key, () => new Question(choice, names))
      const context = getOrInsert(contexts, among, () => JSON.stringify([site.context, among]))
      question.add({ number, requests: site.requests, all }, { context, answers })
    }
  })
  return [...questions.values()].flatMap((question) => question.counts())
}

/** Numbers operations, so that long names are read once, however often they are counted. */
class OperationNames {
  readonly #numbers = new Map<Operation, number>()
  readonly #known = new Map<string, number>()
  readonly #texts: string[] = []

  number(operation: Operation): number {
    const known = this.#numbers.get(operation)
    if (known !== undefined) return known
    const text = JSON.stringify(operation)
    const number = this.#known.get(text) ?? this.#texts.push(text) - 1
    this.#known.set(text, number)
    this.#numbers.set(operation, number)
    return number
  }

  sorted(operations: readonly Operation[]): Operation[] {
    const textOf = (operation: Operation) => this.#texts[this.number(operation)]!
    return operations.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
  }
}

/** A call that was made, or `null` for the end, and whether it was so at once. */
interface Answer {
  readonly call: Operation | null
  readonly isDirect: boolean
}

interface Choice extends Omit<CallChoice, 'call'> {
  /** Requirement for comparing counts, in addition to the same calling operation. */
  readonly among?: string
  /** Calls that distinguish this choice from others of its kind: those answered, or made. */
  readonly about: readonly Operation[]
  readonly answers: readonly Answer[]
}

const MAX_PAIRED = 32

function choicesOf(
  site: CallSite,
  names: OperationNames,
  { telling, common }: RootCalls,
): Choice[] {
  const { of, type, isRoot, callees, order } = site
  const made = (calls: readonly Operation[]) => calls.map((call) => ({ call, isDirect: true }))
  const own = (kind: 'again' | 'hedges' | 'outlives', numbers: readonly number[], among?: string) =>
    callees.map((call, number): Choice => {
      const answers = numbers.includes(number) ? made([call]) : []
      return { kind, of, previous: null, about: [call], ...(among && { among }), answers }
    })
  const ends = callees.length === 0 ? [{ call: null, isDirect: true }] : []
  const tells = isRoot ? telling.get(callName(of)) : undefined
  const among = calledIn(site, names)
  const calls = { kind: 'calls', of, previous: null, about: [], among: type } as const
  return [
    { ...calls, answers: made(callees.filter((call) => !tells?.has(callName(call)))) },
    { kind: 'next', of, previous: null, about: [], answers: ends },
    ...nextOf(site, names).map((choice) => ofType(choice, type, isRoot ? common : new Set())),
    ...own('again', order.again),
    ...own(
      'hedges',
      callees.flatMap((_, at) => (order.relation(at, at).together ? [at] : [])),
    ),
    ...own('outlives', order.outliving, among),
    ...(among === '' ? [] : pairsOf(site, among, names)),
  ]
}

/** Limits a choice after calls of a root that all types make: it tells only whether the root's calls end there. */
function ofType(choice: Choice, type: string, common: ReadonlySet<string>): Choice {
  const isCommon = (call: Operation) => common.has(callName(call))
  if (!choice.about.every(isCommon)) return { ...choice, among: type }
  return {
    ...choice,
    answers: choice.answers.filter(({ call }) => call === null || isCommon(call)),
  }
}

/** Returns the choices after the last calls of each group of overlapping callees. */
function nextOf({ of, callees, order: { groups } }: CallSite, names: OperationNames): Choice[] {
  return groups.flatMap((group, place): Choice[] => {
    const later = groups.slice(place + 1)
    if (later.some((other) => other.some((callee) => group.includes(callee)))) return []
    const about = names.sorted(group.map((callee) => callees[callee]!))
    const found = [...new Set(later.flat())].map((callee) => ({
      call: callees[callee]!,
      isDirect: later[0]!.includes(callee),
    }))
    const answers = found.length === 0 ? [{ call: null, isDirect: true }] : found
    return [{ kind: 'next', of, previous: about.at(-1)!, about, answers }]
  })
}

/** Returns all that is called, once or repeatedly: what takes longer than another call depends on it. */
function calledIn({ callees, numbers }: CallSite, names: OperationNames): string {
  if (callees.length > MAX_PAIRED) return ''
  return callees
    .map((callee, at) => `${names.number(callee)}${isRepeated(numbers, at) ? ' repeated' : ''}`)
    .sort()
    .join()
}

function isRepeated(numbers: readonly number[], callee: number): boolean {
  return numbers.indexOf(callee) !== numbers.lastIndexOf(callee)
}

/** Returns how two callees, or calls of one, lie in time, separately by the operation's other calls. */
function pairsOf(
  { of, callees, numbers, order }: CallSite,
  among: string,
  names: OperationNames,
): Choice[] {
  const choices: Choice[] = []
  const ask = (kind: 'together' | 'in turn' | 'before', pair: Operation[], is: boolean) => {
    const [previous, call] = pair as [Operation, Operation]
    const answers = is ? [{ call, isDirect: true }] : []
    choices.push({ kind, of, previous, about: pair, among, answers })
  }
  for (let a = 0; a < callees.length; a++) {
    for (let b = a; b < callees.length; b++) {
      if (a === b && !isRepeated(numbers, a)) continue
      const { together, inTurn, before } = order.relation(a, b)
      const pair = [callees[a]!, callees[b]!]
      const sorted = names.sorted(pair)
      ask('together', sorted, together)
      ask('in turn', sorted, inTurn)
      if (a === b) continue
      ask('before', pair, before)
      ask('before', pair.toReversed(), order.relation(b, a).before)
    }
  }
  return choices
}

class Question {
  readonly #choice: Pick<Choice, 'kind' | 'of' | 'previous'>
  readonly #names: OperationNames
  readonly #chanceSites = new Set<number>()
  readonly #contexts = new Map<string, StretchCounts>()
  readonly #answers = new Map<
    number | null,
    {
      call: Operation | null
      sites: Set<number>
      made: Map<string, StretchCounts>
      /** Requests in which it was made, and in which at once. */
      all: number
      direct: number
    }
  >()

  constructor({ kind, of, previous }: Choice, names: OperationNames) {
    this.#choice = { kind, of, previous }
    this.#names = names
  }

  add(
    { number, requests, all }: { number: number; requests: StretchCounts; all: number },
    { context, answers }: { context: string; answers: readonly Answer[] },
  ): void {
    this.#chanceSites.add(number)
    addTo(this.#contexts, context, requests)
    for (const { call, isDirect } of answers) {
      const name = call && this.#names.number(call)
      const newAnswer = () => ({
        call,
        sites: new Set<number>(),
        made: new Map(),
        all: 0,
        direct: 0,
      })
      const answer = getOrInsert(this.#answers, name, newAnswer)
      answer.sites.add(number)
      answer.all += all
      if (isDirect) answer.direct += all
      addTo(answer.made, context, requests)
    }
  }

  /** Returns the counts of each call; one that mostly comes by way of another is counted at that one. */
  counts(): CallCounts[] {
    return [...this.#answers.values()]
      .filter(({ all, direct }) => direct >= MOSTLY * all)
      .map(({ call, sites, made }) => ({
        ...this.#choice,
        call,
        strata: [...this.#contexts].map(([context, chances]) => chances.choices(made.get(context))),
        chanceSites: this.#chanceSites,
        madeSites: sites,
      }))
  }
}

const MOSTLY = 0.5

function addTo(sums: Map<string, StretchCounts>, key: string, requests: StretchCounts): void {
  const known = sums.get(key)
  if (known === undefined) sums.set(key, requests.copy())
  else known.addAll(requests)
}

/** Names what a choice tests: two always made together, or exclusively, are one test. */
export function sameTest({ strata }: Pick<CallCounts, 'strata'>, p: number): string {
  if (Number.isNaN(p)) return ''
  const made = strata.flatMap((stratum) => [...stratum.made])
  const left = strata.flatMap(({ chances, made }) => [...chances].map((all, i) => all - made[i]!))
  const chances = strata.flatMap((stratum) => [...stratum.chances])
  return `${chances}|${[`${made}`, `${left}`].sort()}`
}

/** Number of calls that an operation makes each time it makes any. */
export interface CallRepeats {
  readonly of: Operation
  readonly call: Operation
  /** Mean times of each shape's visits, of the shapes that make it. */
  readonly timesOf: ReadonlyMap<number, number>
  /** By the operation that called this one; one value a request, the mean of its visits. */
  readonly strata: readonly { readonly before: RepeatSample; readonly after: RepeatSample }[]
  /** Requests that make it, and the sum of how often a visit of theirs makes it, as requests count. */
  readonly chances: readonly [before: number, after: number]
  readonly made: readonly [before: number, after: number]
}

/** Values of one period, with the stretch of time of each. */
interface RepeatSample {
  readonly values: readonly number[]
  readonly blocks: readonly number[]
}

interface Repeat extends Pick<CallRepeats, 'of' | 'call'> {
  readonly key: string
  readonly context: string
  readonly times: number
}

/** Collects how many times operations make calls, of calls that some request repeats. */
export function callRepeats(flows: FlowSet, sites: CallSites): readonly CallRepeats[] {
  const ofKind = memoized(repeatsOfKind)
  const ofShape = sites.callers.map((callers) => repeatsOf(callers, ofKind))
  const all = ofShape.flat()
  const repeated = new Set(all.filter(({ times }) => times > 1).map(({ key }) => key))
  const found = new Map<string, Repeated>()
  const { of: blocks } = timeBlocks(flows)
  const samplesOf = (shape: number) =>
    ofShape[shape]!.filter(({ key }) => repeated.has(key)).map(
      ({ key, context, of, call, times }) => {
        const known = getOrInsert(found, key, () => {
          const counts = { chances: [0, 0], made: [0, 0] } as Pick<Repeated, 'chances' | 'made'>
          return { of, call, timesOf: new Map(), contexts: new Map(), ...counts }
        })
        known.timesOf.set(shape, times)
        const newSamples = () => [new GrowingRepeats(), new GrowingRepeats()] as const
        return { times, samples: getOrInsert(known.contexts, context, newSamples), known }
      },
    )
  const ofShapes: ReturnType<typeof samplesOf>[] = []
  flows.shapeOf.forEach((shape, request) => {
    ofShapes[shape] ??= samplesOf(shape)
    const period = flows.period[request] as Period
    const weight = flows.countOf(request)
    for (const { times, samples, known } of ofShapes[shape]) {
      samples[period].add(times, blocks[request]!, weight)
      known.chances[period] += weight
      known.made[period] += weight * times
    }
  })
  return [...found.values()].map(({ contexts, ...repeat }) => ({
    ...repeat,
    strata: Array.from(contexts.values(), ([before, after]) => ({
      before: before.finish(),
      after: after.finish(),
    })),
  }))
}

interface Repeated extends Pick<CallRepeats, 'of' | 'call'> {
  readonly timesOf: Map<number, number>
  readonly contexts: Map<string, readonly [GrowingRepeats, GrowingRepeats]>
  readonly chances: [before: number, after: number]
  readonly made: [before: number, after: number]
}

class GrowingRepeats {
  readonly #values: number[] = []
  readonly #blocks: number[] = []
  readonly #weights: number[] = []

  add(times: number, block: number, weight: number): void {
    this.#values.push(times)
    this.#blocks.push(block)
    this.#weights.push(weight)
  }

  /** Values that each count once: as many as weighted ones are worth. */
  finish(): RepeatSample {
    if (!differ(this.#weights)) return { values: this.#values, blocks: this.#blocks }
    const order = ascendingOrder(Float64Array.from(this.#values), groupRows(this.#blocks, 256).rows)
    const sorted = (all: readonly number[]) => Array.from(order, (row) => all[row]!)
    const [values, blocks] = [sorted(this.#values), sorted(this.#blocks)]
    const rows = [...equalRows({ values, weights: sorted(this.#weights) })]
    return { values: rows.map((row) => values[row]!), blocks: rows.map((row) => blocks[row]!) }
  }
}

function repeatsOf(callers: readonly Caller[], ofKind: typeof repeatsOfKind): Repeat[] {
  const found = new Map<string, { repeat: Repeat; calls: number; spans: number }>()
  for (const { kind } of callers) {
    for (const [at, repeat] of ofKind(kind)) {
      const known = getOrInsert(found, at, () => ({ repeat, calls: 0, spans: 0 }))
      known.calls += repeat.times
      known.spans++
    }
  }
  return Array.from(found.values(), ({ repeat, calls, spans }) => ({
    ...repeat,
    times: calls / spans,
  }))
}

function repeatsOfKind({ of, context, callees, numbers }: CallerKind) {
  return callees.map((call, callee): [at: string, Repeat] => {
    const key = JSON.stringify([of, call])
    const times = numbers.filter((number) => number === callee).length
    return [JSON.stringify([key, context]), { key, context, of, call, times }]
  })
}

/** Test of how often a possible event happened, in both periods. */
export interface CountsTest {
  readonly made: readonly [before: number, after: number]
  readonly chances: readonly [before: number, after: number]
  /** Number of equally weighted chances that these are worth; the same number unless weighted. */
  readonly worth: readonly [before: number, after: number]
  /** Difference of the shares of chances taken, after − before, within strata. */
  readonly difference: number
  /** `NaN` where no stratum has chances in both periods, or all or none of them are taken. */
  readonly p: number
}

/** Fewest chances taken, or left, for the normal approximation; with fewer, counts are tested exactly. */
const MIN_EXPECTED = 5

export interface CountsOptions extends StretchOptions {
  /** Duration of levels; default `false`: none lasts longer than a stretch. */
  readonly lasts?: Lasting
}

/**
 * Tests of many things whether a larger or smaller share of their chances is taken. Null hypothesis: within strata the
 * share is that of before, and drifts as it does within periods. Fisher's exact test for few chances, else Mantel and
 * Haenszel's with continuity correction; if shares vary more than independent calls would (`designEffects`), the larger
 * p with that variance. As R's `fisher.test` and `mantelhaen.test`, but p = 1 below half a call. `runShifts` tests the
 * differences between runs. Sources: Fisher 1922; Mantel and Haenszel 1959; Mantel and Fleiss 1980 (which are too few);
 * Rao and Scott 1992 (design effect of counts).
 */
export function compareCounts(
  all: readonly (readonly ChoiceCounts[])[],
  { perRun = BLOCKS, pairs = null, steady = false, lasts = false }: CountsOptions = {},
): CountsTest[] {
  const sums = all.map((strata) => sumCounts(strata, { perRun, pairs, steady }))
  const design = designEffects(sums, { lasts, ...(steady && { maxShared: 1 }) })
  return sums.map(({ made, chances, weight, excess, ...rest }, i): CountsTest => {
    const effect = design.effects[i] as number
    const df = effect ** 2 / ((effect - 1) ** 2 / (design.df[i] as number))
    const p = pOf({ ...rest, excess }, effect, df)
    return { made, chances, worth: chances, difference: weight === 0 ? 0 : excess / weight, p }
  })
}

/** Counts of as many chances as weighted ones are worth in each period, of the pooled share (`countWorth`). */
export function unweighted(counts: ChoiceCounts, perRun: number): ChoiceCounts {
  const { chances, made, spread } = counts
  if (spread === undefined) return counts
  const split = chances.length - perRun
  const share = Math.min(1, sum(made) / sum(chances))
  const scales = [[0, split] as const, [split, chances.length] as const].map((range) => {
    const momentsOf = (weights: Float64Array, { recorded, squares }: WeightSpread) =>
      [recorded, weights, squares].map((sums) => total(sums, range)) as WeightMoments
    return countWorth(momentsOf(chances, spread.chances), momentsOf(made, spread.made), share)
  })
  const scaled = (all: Float64Array) =>
    all.map((count, stretch) => count * (scales[stretch < split ? 0 : 1] as number))
  return { chances: scaled(chances), made: scaled(made) }
}

/** Number of recorded values, the sum of their weights, and the sum of the squared weights. */
export type WeightMoments = [recorded: number, sum: number, squares: number]

/** Standard errors by which weights of taken values must differ from the others to tell how they were sampled. */
const INFORMATIVE = 3

/**
 * Returns the worth of a weighted count as a factor: the share of that many unweighted values varies as much as Σwy /
 * Σw. If the weights of taken values clearly differ from the others (for example because all failures are kept), uses
 * the linearized variance Σw²(y − p)² of the share p. Otherwise weights tell nothing about taken values, and Kish's
 * size is used, which a few values do not sway.
 *
 * Sources: Kish 1965, "Survey Sampling", §8.2; Rao and Scott 1992 (ratios of weighted counts);
 * DuMouchel and Duncan 1983, "Using sample survey weights in multiple regression" (whether they tell).
 */
export function countWorth(all: WeightMoments, taken: WeightMoments, share: number): number {
  const left = all.map((sum, i) => sum - (taken[i] as number)) as [number, number, number]
  const weightOf = ([, sum, squares]: WeightMoments) => squares / sum
  const design = tellApart(all, taken, left)
    ? (1 - share) * weightOf(taken) + share * weightOf(left)
    : weightOf(all)
  return 1 / design || 1
}

function tellApart(
  [count, sum, squares]: WeightMoments,
  [n1, sum1]: WeightMoments,
  [n2, sum2]: WeightMoments,
): boolean {
  const variance = squares / count - (sum / count) ** 2
  const differ = Math.abs(sum1 / n1 - sum2 / n2)
  return differ > INFORMATIVE * Math.sqrt(variance * (1 / n1 + 1 / n2))
}

/** Sums of both periods, in whole numbers. */
export function inPeriods(
  strata: readonly ChoiceCounts[],
  of: 'made' | 'chances',
  perRun: number,
): [before: number, after: number] {
  const sumOf = (from: number, to?: number) =>
    Math.round(sum(strata, ({ [of]: counts }) => total(counts, [from, to ?? counts.length])))
  const split = (strata[0]?.chances.length ?? perRun) - perRun
  return [sumOf(0, split), sumOf(split)]
}

type Table = readonly [made1: number, n1: number, made2: number, n2: number]

function sumCounts(
  strata: readonly ChoiceCounts[],
  { perRun, pairs, steady }: Required<StretchOptions>,
) {
  const made: [number, number] = [0, 0]
  const chances: [number, number] = [0, 0]
  const used: Table[] = []
  const size = strata[0]?.chances.length ?? 0
  const split = size - perRun
  const runs = Array.from({ length: size / perRun }, () => new StretchSums())
  const both = new StretchSums()
  let [excess, variance, allWeight] = [0, 0, 0]
  for (const stratum of strata) {
    const [x1, x2] = [total(stratum.made, [0, split]), total(stratum.made, [split, size])]
    const [n1, n2] = [total(stratum.chances, [0, split]), total(stratum.chances, [split, size])]
    made[0] += x1
    made[1] += x2
    chances[0] += n1
    chances[1] += n2
    if (n1 === 0 || n2 === 0) continue
    // Weighted counts are no whole numbers, as exact tests want them.
    used.push([Math.round(x1), Math.round(n1), Math.round(x2), Math.round(n2)])
    const share = (x1 + x2) / (n1 + n2)
    const weight = (n1 * n2) / (n1 + n2)
    allWeight += weight
    excess += weight * (x2 / n2 - x1 / n1)
    variance += (weight * (n1 + n2) * share * (1 - share)) / (n1 + n2 - 1)
    for (const [run, sums] of runs.entries()) {
      const range = [run * perRun, (run + 1) * perRun] as const
      const share = total(stratum.made, range) / total(stratum.chances, range)
      const scale = weight / (range[0] < split ? n1 : n2)
      addStretches(pairs ? both : sums, stratum, {
        range,
        share,
        scale: pairs && range[0] < split ? -scale : scale,
        numberOf: (stretch) => (pairs ? stretch % perRun : stretch),
      })
    }
  }
  const share = (made[0] + made[1]) / (chances[0] + chances[1])
  const kurtosis = 1 / (share * (1 - share)) - 6
  return {
    made,
    chances,
    used,
    weight: allWeight,
    excess,
    variance,
    periods: pairs ? [both] : steady ? runs.slice(0, -1) : runs,
    kurtosis,
  }
}

function addStretches(
  sums: StretchSums,
  { made, chances }: ChoiceCounts,
  {
    range: [from, to],
    share,
    scale,
    numberOf,
  }: {
    range: readonly [number, number]
    share: number
    scale: number
    numberOf: (stretch: number) => number
  },
): void {
  for (let stretch = from; stretch < to; stretch++) {
    const [own, count] = [made[stretch] as number, chances[stretch] as number]
    if (count === 0) continue
    const squares = own * (1 - share) ** 2 + (count - own) * share ** 2
    sums.add(numberOf(stretch), scale * (own - count * share), count, scale ** 2 * squares)
  }
}

function pOf(
  { used, excess, variance }: { used: readonly Table[]; excess: number; variance: number },
  designEffect: number,
  df: number,
): number {
  if (used.length === 0 || variance === 0) return Number.NaN
  const corrected = Math.max(0, Math.abs(excess) - 0.5)
  const isExact = used.length === 1 || areFew(used)
  const independent = isExact ? stratifiedFisherP(used) : 0
  if (isExact && designEffect === 1) return independent
  return Math.max(independent, twoSidedTP(corrected / Math.sqrt(variance * designEffect), df))
}

/** Whether the normal distribution of the second counts' sum would be cut off nearby. */
function areFew(used: readonly Table[]): boolean {
  let [below, above] = [0, 0]
  for (const [x1, n1, x2, n2] of used) {
    const expected = ((x1 + x2) * n2) / (n1 + n2)
    below += expected - Math.max(0, x1 + x2 - n1)
    above += Math.min(n2, x1 + x2) - expected
  }
  return Math.min(below, above) < MIN_EXPECTED
}

function total(counts: Float64Array, [from, to]: readonly [number, number]): number {
  let sum = 0
  for (let stretch = from; stretch < to; stretch++) sum += counts[stretch] as number
  return sum
}
