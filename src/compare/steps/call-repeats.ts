// Runs once a request of a repeated call: the loops index with `!`.
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { differ, equalRows } from '../../stats/weighted-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import type { Caller, CallerKind, CallSites, Operation } from './call-order.ts'
import { timeBlocks } from './time-blocks.ts'

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
        const known: Repeated = found.get(key) ?? {
          of,
          call,
          timesOf: new Map(),
          contexts: new Map(),
          chances: [0, 0],
          made: [0, 0],
        }
        found.set(key, known)
        known.timesOf.set(shape, times)
        const samples =
          known.contexts.get(context) ?? ([new GrowingRepeats(), new GrowingRepeats()] as const)
        known.contexts.set(context, samples)
        return { times, samples, known }
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
