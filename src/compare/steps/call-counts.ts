// Runs once a span of a shape: the loops index with `!`.

import { sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { callName } from '../../flows/node-labels.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { differ, equalRows } from '../../stats/weighted-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { MAX_TRIED, MOST } from '../thresholds.ts'
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
import { type ChoiceCounts, type StretchCounts, timeBlocks } from './time-blocks.ts'

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
  if (callees.length > MAX_TRIED) return ''
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
      .filter(({ all, direct }) => direct >= MOST * all)
      .map(({ call, sites, made }) => ({
        ...this.#choice,
        call,
        strata: [...this.#contexts].map(([context, chances]) => chances.choices(made.get(context))),
        chanceSites: this.#chanceSites,
        madeSites: sites,
      }))
  }
}

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
