import { callerSide, moreText, type Quantity } from '../../core/quantity.ts'
import { grouped, percent, printable } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { condition } from '../../traces/selection/condition.ts'
import type { Categories } from '../categories/categories.ts'
import type { Segment } from '../segments/segments.ts'
import { isSameChoice } from '../steps/call-counts.ts'
import { isSameCall } from '../steps/call-order.ts'
import { stepKey } from '../steps/step-times.ts'
import { firstExemplars } from './error-findings.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { calledName, categoriesOf, operationName } from './names.ts'
import { wayNotes } from './step-findings.ts'

/** Requests whose change others account for by this share are no finding of their own. */
const ACCOUNTED = 0.5

/** Lays segments to the drafts that show them; those of none become drafts of their own. */
export function withSegments(
  drafts: readonly Draft[],
  segments: readonly Segment[],
  categories: Categories,
): Draft[] {
  const told = drafts.map((draft) => {
    const segment = segments.find((one) => isOf(one, draft, drafts))
    return segment === undefined
      ? draft
      : {
          ...draft,
          ...failureExemplars(segment, draft, categories),
          ...whereAlone(segment, draft, categories.flows.quantity),
          segment,
          notes: [
            ...draft.notes,
            segmentFact(segment, takingText(segment, draft, categories.flows.quantity)),
          ],
        }
  })
  // Of several runs, segments are not held against what these differ by.
  if (categories.flows.runs.length > 1) return told
  const others = segments.filter((segment) => !drafts.some((draft) => isOf(segment, draft, drafts)))
  const own = others.flatMap((segment) =>
    segment.measure === 'time' || segment.step?.kind === 'request'
      ? [draftOf(segment, categories)]
      : [],
  )
  return [...told, ...own.filter((draft) => !isAccounted(draft, told, categories))]
}

/** From this share of the change on, a segment says which calls of some changed. */
const ALL_OF_IT = 0.9

/** Where some calls changed and a segment says which: they are its own, not counted otherwise. */
function whereAlone(segment: Segment, draft: Draft, quantity: Quantity): Partial<Draft> {
  const { inside, shareOfChange, measure } = segment
  if (measure !== 'time' || shareOfChange < ALL_OF_IT || inside.after === 0) return {}
  const [step, ...others] = draft.steps
  if (step?.share === undefined || others.length > 0) return {}
  const few = `${moreText(step.shiftUs, quantity)} in ${percent(step.share)} of the calls`
  const [low, high] = draft.eachInterval.map((us) => (us * draft.requests) / inside.after)
  return {
    what: draft.what.replace(few, moreText(draft.contributionUs / inside.after, quantity)),
    requests: inside.after,
    concerned: [inside.before, inside.after],
    eachInterval: [low as number, high as number],
  }
}

/** Of failures, examples are requests of the segment: those that fail where more do, others of the other period. */
function failureExemplars(
  { measure, requests }: Segment,
  { direction }: Draft,
  { flows }: Categories,
): Pick<Draft, 'exemplars'> {
  const { outcomes } = flows
  if (measure !== 'errors' || outcomes === undefined) return {}
  const failing = direction === 'slower' ? AFTER : BEFORE
  const shown = requests.filter(
    (request) => outcomes.failed(request) === (flows.period[request] === failing),
  )
  return { exemplars: firstExemplars(flows, shown) }
}

const OPERATION = { service: null, attribute: 'operation', isAttribute: false }

/** Says where alone something changed: `, only where tenant.tier = enterprise`, or `mostly`. */
export function segmentClause({
  segment,
  steps,
  what,
}: Pick<Draft, 'segment' | 'steps' | 'what'>): string {
  if (segment === undefined) return ''
  const { step, measure, operation, callingOperation, text } = segment
  const isUntold = (name: string | null): name is string =>
    name !== null && name !== '' && !what.includes(operationName({ operation: name }))
  // Who fails may be asked for other things too.
  const isRoot = measure === 'errors' && isUntold(operation)
  const of = isRoot ? `${condition(OPERATION, 'is', [operation]).text} and ` : ''
  const calls = [
    ...(measure === 'time' && isUntold(operation) ? [`in ${operationName({ operation })}`] : []),
    ...(isUntold(callingOperation)
      ? [`for ${operationName({ operation: callingOperation })}`]
      : []),
  ]
  const isAll = step === null || steps.every((one) => stepKey(one) === stepKey(step))
  return `, ${[isAll ? 'only' : 'mostly', ...calls, 'where'].join(' ')} ${of}${text}`
}

/** `, and take 2.35 ms longer`, where the title tells what the typical call takes, in the segment or not. */
function takingText({ measure, inside }: Segment, { steps }: Draft, quantity: Quantity): string {
  if (measure !== 'time' || steps.length > 1 || steps[0]?.share !== undefined) return ''
  return `, and take ${moreText(inside.change, quantity)}`
}

function segmentFact(segment: Segment, taking = ''): string {
  const { shareOfChange, equivalents, inside, outside, text, measure } = segment
  const all = grouped(inside.after + outside.after)
  const same = equivalents.find((one) => !one.endsWith(text))
  const also = same === undefined ? '' : `; the same requests: ${same}`
  const failed = (share: number, of: number) => grouped(Math.round(share * of))
  const failing =
    measure === 'errors'
      ? `; ${failed(inside.afterMean, inside.after)} of these fail (${failed(inside.beforeMean, inside.before)} of ${grouped(inside.before)} before)`
      : ''
  return `${grouped(inside.after)} of ${all} requests ${searchedIn(segment)} meet it${taking}${failing}: ${percent(shareOfChange)} of the change${also}`
}

/** Says which requests a segment divides: `through checkout-api`, `with mds index get`. */
function searchedIn({ step, call, measure, operation, callingOperation }: Segment): string {
  if (step === null) return call === null ? '' : `with ${calledName(call.of, '')}`
  const service = printable(step.service)
  // Failures are told by the operation of roots.
  const isTime = measure === 'time'
  const caller = isTime ? callingOperation : operation
  const by = caller ? ` for ${operationName({ operation: caller })}` : ''
  if (!isTime) return `through ${service}${by}`
  if (operation !== null) return `with ${service} ${operationName({ operation })}${by}`
  return step.caller === null
    ? `through ${service}`
    : `in which ${printable(step.caller)} calls ${service}`
}

function isOf(segment: Segment, draft: Draft, all: readonly Draft[]): boolean {
  const { measure, step, call, direction } = segment
  if (measure === 'errors') return isOfFailures(segment, draft, all)
  if (measure === 'structure') {
    // The title tells the first call; where another operation's calls changed is not said of it.
    return draft.calls.some(
      (one, _, [told]) =>
        call !== null && isSameChoice(one, call) && isSameCall(one.of, (told ?? one).of),
    )
  }
  return (
    measure === 'time' &&
    draft.direction === direction &&
    draft.kind === 'latency' &&
    step !== null &&
    draft.steps.some((one) => stepKey(one) === stepKey(step))
  )
}

function isOfFailures({ step, direction }: Segment, draft: Draft, all: readonly Draft[]): boolean {
  const [fails] = draft.calls
  const isMore = (direction === 'more') === (draft.direction === 'slower')
  if (fails?.kind !== 'fails' || !isMore) return false
  if (step?.kind === 'work') return fails.of.service === step.service
  if (!draft.failedRequests) return false
  const callers = all.filter(
    ({ calls: [other] }) => other?.kind === 'fails with' && isSameCall(other.previous, fails.of),
  )
  return [draft, ...callers].some(({ services }) => services[0] === step?.service)
}

function draftOf(segment: Segment, categories: Categories): Draft {
  const { step, inside, measure, operation, callingOperation, direction } = segment
  const { service = '', caller = null } = step ?? {}
  const kind = step?.kind ?? 'request'
  const { flows } = categories
  const after = segment.requests.filter((request) => flows.period[request] === AFTER)
  const isTime = measure === 'time'
  const name = operation === null ? '' : operationName({ operation })
  const from = caller === null ? '' : `${printable(caller)} → `
  const width = normalQuantile(0.975) * inside.error
  return {
    ...NO_EVIDENCE,
    kind: isTime ? 'latency' : 'errors',
    direction: isTime ? (direction as 'slower' | 'faster') : 'slower',
    key: JSON.stringify([measure, kind, caller, service, operation, segment.text]),
    where: `${from}${printable(service)}${kind === 'request' && name !== '' ? ` ${name}` : ''}`,
    what: isTime ? timeWords(segment, name, flows.quantity) : failureWords(segment),
    categories: categoriesOf(categories, after),
    requests: inside.after,
    concerned: [inside.before, inside.after],
    contributionUs: isTime ? inside.change * inside.after : 0,
    eachInterval: isTime
      ? [inside.change - width, inside.change + width]
      : [Number.NaN, Number.NaN],
    probabilitySlower: Number.NaN,
    notes: [
      segmentFact(segment),
      ...(isTime ? wayNotes(flows, [{ kind, service, caller }], segment.requests) : []),
    ],
    look: printable(service),
    services: [service, ...(caller === null ? [] : [caller])],
    steps: [
      {
        kind,
        service,
        caller,
        shiftUs: isTime ? inside.change : 0,
        operation: operation ?? callingOperation ?? '',
      },
    ],
    segment,
    isOfSegment: true,
    p: segment.p,
    q: segment.q,
  }
}

function timeWords({ step, inside, callingOperation }: Segment, name: string, quantity: Quantity) {
  const time = moreText(inside.change, quantity)
  const by =
    callingOperation === null || callingOperation === ''
      ? ''
      : ` for ${operationName({ operation: callingOperation })}`
  if (step?.kind === 'request') return `requests take ${time}`
  if (step?.kind === 'call')
    return `${name === '' ? 'what it calls' : name}${by} takes ${time}${callerSide(quantity)}`
  return `${name === '' ? 'its work' : `${name} itself`}${by} takes ${time}`
}

function failureWords({ inside: { before, after, beforeMean, afterMean } }: Segment): string {
  return (
    `${grouped(afterMean * after)} of ${grouped(after)} requests fail ` +
    `(${grouped(beforeMean * before)} of ${grouped(before)} before)`
  )
}

/** Whether other findings show what requests take longer, in mostly the same categories. */
function isAccounted(draft: Draft, others: readonly Draft[], { categoryOf, flows }: Categories) {
  const { segment, contributionUs } = draft
  if (segment?.measure !== 'time' || segment.step?.kind !== 'request') return false
  const own = segment.requests.filter((request) => flows.period[request] === AFTER)
  const shown = others
    .filter((other) => {
      const categories = new Set(other.categories)
      const shared = own.filter((request) => categories.has(categoryOf[request] as number))
      return shared.length >= ACCOUNTED * own.length
    })
    .reduce((sum, other) => sum + other.contributionUs, 0)
  return shown * contributionUs > 0 && Math.abs(shown) >= ACCOUNTED * Math.abs(contributionUs)
}
