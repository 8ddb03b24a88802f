import type { FindingCall, FindingStep } from '../../src/compare/findings/finding.ts'
import type { Operation } from '../../src/compare/steps/call-order.ts'
import { at } from '../../src/core/entries.ts'
import { NO_PARENT, SPAN_STATUSES } from '../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { coveredUs, endUs, findVisits, type Visits } from './visits.ts'

/**
 * Measures a step in the spans of one period, without flows: of work, how long a visit of the
 * service lasts where none of its calls covers it, or of a part of it, what no span within its first
 * covers, or only such spans do; of a call, how much longer the caller's span
 * lasts than the one it calls; of a request, how long its root lasts.
 *
 * @returns one time a request that has the step, the mean of all times that it has it, in µs
 */
export function recordedUs(
  traces: SpanTraces,
  step: Omit<FindingStep, 'shiftUs' | 'share'>,
): Float64Array {
  const { spans } = traces
  const { parent, durationUs, startUs } = spans
  const times = new Map<number, number[]>()
  const note = (span: number, timeUs: number) => {
    const request = rootOf(spans.parent, span)
    const known = times.get(request)
    if (known === undefined) times.set(request, [timeUs])
    else known.push(timeUs)
  }
  for (const { entry, calls } of visitsOf(traces).visits) {
    if (step.kind === 'call') {
      if (serviceOf(traces, entry) !== step.caller) continue
      for (const { span, callee } of calls) {
        const isRecorded = span !== callee && isOperation(traces, callee, step)
        if (isRecorded) note(span, at(durationUs, span) - at(durationUs, callee))
      }
    } else if (isOperation(traces, entry, step)) {
      const whole = at(durationUs, entry)
      const range = [at(startUs, entry), endUs(spans, entry)] as const
      if (step.kind === 'work') {
        const children = (childrenOf(traces).get(entry) ?? []).map((span) => ({
          startUs: at(startUs, span),
          endUs: endUs(spans, span),
        }))
        const all = step.part === 'within' ? coveredUs(children, range) : whole
        const others = step.part === 'itself' ? children : calls
        note(entry, all - coveredUs(others, range))
      } else if (at(parent, entry) === NO_PARENT) note(entry, whole)
    }
  }
  return Float64Array.from(times.values(), mean)
}

/** How often something was done that could have been. */
export interface RecordedCalls {
  readonly chances: number
  readonly made: number
}

/**
 * Counts in the spans of one period, without flows, how often an operation does something, of how
 * often it could: makes a call whenever it is called (but by a client), or makes it at
 * any time after the last of another was answered, by the times of the same request.
 */
export function recordedCalls(
  traces: SpanTraces,
  { kind, of, previous, call }: Pick<FindingCall, 'kind' | 'of' | 'previous' | 'call'>,
): RecordedCalls {
  let [chances, made] = [0, 0]
  for (const span of spansOf(traces, of)) {
    const children = calledBy(traces, span)
    if (kind !== 'calls' && kind !== 'next') {
      const is = doesOtherwise(traces, span, { kind, previous, call, children })
      if (is !== null) chances++
      if (is) made++
    } else if (kind === 'calls') {
      if (at(traces.spans.parent, span) < 0) continue
      chances++
      if (children.some(({ callee }) => isSame(callee, call))) made++
    } else if (previous === null) {
      chances++
      if (children.length === 0 && call === null) made++
    } else {
      for (const child of children.filter(({ callee }) => isSame(callee, previous))) {
        const later = laterCalls(children, child)
        if (later.some(({ callee }) => isSame(callee, previous))) continue
        chances++
        const isMade = later.some(({ callee }) => isSame(callee, call))
        if (isMade || (call === null && later.length === 0)) made++
      }
    }
  }
  return { chances, made }
}

/** Whether a span makes calls in the order or the way that is said; `null` if it does not make them. */
function doesOtherwise(
  traces: SpanTraces,
  span: number,
  {
    kind,
    previous,
    call,
    children,
  }: Pick<FindingCall, 'kind' | 'previous' | 'call'> & { children: readonly MadeCall[] },
): boolean | null {
  const own = children.filter(({ callee }) => isSame(callee, call))
  const others = previous === null ? own : children.filter(({ callee }) => isSame(callee, previous))
  if (own.length === 0 || others.length === 0) return null
  const meets = (a: MadeCall, b: MadeCall) =>
    a.span !== b.span && a.startUs + SLACK_US < b.endUs && b.startUs + SLACK_US < a.endUs
  if (kind === 'outlives') {
    return own.some((one) => one.endUs > endUs(traces.spans, span) + SLACK_US)
  }
  if (kind === 'again') {
    const failed = own.filter(({ isFailed }) => isFailed)
    return failed.some((one) => laterCalls(own, one).length > 0)
  }
  if (kind === 'before') {
    return others.every((one) => own.every((other) => one.endUs <= other.startUs + SLACK_US))
  }
  const isHedged = kind === 'hedges'
  if (!isHedged && isSame(others[0]?.callee as Operation, call) && own.length < 2) return null
  const isTogether = own.some((one) => others.some((other) => meets(one, other)))
  return isTogether === (isHedged || kind === 'together')
}

/** Returns how many times an operation makes a call when it does: one number a request, the mean. */
export function recordedRepeats(
  traces: SpanTraces,
  { of, call }: Pick<FindingCall, 'of' | 'call'>,
): number[] {
  const times = new Map<number, number[]>()
  for (const span of spansOf(traces, of)) {
    const count = calledBy(traces, span).filter(({ callee }) => isSame(callee, call)).length
    if (count === 0) continue
    const request = rootOf(traces.spans.parent, span)
    times.set(request, [...(times.get(request) ?? []), count])
  }
  return [...times.values()].map(mean)
}

const ERROR = SPAN_STATUSES.indexOf('error')

/** A call of an operation, to another service or within its own. */
interface MadeCall {
  readonly callee: Operation
  readonly span: number
  readonly startUs: number
  readonly endUs: number
  /** It ended as an error, or its caller gave it up before it was over. */
  readonly isFailed: boolean
}

/** The spans in which an operation works, not those of its calls to other services. */
function spansOf(traces: SpanTraces, of: Operation): number[] {
  const visits = visitsOf(traces)
  const all = Array.from(traces.spans.parent.keys())
  return all.filter((span) => isOperation(traces, span, of) && !visits.isCaller(span))
}

function calledBy(traces: SpanTraces, span: number): MadeCall[] {
  const children = childrenOf(traces)
  const visits = visitsOf(traces)
  return (children.get(span) ?? []).flatMap((child) => {
    const called = visits.isCaller(child) ? (children.get(child) ?? []) : [child]
    return called.map((callee) => ({
      callee: operationOf(traces, callee),
      span: child,
      startUs: at(traces.spans.startUs, child),
      endUs: endUs(traces.spans, child),
      isFailed:
        [child, callee].some((one) => at(traces.spans.status, one) === ERROR) ||
        endUs(traces.spans, callee) > endUs(traces.spans, child) + SLACK_US,
    }))
  })
}

/** A clock's last digit: one span still counts as ended before another that starts so much sooner. */
const SLACK_US = 1

/** Calls that start once another has ended, at once or later. */
function laterCalls(calls: readonly MadeCall[], { span, endUs: endedUs }: MadeCall): MadeCall[] {
  return calls.filter((other) => other.span !== span && other.startUs + SLACK_US >= endedUs)
}

const VISITS = new WeakMap<SpanTraces, Visits>()

function visitsOf(traces: SpanTraces): Visits {
  const known = VISITS.get(traces) ?? findVisits(traces.spans)
  VISITS.set(traces, known)
  return known
}

const CHILDREN = new WeakMap<SpanTraces, ReadonlyMap<number, readonly number[]>>()

function childrenOf(traces: SpanTraces): ReadonlyMap<number, readonly number[]> {
  const known = CHILDREN.get(traces)
  if (known !== undefined) return known
  const children = new Map<number, number[]>()
  traces.spans.parent.forEach((caller, span) => {
    const siblings = children.get(caller)
    if (siblings === undefined) children.set(caller, [span])
    else siblings.push(span)
  })
  CHILDREN.set(traces, children)
  return children
}

/** The service of a span; its host where it names none. */
function serviceOf({ spans, services, hosts }: SpanTraces, span: number): string {
  return services.value(at(spans.service, span)) || hosts.value(at(spans.host, span))
}

function operationOf(traces: SpanTraces, span: number): Operation {
  const operation = traces.operations.value(at(traces.spans.operation, span))
  return { service: serviceOf(traces, span), operation }
}

/** Whether a span is of an operation; of any of its service where that has no name. */
function isOperation(traces: SpanTraces, span: number, wanted: Operation): boolean {
  const own = operationOf(traces, span)
  return wanted.operation === '' ? own.service === wanted.service : isSame(own, wanted)
}

function isSame(a: Operation, b: Operation | null): boolean {
  return b !== null && a.service === b.service && a.operation === b.operation
}

function rootOf(parent: Int32Array, span: number): number {
  let root = span
  while (at(parent, root) >= 0) root = at(parent, root)
  return root
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
