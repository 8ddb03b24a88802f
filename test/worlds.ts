import { type RandomSource, randomSource } from '../src/stats/random.ts'
import type { SpanTraces } from '../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from './make-traces.ts'

/*
 * A small language of worlds: one line for each call, with its own time and what is special of it.
 * Calls follow each other unless they are `beside` the one before. "Web calls stock, 5 ms ± 20 %,
 * slow in 10 % from minute 12, and pays one time in three":
 *
 *   const shop = (slowUs: number) => (r: Draw) =>
 *     call('web GET', r.about(2000), {}, [
 *       call('stock LOOKUP', r.about(5000) + (r.seconds >= 720 && r.is(0.1) ? slowUs : 0)),
 *       r.is(1 / 3) && call('pay CHARGE', r.about(3000)),
 *     ])
 *   compare(record({ seed: 1 }, shop(0)), record({ seed: 2 }, shop(90_000)))
 */

/** One request: which it is, when it comes, and what chance draws for it. */
export interface Draw extends RandomSource {
  readonly index: number
  /** Of the period, how much is over: from 0 to 1. */
  readonly part: number
  /** Since the period began. */
  readonly seconds: number
  /** A log-normal time around its median `us`. */
  about(us: number, spread?: number): number
  /** True for a share of draws. */
  is(share: number): boolean
  pick<T>(values: readonly T[]): T
}

type Recorded = Omit<SpanSketch, 'id' | 'trace' | 'parent' | 'startUs' | 'endUs'>

/** What a span records, and how its caller waits for it. */
export interface Details extends Partial<Recorded> {
  readonly id?: string
  readonly fails?: boolean
  /** Begins with the call before it; else after all before it. */
  readonly beside?: boolean
  /** Begins when the call before it ends, whatever else still runs. */
  readonly isNext?: boolean
  /** What the caller does between the call before and this one. */
  readonly gapUs?: number
  /** The caller goes on at once, and its call begins after the gap. */
  readonly isAsync?: boolean
  /** A span of the caller around it, which is longer by these times. */
  readonly client?: Client
}

export interface Client extends Partial<Recorded> {
  readonly id?: string
  readonly us: readonly [there: number, back: number]
  readonly fails?: boolean
}

/** Time without calls: half of it before them, half after; or how much before and after. */
type Own = number | readonly [before: number, after: number]

export interface Call {
  readonly of: string
  readonly own: Own
  readonly details: Details
  readonly calls: readonly Call[]
}

/** A call of `service operation`; what is false of its own calls is not made. */
export function call(
  of: string,
  own: Own,
  details: Details = {},
  calls: readonly (Call | false | undefined)[] = [],
): Call {
  return { of, own, details, calls: calls.filter((one) => one !== false && one !== undefined) }
}

/** Calls made again until one does not fail, at most so many. */
export function tries(most: number, attempt: (number: number) => Call): Call[] {
  const made: Call[] = []
  while (made.length < most && made.every(failsForCaller)) made.push(attempt(made.length))
  return made
}

/** Whether the caller sees a call fail. */
export function failsForCaller({ details: { client, fails = false } }: Call): boolean {
  return client?.fails ?? fails
}

export interface Period {
  readonly seed: number
  readonly requests?: number
  /** How long until the next one comes; drawn for each where it is a function. */
  readonly everyUs?: number | ((random: RandomSource) => number)
  readonly fromUs?: number
  readonly name?: string
}

type Made = Call | readonly Call[] | false

/** Spans of a period: `requestOf` says for each request what it calls; false for none recorded. */
export function spansOf(
  { seed, requests = 300, everyUs = 1e6, fromUs = 0, name = `period ${seed}` }: Period,
  requestOf: (draw: Draw) => Made,
): SpanSketch[] {
  const random = randomSource(seed)
  let sinceUs = 0
  return Array.from({ length: requests }, (_, index): SpanSketch[] => {
    sinceUs = typeof everyUs === 'number' ? index * everyUs : sinceUs + everyUs(random)
    const made = requestOf({
      ...random,
      index,
      part: index / requests,
      seconds: sinceUs / 1e6,
      about: (us, spread = 0.2) => us * random.logNormal(0, spread),
      is: (share) => random.next() < share,
      pick: (values) => values[random.integer(values.length)]!,
    })
    const roots = made === false ? [] : [made].flat()
    return roots.flatMap((root, i) => {
      const trace = `${name}-${index}${i === 0 ? '' : `.${i}`}`
      return requestSpans(root, trace, fromUs + sinceUs)
    })
  }).flat()
}

/** Traces of a period; see `spansOf`. */
export function record(given: Period, requestOf: (draw: Draw) => Made): SpanTraces {
  return makeSpans(spansOf(given, requestOf), given.name ?? `period ${given.seed}`)
}

/** Traces of a period, and what all requests take in sum. */
export function recordWithSum(...given: Parameters<typeof spansOf>) {
  const spans = spansOf(...given)
  const roots = spans.filter(({ parent }) => parent === null)
  const totalUs = roots.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0)
  return { traces: makeSpans(spans, given[0].name ?? `period ${given[0].seed}`), totalUs }
}

/** Spans of one request, its root first. */
export function requestSpans(root: Call, trace: string, startUs: number): SpanSketch[] {
  const spans: SpanSketch[] = []
  /** Adds a span whose end is not known yet. */
  const open = (span: Omit<SpanSketch, 'id' | 'endUs'> & { id?: string | undefined }) => {
    const at = spans.length
    const id = span.id ?? `${trace} ${at}`
    spans.push({ trace, ...span, id, endUs: span.startUs })
    const close = (endUs: number) => {
      spans[at] = { ...spans[at]!, endUs }
      return endUs
    }
    return { id, close }
  }
  const serve = ({ of, own, details, calls }: Call, parent: string | null, fromUs: number) => {
    const { beside: _, isNext: _next, gapUs: _gap, isAsync: _async, ...said } = details
    const { client: _client, fails = false, ...recorded } = said
    const [service, operation] = named(of)
    const status = { ...(fails && { status: 'error' as const }) }
    const span = open({ service, operation, parent, startUs: fromUs, ...status, ...recorded })
    const [beforeUs, afterUs] = typeof own === 'number' ? [own / 2, own / 2] : own
    let nowUs = fromUs + beforeUs
    let last = { startUs: nowUs, endUs: nowUs }
    for (const one of calls) {
      const { beside = false, isNext = false, gapUs = 0, isAsync = false } = one.details
      const startUs = (beside ? last.startUs : isNext ? last.endUs : nowUs) + gapUs
      last = { startUs, endUs: ask(one, { caller: service, parent: span.id, startUs }) }
      if (!isAsync) nowUs = Math.max(nowUs, last.endUs)
    }
    return span.close(nowUs + afterUs)
  }
  const ask = (
    one: Call,
    { caller, parent, startUs }: { caller: string; parent: string; startUs: number },
  ) => {
    const { client } = one.details
    if (client === undefined) return serve(one, parent, startUs)
    const { us, fails = one.details.fails ?? false, ...recorded } = client
    const [, operation] = named(one.of)
    const span = open({
      service: caller,
      operation,
      kind: 'client',
      parent,
      startUs,
      ...(fails && { status: 'error' }),
      ...recorded,
    })
    return span.close(serve(one, span.id, startUs + us[0]) + us[1])
  }
  serve(root, null, startUs)
  return spans
}

function named(of: string): readonly [service: string, operation: string] {
  const [service = '', ...operation] = of.split(' ')
  return [service, operation.length === 0 ? 'call' : operation.join(' ')]
}
