// Runs once a span of a shape: the loops index with `!`.
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { BLOCKS, timeBlocks } from './time-blocks.ts'
import { allVisits, type ShapeVisits } from './visits.ts'

/** An operation of a service. */
export interface Operation {
  readonly service: string
  readonly operation: string
}

/**
 * Something that an operation may do: make a call, whatever else it does (`'calls'`), or go on with
 * one after another was answered (`'next'`).
 */
export interface CallChoice {
  readonly kind: 'calls' | 'next'
  readonly of: Operation
  /** Call that was answered just before; `null` for none. Only of `'next'`. */
  readonly previous: Operation | null
  /** Call that is made; `null` where the operation makes no further call. */
  readonly call: Operation | null
}

/** How often an operation could do something and did, by stretch of time, those before first. */
export interface ChoiceCounts {
  readonly chances: Float64Array
  readonly made: Float64Array
}

/** One choice, counted in both periods. */
export interface CallCounts extends CallChoice {
  /** By the operation that called this one. */
  readonly strata: readonly ChoiceCounts[]
  /** Shapes of the requests that could make it, and of those that made it. */
  readonly chanceShapes: ReadonlySet<number>
  readonly madeShapes: ReadonlySet<number>
}

/**
 * Counts which calls every operation makes, and what comes next after each, given that the operation
 * was called: what became of the request elsewhere does not matter. Which of several operations a
 * root calls first tells types of requests apart and is not counted.
 *
 * @param flows not folded
 * @returns nothing for flows that were not built from spans
 */
export function callCounts(flows: FlowSet): readonly CallCounts[] {
  if (!areFromSpans(flows)) return []
  const questions = new Map<string, Question>()
  const requestsOf = requestsOfShapes(flows)
  for (const [shape, visits] of allVisits(flows)) {
    const requests = requestsOf.get(shape)!
    for (const { of, kind, previous, context, calls } of choicesOf(flows, shape, visits)) {
      const key = JSON.stringify([kind, of, previous])
      const question = questions.get(key) ?? new Question(kind, of, previous)
      questions.set(key, question)
      question.add(context, calls, { shape, requests })
    }
  }
  return [...questions.values()].flatMap((question) => question.counts())
}

/** Requests of each shape by stretch of time, those before first. */
function requestsOfShapes(flows: FlowSet): Map<number, Float64Array> {
  const blocks = timeBlocks(flows)
  const counts = new Map<number, Float64Array>()
  flows.shapeOf.forEach((shape, request) => {
    const own = counts.get(shape) ?? new Float64Array(2 * BLOCKS)
    counts.set(shape, own)
    own[blocks[request]! + (flows.period[request] === AFTER ? BLOCKS : 0)]!++
  })
  return counts
}

interface Choice extends Omit<CallChoice, 'call'> {
  /** Operation that called this one. */
  readonly context: string
  /** Calls that were made; `null` for the end. */
  readonly calls: readonly (Operation | null)[]
}

function choicesOf(flows: FlowSet, shape: number, spans: ShapeVisits): Choice[] {
  const next = followersOf(flows, shape)
  return spans.visits.flatMap(({ spans: own, caller }) => {
    const context = caller === null ? '' : (spans.operations[caller.entry] as string)
    return own.flatMap((span): Choice[] => {
      const of = operationAt(spans, span)
      const children = childrenOf(spans, span)
      const ask = (kind: 'calls' | 'next', previous: Operation | null, calls: Choice['calls']) => ({
        ...{ kind, of, previous, context, calls },
      })
      const afterEach = children.flatMap((child) => {
        const following = children.filter((other) => next[child.span]!.includes(other.span))
        const isRepeated = following.some(({ callee }) => isSame(callee, child.callee))
        if (isRepeated) return []
        const calls = following.map(({ callee }) => callee)
        return [ask('next', child.callee, calls.length === 0 ? [null] : calls)]
      })
      const isRoot = span === 0
      const first = children.length === 0 ? [null] : []
      return [
        ...(isRoot
          ? []
          : [
              ask(
                'calls',
                null,
                children.map(({ callee }) => callee),
              ),
            ]),
        ask('next', null, first),
        ...afterEach,
      ]
    })
  })
}

/** The spans that start once each span has ended. */
function followersOf({ shapes }: FlowSet, shape: number): readonly number[][] {
  const followers = Array.from({ length: shapes.nodeCount(shape) / 2 }, (): number[] => [])
  const to = shapes.to(shape)
  shapes.from(shape).forEach((from, edge) => {
    const isFollower = from % 2 === 1 && to[edge]! % 2 === 0
    if (isFollower) followers[from >>> 1]!.push(to[edge]! >>> 1)
  })
  return followers
}

/** What a span calls: operations of its own service, or, through the caller's side, of others. */
function childrenOf(spans: ShapeVisits, span: number) {
  const { tree, visitOf } = spans
  const children: { readonly span: number; readonly callee: Operation }[] = []
  for (let child = tree.firstChild[span]!; child < tree.firstChild[span + 1]!; child++) {
    const call = visitOf[span]!.calls.find((one) => one.span === child)
    const answered = call?.called ?? [child]
    const callees = answered.map((callee) => operationAt(spans, callee))
    const unrecorded = { service: call?.service ?? '', operation: spans.operations[child]! }
    for (const callee of callees.length === 0 ? [unrecorded] : callees) {
      children.push({ span: child, callee })
    }
  }
  return children
}

function operationAt({ visitOf, operations }: ShapeVisits, span: number): Operation {
  return { service: visitOf[span]!.service, operation: operations[span]! }
}

/** Whether two operations are the same one of the same service. */
export function isSame(a: Operation, b: Operation): boolean {
  return a.service === b.service && a.operation === b.operation
}

/** What can be chosen at one point. */
class Question {
  readonly #kind: CallChoice['kind']
  readonly #of: Operation
  readonly #previous: Operation | null
  readonly #chanceShapes = new Set<number>()
  readonly #contexts = new Map<string, Float64Array>()
  readonly #answers = new Map<
    string,
    { call: Operation | null; shapes: Set<number>; made: Map<string, Float64Array> }
  >()

  constructor(kind: CallChoice['kind'], of: Operation, previous: Operation | null) {
    this.#kind = kind
    this.#of = of
    this.#previous = previous
  }

  add(
    context: string,
    calls: readonly (Operation | null)[],
    { shape, requests }: { shape: number; requests: Float64Array },
  ): void {
    this.#chanceShapes.add(shape)
    addTo(this.#contexts, context, requests)
    const distinct = new Map(calls.map((call) => [JSON.stringify(call), call]))
    for (const [name, call] of distinct) {
      const answer = this.#answers.get(name) ?? { call, shapes: new Set(), made: new Map() }
      this.#answers.set(name, answer)
      answer.shapes.add(shape)
      addTo(answer.made, context, requests)
    }
  }

  counts(): CallCounts[] {
    return [...this.#answers.values()].map(({ call, shapes, made }) => ({
      kind: this.#kind,
      of: this.#of,
      previous: this.#previous,
      call,
      strata: [...this.#contexts].map(([context, chances]) => ({
        chances,
        made: made.get(context) ?? new Float64Array(chances.length),
      })),
      chanceShapes: this.#chanceShapes,
      madeShapes: shapes,
    }))
  }
}

function addTo(sums: Map<string, Float64Array>, key: string, requests: Float64Array): void {
  const known = sums.get(key)
  if (known === undefined) sums.set(key, requests.slice())
  else for (let i = 0; i < requests.length; i++) known[i]! += requests[i]!
}

/** How many times an operation makes a call, each time that it makes it at all. */
export interface CallRepeats {
  readonly of: Operation
  readonly call: Operation
  /** Mean times of each shape's visits, of the shapes that make it. */
  readonly timesOf: ReadonlyMap<number, number>
  /** By the operation that called this one; one value a request, the mean of its visits. */
  readonly strata: readonly { readonly before: RepeatSample; readonly after: RepeatSample }[]
}

/** Values of one period, with the stretch of time of each. */
interface RepeatSample {
  readonly values: number[]
  readonly blocks: number[]
}

/** A call that a shape makes, and how many times a visit makes it. */
interface Repeat extends Pick<CallRepeats, 'of' | 'call'> {
  readonly key: string
  readonly context: string
  readonly times: number
}

/**
 * Collects how many times operations make calls, of calls that some request repeats.
 *
 * @param flows not folded
 * @returns nothing for flows that were not built from spans
 */
export function callRepeats(flows: FlowSet): readonly CallRepeats[] {
  if (!areFromSpans(flows)) return []
  const ofShape = new Map<number, readonly Repeat[]>()
  for (const [shape, spans] of allVisits(flows)) ofShape.set(shape, repeatsOf(spans))
  const all = [...ofShape.values()].flat()
  const repeated = new Set(all.filter(({ times }) => times > 1).map(({ key }) => key))
  const found = new Map<string, Repeated>()
  const blocks = timeBlocks(flows)
  flows.shapeOf.forEach((shape, request) => {
    for (const { key, context, of, call, times } of ofShape.get(shape)!) {
      if (!repeated.has(key)) continue
      const known = found.get(key) ?? { of, call, timesOf: new Map(), contexts: new Map() }
      found.set(key, known)
      known.timesOf.set(shape, times)
      const samples = known.contexts.get(context) ?? [newSample(), newSample()]
      known.contexts.set(context, samples)
      const sample = samples[flows.period[request]!]!
      sample.values.push(times)
      sample.blocks.push(blocks[request]!)
    }
  })
  return [...found.values()].map(({ contexts, ...repeat }) => ({
    ...repeat,
    strata: [...contexts.values()].map(([before, after]) => ({ before: before!, after: after! })),
  }))
}

interface Repeated extends Pick<CallRepeats, 'of' | 'call'> {
  readonly timesOf: Map<number, number>
  readonly contexts: Map<string, RepeatSample[]>
}

function newSample(): RepeatSample {
  return { values: [], blocks: [] }
}

/** The calls that the requests of a shape make, and how many times, on average over visits. */
function repeatsOf(spans: ShapeVisits): Repeat[] {
  const found = new Map<string, { repeat: Omit<Repeat, 'times'>; calls: number; visits: number }>()
  for (const { spans: own, caller } of spans.visits) {
    const context = caller === null ? '' : spans.operations[caller.entry]!
    for (const span of own) {
      const of = operationAt(spans, span)
      const counts = new Map<string, { call: Operation; times: number }>()
      for (const { callee } of childrenOf(spans, span)) {
        const name = JSON.stringify(callee)
        counts.set(name, { call: callee, times: (counts.get(name)?.times ?? 0) + 1 })
      }
      for (const { call, times } of counts.values()) {
        const key = JSON.stringify([of, call])
        const at = JSON.stringify([key, context])
        const known = found.get(at) ?? { repeat: { key, context, of, call }, calls: 0, visits: 0 }
        found.set(at, { ...known, calls: known.calls + times, visits: known.visits + 1 })
      }
    }
  }
  return [...found.values()].map(({ repeat, calls, visits }) => ({
    ...repeat,
    times: calls / visits,
  }))
}
