import { extent, greatest, group, rollup, sum } from 'd3-array'
import { SEVERAL } from '../../calls/visits.ts'
import { callerSide, formatAmount, moreText, type Quantity, TIME } from '../../core/quantity.ts'
import { listed, MAX_NAMED, percent, printable } from '../../core/words.ts'
import { AFTER, type FlowSet, type Layer } from '../../flows/flow-set.ts'
import { operationName, place } from '../../flows/node-labels.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { calledPlace } from '../edges/edge-pool.ts'
import type { EdgeChange, EdgeChanges } from '../edges/find-edge-changes.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import type { StepChange, StepChanges } from '../steps/step-changes.ts'
import type { Step } from '../steps/step-times.ts'
import { wayParts } from '../steps/way-parts.ts'
import { type WorkPart, workParts } from '../steps/work-parts.ts'
import { type Draft, type FindingStep, NO_EVIDENCE, type StepScope } from './finding.ts'
import { intervalText } from './finding-facts.ts'
import { groupChanges } from './group-changes.ts'
import { alsoChanged, changedMost, surest } from './names.ts'

type Direction = Draft['direction']

export interface StepGroup {
  readonly scope: StepScope
  readonly steps: readonly [StepChange, ...StepChange[]]
}

export function stepFindings({ steps, flows }: StepChanges, edges: EdgeChanges): Draft[] {
  const { categories } = edges
  return (['slower', 'faster'] as const).flatMap((direction) =>
    groupSteps(steps, direction).map(
      (group): Draft => ({
        ...NO_EVIDENCE,
        kind: 'latency',
        direction,
        ...stepsTold(flows, group),
        key: group.steps.map(stepKey).sort().join('\n'),
        categories: changedMost(categories, requestsOf(group), direction),
        ...whereToLook(group, flows.quantity === TIME),
        changedEdges: group.steps.flatMap((step) => edgesOf(step, edges, direction)),
        ...surest(group.steps),
        scope: group.scope,
      }),
    ),
  )
}

function requestsOf({ steps }: StepGroup): number[] {
  return [...new Set(steps.flatMap((step) => step.requests))]
}

/** Says how much longer steps take, in how many requests, and their contribution. */
export function stepsTold(flows: FlowSet, group: StepGroup) {
  const [first] = group.steps
  const requests = requestsOf(group)
  const recorded = Math.max(1, requests.filter((one) => flows.period[one] === AFTER).length)
  const concerned = countByPeriod(flows, requests)
  const totalUs = group.steps.reduce((sum, step) => sum + step.contributionUs, 0)
  const eachUs = totalUs / recorded
  const error = Math.hypot(...group.steps.map(({ contributionError }) => contributionError))
  const width = (normalQuantile(0.975) * error) / recorded
  const parts = first.kind === 'work' ? workParts(flows, first) : []
  return {
    ...stepWords(flows, group, parts),
    requests: concerned[AFTER],
    concerned,
    contributionUs: totalUs * (concerned[AFTER] / recorded),
    eachInterval: [eachUs - width, eachUs + width],
    probabilitySlower: first.probabilitySlower,
    notes: [
      ...slowNotes(flows, first, parts),
      ...partNotes(group, {
        parts,
        eachUs,
        quantity: flows.quantity,
      }),
      ...(isMessage(first)
        ? [
            `${moreText(first.shiftUs, flows.quantity)} a message${intervalText(first.interval, flows.quantity)}, outside response times`,
          ]
        : wayNotes(flows, group.steps, requests)),
      ...layerNotes(flows, group.steps),
      ...(totalUs === 0 && !isMessage(first) ? ['no request waits for it'] : []),
    ],
    ...(isMessage(first) && {
      size: { value: first.shiftUs, unit: 'µs', per: 'message', interval: first.interval },
    }),
    steps: group.steps.map(findingStep),
  } satisfies Partial<Draft>
}

/** Says how long the slow calls of a step take if only some changed, or names the changed span within them. */
export function slowNotes(
  flows: FlowSet,
  step: StepChange,
  parts: readonly WorkPart[] = step.kind === 'work' ? workParts(flows, step) : [],
): string[] {
  const { minority, shiftUs } = step
  const part = namedPart(step, parts)
  const within = part?.isOfCalls ? undefined : part
  // Requests that are no longer slow are not known one by one.
  if (minority === null || (within !== undefined && shiftUs < 0)) return []
  const [usual, changed] = (within?.medianUs ?? [minority.usualUs, minority.changedUs]).map(
    (amount) => formatAmount(amount, flows.quantity),
  )
  if (within) return [`its median is ${changed} in these requests, ${usual} in all before`]
  const of = isMessage(step) ? 'messages' : 'calls'
  if (shiftUs > 0) return [`median of the slow ${of} ${changed}, of all before ${usual}`]
  return [`before, median of these ${of} ${changed}, of all ${usual}`]
}

/** Whether a step is the wait of messages, which comes on top of response times. */
function isMessage({ part }: Pick<Step, 'part'>): boolean {
  return part === 'message'
}

/** Says how long spans on the way of its calls take that are recorded in one period only. */
function layerNotes({ layers = [], quantity }: FlowSet, steps: readonly StepChange[]): string[] {
  const services = new Set(
    steps.map(({ kind, service, caller }) => (kind === 'call' ? caller : service)),
  )
  return Array.from(
    group(
      layers.filter(({ caller }) => services.has(caller)),
      ({ caller, operation, period }) => JSON.stringify([caller, operation, period]),
    ).values(),
    (own) => {
      const [{ caller, operation, period }] = own as [Layer]
      const time = formatAmount(
        sum(own, ({ eachUs }) => eachUs),
        quantity,
      )
      return `${printable(caller)} calls through ${operationName({ operation })}, recorded only ${period === AFTER ? 'after' : 'before'}: ${time} a call`
    },
  )
}

/** Share of the change from which only one way is mentioned. */
const ONE_WAY = 0.8

/** Says which way calls take longer, of those whose both sides were recorded. */
export function wayNotes(
  flows: FlowSet,
  ways: readonly Pick<StepChange, 'kind' | 'service' | 'caller'>[],
  requests: readonly number[],
): string[] {
  if (flows.quantity !== TIME || ways.some(({ kind }) => kind !== 'call')) return []
  const parts = wayParts(flows, ways, requests)
  if (parts === null) return []
  const share = parts.thereUs / (parts.thereUs + parts.backUs)
  // Beyond all of it, the clocks of both sides moved against each other.
  if (!(share > ONE_WAY - 1 && share < 2 - ONE_WAY)) return []
  if (share >= ONE_WAY) return ['on the way there (request)']
  if (share <= 1 - ONE_WAY) return ['on the way back (reply)']
  return [`${percent(share)} on the way there (request), ${percent(1 - share)} back (reply)`]
}

function groupSteps(steps: readonly StepChange[], direction: Direction): StepGroup[] {
  return groupChanges<StepChange, StepScope>(
    steps.filter(({ kind }) => kind !== 'request'),
    {
      isWanted: ({ changed, shiftUs }) => changed && shiftUs > 0 === (direction === 'slower'),
      scopesOf,
      isWithin,
      isCompared: ({ q }) => !Number.isNaN(q),
      callOf: stepKey,
      isOneKind: (a, b) => (a.minority === null) === (b.minority === null),
      isAlike: (a, b, { of }) => of !== 'operation' && areAlike([a.shiftUs, b.shiftUs]),
      alone: { of: 'step' },
    },
  ).map(({ scope, members }) => ({ scope, steps: members as StepGroup['steps'] }))
}

/** Times that differ by no more than this factor are written as one. */
const ALIKE = 1.5

/** Whether times are much the same, all longer or all shorter. */
export function areAlike(us: readonly number[]): boolean {
  const [low, high] = extent(us) as [number, number]
  return low * high > 0 && high / low <= ALIKE && low / high <= ALIKE
}

function stepKey({ kind, caller, service, part }: StepChange): string {
  const name = kind === 'call' ? `${caller} → ${service}` : service
  return part === undefined ? name : `${part} ${name}`
}

function scopesOf(step: StepChange): StepScope[] {
  const { kind, service, caller } = step
  // Each topic has consumers of its own.
  if (isMessage(step)) return []
  const operation = mainOperation(step)
  if (kind === 'work') {
    return [
      { of: 'service', service },
      { of: 'operation', operation },
    ]
  }
  const by = caller as string
  return [
    { of: 'calls to', service },
    { of: 'calls by', service: by },
    { of: 'service', service },
    { of: 'service', service: by },
  ]
}

function isWithin(step: StepChange, scope: StepScope): boolean {
  const { kind, service, caller } = step
  if (isMessage(step)) return false
  switch (scope.of) {
    case 'step':
      return false
    case 'operation':
      return kind === 'work' && step.operations.some((one) => one.operation === scope.operation)
    case 'calls to':
      return kind === 'call' && service === scope.service
    case 'calls by':
      return kind === 'call' && caller === scope.service
    case 'service':
      return service === scope.service || caller === scope.service
  }
}

export function findingStep(step: StepChange): FindingStep {
  const { kind, service, caller, part, shiftUs, minority } = step
  const share = minority === null ? {} : { share: minority.share }
  return {
    kind,
    service,
    caller,
    ...(part && { part }),
    operation: mainOperation(step),
    shiftUs,
    ...share,
  }
}

function mainOperation({ operations }: StepChange): string {
  // The largest contribution comes first, even where no operation alone surely changed.
  const first =
    operations.find(({ changed }) => changed) ??
    operations.find(({ contributionUs }) => contributionUs !== 0)
  return (first ?? greatest(operations, (one) => one.afterRequests))?.operation ?? ''
}

function stepWords(
  flows: FlowSet,
  { scope, steps }: StepGroup,
  parts: readonly WorkPart[],
): Pick<Draft, 'where' | 'what'> {
  const [first] = steps
  const time = (step: StepChange) => {
    // With sequential calls, each takes its part.
    const part = step === first && step.kind === 'work' ? namedPart(step, parts) : undefined
    const times = part === undefined || part.isOfCalls ? 1 : part.callsEach / step.callsEach
    const isRepeated = times >= SEVERAL
    const more = moreText(step.shiftUs / (isRepeated ? times : 1), flows.quantity)
    if (isMessage(step)) return `${more} to receive messages${inFew(step, 'them')}`
    const each = step.callsEach < SEVERAL && !isRepeated ? '' : ' a call'
    const way = step.kind === 'work' ? '' : callerSide(flows.quantity)
    return more + each + inFew(step, 'the calls') + way
  }
  const service = printable('service' in scope ? scope.service : first.service)
  const operation = operationName({ operation: mainOperation(first) })
  const few = (names: readonly string[]) => listed(names.map(printable), MAX_NAMED)
  const called = few(steps.map((step) => step.service))
  const callers = few(steps.flatMap(({ caller }) => caller ?? []))
  const also = alsoChanged(first)
  const itself = `${workWords(first, operation, parts)} takes ${time(first)}${oftener(first, parts)}${also}`
  switch (scope.of) {
    case 'step':
      return {
        where: first.caller === null ? service : `${printable(first.caller)} → ${service}`,
        what: first.kind === 'work' ? itself : `${operation} takes ${time(first)}${also}`,
      }
    case 'operation':
      return { where: called, what: itself }
    case 'calls to':
      return {
        where: `calls to ${service}`,
        what: `${operation} takes ${time(first)}, from ${callers}`,
      }
    case 'calls by':
      return { where: service, what: `its calls to ${called} take ${time(first)}` }
    case 'service':
      return { where: service, what: serviceWords(scope.service, steps, time) }
  }
}

export function inFew({ minority }: Pick<StepChange, 'minority'>, of: string): string {
  return minority === null ? '' : ` in ${percent(minority.share)} of ${of}`
}

/** Names a step: `stock LOOKUP itself`, `checkout → email SendConfirmation`, `shop GET`. */
export function stepTitle(step: StepChange): string {
  return placeTitle(step, mainOperation(step))
}

export function placeTitle(step: Step, operation: string): string {
  const names = [printable(step.service), operationName({ operation })]
  const called = names.filter((name) => name !== '').join(' ')
  if (step.kind === 'work') return `${called} itself`
  if (isMessage(step)) return `messages to ${called}`
  return step.caller === null ? called : `${printable(step.caller)} → ${called}`
}

/** One operation within another is named when it changed by this share of the work. */
export const MIN_PART = 0.7
/** Smallest share at which the work of an operation that contains another is not all its own. */
const MIN_SHARED = 0.1

function workWords(step: StepChange, operation: string, parts: readonly WorkPart[]): string {
  if (step.kind !== 'work') return operation
  const part = namedPart(step, parts)
  if (part?.isOfCalls) return operation
  if (part !== undefined) return `${operationName(part)} within ${operation}`
  const isShared =
    step.part !== 'itself' &&
    parts.some((one) => isInner(step, one) && one.shiftUs / step.shiftUs >= MIN_SHARED)
  return isShared ? `${operation}, without its calls,` : `${operation} itself`
}

/** Names a call that is made more often, if that alone makes the work longer. */
function oftener(step: StepChange, parts: readonly WorkPart[]): string {
  const part = namedPart(step, parts)
  if (!part?.isOfCalls) return ''
  return `, because it calls ${operationName(part)} ${part.shiftUs > 0 ? 'more' : 'less'} often`
}

/** Returns the operation within another that most of a step's change lies in. */
function namedPart(step: StepChange, parts: readonly WorkPart[]): WorkPart | undefined {
  const part =
    step.part === 'itself' ? undefined : parts.find(({ shiftUs }) => shiftUs * step.shiftUs > 0)
  const isMost = part !== undefined && part.shiftUs / step.shiftUs >= MIN_PART
  return isMost && isInner(step, part) ? part : undefined
}

/** Returns the operation within others that holds most of a change of a service's work; `null` for none. */
export function innerOperation(flows: FlowSet, step: StepChange): string | null {
  return namedPart(step, workParts(flows, step))?.operation ?? null
}

/** Whether the part lies within another operation: a directly requested one does not. */
function isInner({ operations }: StepChange, part: WorkPart): boolean {
  return operations.every(({ operation }) => operation !== part.operation)
}

/** Smallest share of the work for a part to be mentioned. */
const MIN_TOLD = 0.1
/**
 * Largest difference between the sum of parts and the extra time of each request, as a share, at which parts are
 * mentioned.
 */
const MAX_APART = 0.05

/**
 * Splits what each request takes more on average: `717 ms made up of 560 ms in PlaceOrder, 157 ms in ConvertCurrency`.
 */
function partNotes(
  { scope, steps: [step] }: StepGroup,
  {
    parts,
    eachUs,
    quantity,
  }: { readonly parts: readonly WorkPart[]; readonly eachUs: number; readonly quantity: Quantity },
): string[] {
  if (scope.of !== 'step' || step.kind !== 'work' || step.minority !== null) return []
  const sumUs = parts.reduce((sum, { meanUs }) => sum + meanUs, 0)
  const told = parts
    .filter(({ meanUs }) => meanUs / eachUs >= MIN_TOLD)
    .sort((a, b) => b.meanUs / eachUs - a.meanUs / eachUs)
    .slice(0, MAX_NAMED)
  if (told.length < 2 || !(Math.abs(sumUs / eachUs - 1) <= MAX_APART)) return []
  const texts = told.map(
    ({ operation, meanUs }) =>
      `${formatAmount(Math.abs(meanUs), quantity)} in ${operationName({ operation })}`,
  )
  return [`${formatAmount(Math.abs(eachUs), quantity)} made up of ${texts.join(', ')}`]
}

/** Lists the slower parts of a service, in the order of `steps`. */
function serviceWords(
  service: string,
  steps: StepGroup['steps'],
  time: (step: StepChange) => string,
): string {
  const called = steps.filter((step) => step.kind === 'call' && step.service !== service)
  const names = listed(
    called.map((step) => printable(step.service)),
    MAX_NAMED,
  )
  const partOf = (step: StepChange) => {
    if (step.kind === 'work') return 'its work takes'
    return step.service === service ? 'calls to it take' : `its calls to ${names} take`
  }
  const parts = rollup(steps, ([first]) => time(first!), partOf)
  return listed([...parts].map(([part, taken]) => `${part} ${taken}`))
}

function whereToLook({ scope, steps }: StepGroup, isTime: boolean) {
  const called = steps.map(({ service }) => service)
  const callers = steps.flatMap(({ caller }) => caller ?? [])
  const first = 'service' in scope ? [scope.service] : called
  const services = [...new Set([...first, ...called, ...callers])]
  const isWay = isTime && steps.every(({ kind }) => kind === 'call')
  const named = listed([...new Set(first)].map(printable), MAX_NAMED)
  const ways = steps.some(isMessage)
    ? 'lag, number and work of consumers'
    : 'network, queues, connections'
  return { look: isWay ? `${named} (${ways})` : named, services }
}

/** Whether an edge lies within what changed of a step. */
export function isOfStep(edge: EdgeChange, step: StepChange): boolean {
  const { kind, service, caller, operations } = step
  const { fromNode, toNode } = edge
  if (kind === 'work') return edge.kind === 'self' && place(fromNode) === service
  const callee = place(toNode) === service && calledPlace(edge) === service ? toNode : fromNode
  const ends = [place(fromNode), place(toNode)]
  if (edge.kind !== 'network' || !ends.includes(service) || !ends.includes(caller as string)) {
    return false
  }
  const changed = operations.filter((one) => one.changed)
  return changed.length === 0 || changed.some(({ operation }) => operation === callee.operation)
}

/** Returns the significant edges of a step, largest first; else the likeliest, as sure as its step. */
function edgesOf(step: StepChange, edges: EdgeChanges, direction: Direction): EdgeChange[] {
  const all = edges.edges.filter((edge) => isOfStep(edge, step))
  const isSo = ({ shiftUs }: EdgeChange) =>
    shiftUs !== 0 && shiftUs > 0 === (direction === 'slower')
  const changed = all.filter((edge) => edge.significant && isSo(edge))
  if (changed.length > 0) return changed
  const [likeliest] = edges
    .measured(all)
    .filter(isSo)
    .sort(
      (a, b) => (a.p || 1) - (b.p || 1) || Math.abs(b.contributionUs) - Math.abs(a.contributionUs),
    )
  if (likeliest === undefined) return []
  const { p, q } = step
  return [{ ...likeliest, p, q, significant: true, changed: true }]
}
