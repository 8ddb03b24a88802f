import { grouped } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { moments } from '../../stats/moments.ts'
import { cappedTimes } from '../edges/edge-times.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { Ranking } from '../ranking/rank-mutations.ts'
import { isSame, type Operation } from '../steps/call-counts.ts'
import type { CallChange, RepeatChange, StepChanges } from '../steps/step-changes.ts'
import { byRequestsAfter } from './categories-concerned.ts'
import type { Draft, FindingCall, StructureChange, StructureMove } from './finding.ts'
import { operationName, printable } from './names.ts'
import { costOfMoves } from './structure-findings.ts'
import { groupMoves, structureMoves } from './structure-moves.ts'

/** What one service does differently, the change of most calls first. */
interface ServiceChanges {
  readonly service: string
  readonly calls: readonly CallChange[]
  readonly repeats: readonly RepeatChange[]
}

/** Requests whose flow is of the new form, and those of the form that it replaces. */
interface Forms {
  /** After; before, there are `nowBefore`. */
  readonly now: readonly number[]
  readonly nowBefore: number
  readonly usual: readonly number[]
  /** Period of the usual ones. */
  readonly period: Period
}

/** Moves between categories tell the cost when they are of this share of the requests. */
const MIN_MOVED = 0.5

/** Fewest requests after that tell what the usual form takes. */
const MIN_USUAL = 10

/** Drafts one finding a service that makes other calls, or the same more or less often. */
export function callFindings(
  changes: StepChanges,
  { evidence, edges }: { evidence: Ranking; edges: EdgeChanges },
): Draft[] {
  const { flows } = changes
  const { categories } = edges
  const { precursors, options } = evidence
  const { smPThreshold } = precursors.structural.options
  const least = smPThreshold === 'auto' ? 0 : smPThreshold
  const moves = structureMoves(precursors)
  return changedServices(changes).flatMap((all): Draft[] => {
    const { one, forms, requests, ...costOfForms } = mostCostly(flows, all)
    if (requests < least) return []
    const categoriesOf = (some: readonly number[]) =>
      byRequestsAfter(
        categories,
        some.map((request) => categories.categoryOf[request] as number),
      )
    const [to, from] = [categoriesOf(forms.now), categoriesOf(forms.usual)]
    const own = movesBetween(moves, { from, to, requests })
    const cost = costOfMoves(categories, own, options.centre)
    const { call, previous } = headline(one)
    // What ends early looks like whatever is short, and has been anything before.
    const isKnown =
      call !== null && cost.requests >= MIN_MOVED * requests && !Number.isNaN(cost.contributionUs)
    const { contributionUs, eachInterval } = isKnown
      ? { ...cost, contributionUs: (cost.contributionUs / cost.requests) * requests }
      : costOfForms
    const changedStructure = groupMoves(categories, own)[0]?.changes ?? []
    return [
      {
        kind: 'structure',
        direction: contributionUs < 0 ? 'faster' : 'slower',
        where: printable(one.service),
        what: callWords(one),
        key: [...all.calls.map(callKey), ...all.repeats.map(callKey)].sort().join('\n'),
        categories: [...new Set([...to, ...from])],
        requests,
        concerned: [forms.nowBefore, forms.now.length],
        contributionUs,
        eachInterval,
        probabilitySlower: Number.NaN,
        notes: [],
        look:
          previous === null || previous.service === one.service
            ? printable(one.service)
            : `${printable(one.service)}, and the answer of ${nameOf(previous, '')}`,
        services: suspects(one.service, { previous, call, changedStructure }),
        changedEdges: [],
        changedStructure,
        steps: [],
        calls: toldFirst(all, one),
        moves: own,
        p: Math.min(...[...all.calls, ...all.repeats].map(({ p }) => p)),
        q: Math.min(...[...all.calls, ...all.repeats].map(({ q }) => q)),
      },
    ]
  })
}

/** Everything that a service does otherwise, what the finding says first. */
function toldFirst({ calls, repeats }: ServiceChanges, told: ServiceChanges): FindingCall[] {
  const ofCalls = calls.map(({ kind, of, previous, call, made, chances }) => ({
    ...{ kind, of, previous, call, made, chances },
  }))
  const ofRepeats = repeats.map(({ of, call, made, chances }) => ({
    ...{ kind: 'repeats' as const, of, previous: null, call, made, chances },
  }))
  return told.calls.length > 0 ? [...ofCalls, ...ofRepeats] : [...ofRepeats, ...ofCalls]
}

/** What a service does more or less often, or what it repeats: whichever costs or saves more. */
function mostCostly(flows: FlowSet, all: ServiceChanges) {
  const { service, calls, repeats } = all
  const parts = [
    ...(calls.length > 0 ? [{ service, calls, repeats: [] }] : []),
    ...(repeats.length > 0 ? [{ service, calls: [], repeats }] : []),
  ]
  const priced = parts.map((one) => {
    const forms = formsOf(flows, one)
    const usual = moments(timesOf(flows, forms.usual, forms.period))
    const now = moments(timesOf(flows, forms.now, AFTER))
    const eachUs = now.mean - usual.mean
    const width =
      normalQuantile(0.975) *
      Math.hypot(now.sd / Math.sqrt(now.count), usual.sd / Math.sqrt(usual.count))
    const requests = Math.min(forms.now.length, changedRequests(flows, one))
    const contributionUs = Number.isNaN(eachUs) ? 0 : eachUs * requests
    return {
      one,
      forms,
      requests,
      contributionUs,
      eachInterval: [eachUs - width, eachUs + width] as const,
    }
  })
  const [first] = priced.sort((a, b) => Math.abs(b.contributionUs) - Math.abs(a.contributionUs))
  return first as (typeof priced)[number]
}

/** The service that decides, whose answer it has, what that answer rests on, and who is called. */
function suspects(
  service: string,
  {
    previous,
    call,
    changedStructure,
  }: {
    previous: Operation | null
    call: Operation | null
    changedStructure: readonly StructureChange[]
  },
): string[] {
  const answered = changedStructure.flatMap((change) => change.answered ?? [])
  const restsOn = answered
    .filter((answer) => answer.service === previous?.service)
    .flatMap((answer) => answer.restsOn)
  const names = [service, previous?.service, ...restsOn, call?.service]
  return [...new Set(names.filter((name) => name !== undefined))]
}

function changedServices({ calls, repeats }: StepChanges): ServiceChanges[] {
  const changed = calls.filter((call) => call.changed)
  const repeated = repeats.filter((repeat) => repeat.changed)
  const services = new Set([...changed, ...repeated].map(({ of }) => of.service))
  return [...services].map((service) => ({
    service,
    calls: changed
      .filter(({ of }) => of.service === service)
      .sort((a, b) => changedCalls(b) - changedCalls(a) || plainness(b) - plainness(a)),
    repeats: repeated.filter(({ of }) => of.service === service),
  }))
}

function changedCalls({ difference, chances }: CallChange): number {
  return Math.abs(difference) * chances[AFTER]
}

/**
 * Ranks changes of as many calls, the one to tell highest: what is altogether new or gone, then calls
 * before what comes next, what happens more often, and calls to other services.
 */
function plainness({ kind, of, call, difference, made }: CallChange): number {
  const isWhole = call !== null && made.some((count) => count === 0)
  const isElsewhere = call !== null && call.service !== of.service
  return 8 * +isWhole + 4 * +(kind === 'calls') + 2 * +(difference > 0) + +isElsewhere
}

function headline({ calls: [call], repeats: [repeat] }: ServiceChanges) {
  return { call: call?.call ?? repeat?.call ?? null, previous: call?.previous ?? null }
}

function callKey(change: CallChange | RepeatChange): string {
  const { of, call } = change
  const kind = 'kind' in change ? [change.kind, change.previous] : ['repeats']
  return JSON.stringify([of, kind, call])
}

/** Says what a service does differently: `GetAds returns without calling anything in 31 of 160 calls (0 of 182 before)`. */
function callWords({ service, calls, repeats: [repeat] }: ServiceChanges): string {
  const [change] = calls
  if (change === undefined) {
    const { of, call, beforeTimes, afterTimes } = repeat as RepeatChange
    const times = `${rounded(afterTimes)} times instead of ${rounded(beforeTimes)}`
    return `${operationName(of)} calls ${nameOf(call, service)} ${times}`
  }
  const { of, kind, call, previous, difference, made, chances } = change
  const name = operationName(of)
  const shares = sharesOf(change)
  const after = previous === null ? '' : `after ${nameOf(previous, service)}`
  const returns = previous === null ? 'without calling anything' : `right ${after}`
  const replaced = calls.find(
    (other) =>
      other.kind === kind &&
      other.call !== null &&
      call !== null &&
      isSame(other.of, of) &&
      Math.abs(other.difference + difference) < 0.2 * Math.abs(difference),
  )
  if (kind === 'calls' && replaced !== undefined) {
    const [now, no] = difference > 0 ? [call, replaced.call] : [replaced.call, call]
    return `${name} calls ${nameOf(now, service)} instead of ${nameOf(no, service)}, ${difference > 0 ? shares : sharesOf(replaced)}`
  }
  if (call === null) {
    return difference > 0
      ? `${name} returns ${returns} ${shares}`
      : `${name} returns ${returns} only ${shares}`
  }
  const what = `${nameOf(call, service)}${kind === 'next' && previous !== null ? ` ${after}` : ''}`
  if (difference > 0)
    return `${name} ${made[BEFORE] === 0 ? 'now calls' : 'calls'} ${what} ${shares}`
  return made[AFTER] === 0
    ? `${name} no longer calls ${what} (${grouped(made[BEFORE])} of ${grouped(chances[BEFORE])} calls before)`
    : `${name} calls ${what} only ${shares}`
}

function sharesOf({ made, chances }: CallChange): string {
  return `in ${grouped(made[AFTER])} of ${grouped(chances[AFTER])} calls (${grouped(made[BEFORE])} of ${grouped(chances[BEFORE])} before)`
}

function nameOf(operation: Operation | null, service: string): string {
  if (operation === null) return 'nothing'
  const name = operationName(operation)
  return operation.service === service ? name : `${printable(operation.service)} ${name}`
}

function rounded(times: number): string {
  return Number(times.toPrecision(2)).toString()
}

/** How many requests after do it differently than before. */
function changedRequests(flows: FlowSet, { calls: [change], repeats }: ServiceChanges): number {
  if (change !== undefined) return Math.max(1, Math.round(changedCalls(change)))
  const isMore = repeatsMore(repeats[0] as RepeatChange)
  const share = (period: Period) => {
    let [more, all] = [0, 0]
    flows.shapeOf.forEach((shape, request) => {
      const verdict = flows.period[request] === period ? isMore(shape) : undefined
      if (verdict !== undefined) all++
      if (verdict) more++
    })
    return { more, all }
  }
  const [before, after] = [share(BEFORE), share(AFTER)]
  return Math.max(1, Math.round(after.more - (before.more / Math.max(1, before.all)) * after.all))
}

function formsOf(flows: FlowSet, { calls: [change], repeats }: ServiceChanges): Forms {
  const isNew = change === undefined ? repeatsMore(repeats[0] as RepeatChange) : choseAnew(change)
  const now: [before: number[], after: number[]] = [[], []]
  const usual: [before: number[], after: number[]] = [[], []]
  flows.shapeOf.forEach((shape, request) => {
    const verdict = isNew(shape)
    const period = flows.period[request] as Period
    if (verdict === true) now[period].push(request)
    if (verdict === false) usual[period].push(request)
  })
  // As in the thesis: what the other form takes after, or before where hardly any request has it.
  const period = usual[AFTER].length >= MIN_USUAL ? AFTER : BEFORE
  return { now: now[AFTER], nowBefore: now[BEFORE].length, usual: usual[period], period }
}

/** Whether requests of a shape do what more do now; undefined where they had no choice. */
function choseAnew({ difference, chanceShapes, madeShapes }: CallChange) {
  return (shape: number) =>
    chanceShapes.has(shape) ? madeShapes.has(shape) === difference > 0 : undefined
}

function repeatsMore({ timesOf, beforeTimes, afterTimes }: RepeatChange) {
  const middle = (beforeTimes + afterTimes) / 2
  return (shape: number) => {
    const times = timesOf.get(shape)
    return times === undefined ? undefined : times > middle === afterTimes > beforeTimes
  }
}

/** Response times, the slowest hundredth of the period cut: one of an hour must not decide. */
function timesOf(flows: FlowSet, requests: readonly number[], period: Period): Float64Array {
  return Float64Array.from(requests, cappedTimes(flows, period))
}

/** The moves of requests from the usual categories to the new ones; the most frequent of each else. */
function movesBetween(
  moves: readonly StructureMove[],
  { from, to, requests }: { from: readonly number[]; to: readonly number[]; requests: number },
): StructureMove[] {
  const known = moves.filter((move) => from.includes(move.from) && to.includes(move.to))
  if (known.length > 0) return known.sort((a, b) => b.requests - a.requests)
  const [source] = from
  const [target] = to
  if (source === undefined || target === undefined) return []
  return [{ from: source, to: target, requests }]
}
