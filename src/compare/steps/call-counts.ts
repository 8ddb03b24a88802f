// Runs once a span of a shape: the loops index with `!`.
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { BLOCKS, timeBlocks } from './time-blocks.ts'
import { type ShapeVisits, shapeVisits } from './visits.ts'

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
 * @returns nothing for flows that were not built from spans
 */
export function callCounts(flows: FlowSet): readonly CallCounts[] {
  const recorded = flows instanceof FoldedFlows ? flows.unfolded : flows
  if (!areFromSpans(recorded)) return []
  const questions = new Map<string, Question>()
  for (const [shape, requests] of requestsOfShapes(recorded)) {
    for (const { of, kind, previous, context, calls } of choicesOf(recorded, shape)) {
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

function choicesOf(flows: FlowSet, shape: number): Choice[] {
  const spans = shapeVisits(flows, shape)
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
        ...(isRoot ? [] : [ask('calls', null, children.map(({ callee }) => callee))]),
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
    for (const callee of call?.called ?? [child]) {
      children.push({ span: child, callee: operationAt(spans, callee) })
    }
  }
  return children
}

function operationAt({ visitOf, operations }: ShapeVisits, span: number): Operation {
  return { service: visitOf[span]!.service, operation: operations[span]! }
}

function isSame(a: Operation, b: Operation): boolean {
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
