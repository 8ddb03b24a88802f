// Runs once a request of a step: the loops index with `!`.
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import type { Pairing } from '../../stats/moderated-shifts.ts'
import { rowsWhere } from '../../traces/group-rows.ts'

/** Stretches of time that each period is divided into, and each run of one, if there is room. */
export const BLOCKS = 10
const SHORT_STRETCHES = 80
/** Stretches that all runs before may have together. */
const MAX_BLOCKS = 200

/** Periods are of the same time where they share this part of the longer one. */
export const MIN_SHARED = 0.8

export interface TimeBlocks {
  /** Number of each request's stretch: those of one run after the other, after last. */
  readonly of: Uint8Array
  /** Stretches that each run has; after has as many. */
  readonly perRun: number
  readonly runs: number
  /** Stretches of both periods that are compared in pairs: a common change is no difference. */
  readonly pairs: Pairing
}

/**
 * Divides after and every run into ten stretches of equally many requests, to measure the drift of levels. Periods of
 * the same time, such as a canary, are divided at the same moments. Separate periods, such as this morning and
 * yesterday's, may both warm up as they begin, or cover the same hours: they are compared phase by phase.
 */
export const timeBlocks = remembered((flows: FlowSet): TimeBlocks => divided(flows, BLOCKS))

/** Divides time into shorter stretches, to find bursts. */
export const shortStretches = remembered((flows: FlowSet) => divided(flows, SHORT_STRETCHES))

function divided(flows: FlowSet, most: number): TimeBlocks {
  const { period, recordedIn, runs, size } = flows
  const of = new Uint8Array(size)
  const perRun = Math.min(most, Math.floor(MAX_BLOCKS / Math.max(1, runs.length)))
  const pairs = runs.length === 1 ? pairingOf(flows) : null
  const isOfOneTime = pairs === 'time'
  const members = isOfOneTime
    ? [rowsWhere(size, () => true)]
    : [...runs, null].map((run) =>
        rowsWhere(size, (request) =>
          run === null
            ? period[request] === AFTER
            : period[request] === BEFORE && recordedIn[request] === run,
        ),
      )
  members.forEach((requests, number) => {
    const arrivalUs = new Float64Array(requests.length)
    for (let i = 0; i < arrivalUs.length; i++) arrivalUs[i] = flows.arrivalUs(requests[i]!)
    const stretches = divideTimes(arrivalUs, perRun)
    requests.forEach((request, i) => {
      const offset = isOfOneTime ? (period[request] as number) : number
      of[request] = perRun * offset + (stretches[i] as number)
    })
  })
  return { of, perRun, runs: runs.length, pairs }
}

/**
 * Returns how stretches of both periods are paired. Adjoining periods are no phases of each other: a level that falls
 * in both simply goes on falling. So phases require a gap as long as the shorter period.
 */
function pairingOf(flows: FlowSet): Pairing {
  const overlap = periodOverlap(flows)
  if (overlap === null) return null
  if (overlap.share >= MIN_SHARED) return 'time'
  return overlap.gapUs >= overlap.shorterUs ? 'phase' : null
}

/** Number of chances of an operation to do something, and how often it did, by stretch of time; see `TimeBlocks`. */
export interface ChoiceCounts {
  readonly chances: Float64Array
  readonly made: Float64Array
  /** `undefined` where each counts once. */
  readonly spread?: { readonly chances: WeightSpread; readonly made: WeightSpread } | undefined
}

/** Number of recorded values, and the sum of their squared weights. */
export interface WeightSpread {
  readonly recorded: Float64Array
  readonly squares: Float64Array
}

/** Number of times something was done, by stretch of time and by weight of its request. */
export class StretchCounts {
  readonly counts: Float64Array
  /** `undefined` where each counts once. */
  readonly spread: WeightSpread | undefined
  readonly #counted: Float64Array | undefined

  constructor({ counted }: Pick<FlowSet, 'counted'>, size: number) {
    this.counts = new Float64Array(size)
    this.spread = counted && { recorded: new Float64Array(size), squares: new Float64Array(size) }
    this.#counted = counted
  }

  add(request: number, stretch: number): void {
    const own = this.#counted?.[request] ?? 1
    this.counts[stretch]! += own
    if (this.spread === undefined) return
    this.spread.recorded[stretch]! += 1
    this.spread.squares[stretch]! += own ** 2
  }

  addAll({ counts, spread }: StretchCounts): void {
    for (let i = 0; i < counts.length; i++) {
      this.counts[i]! += counts[i]!
      if (this.spread === undefined) continue
      this.spread.recorded[i]! += spread!.recorded[i]!
      this.spread.squares[i]! += spread!.squares[i]!
    }
  }

  /** Returns these chances together with how often they were taken. */
  choices(made = new StretchCounts({ counted: this.#counted }, this.counts.length)): ChoiceCounts {
    const { counts: chances, spread } = this
    return {
      chances,
      made: made.counts,
      spread: spread && made.spread && { chances: spread, made: made.spread },
    }
  }

  /** Returns a copy, to which other counts can be added. */
  copy(): StretchCounts {
    const copy = new StretchCounts({ counted: this.#counted }, this.counts.length)
    copy.addAll(this)
    return copy
  }
}

/** Divides times into `parts` stretches of as many; gives the number of the stretch that each lies in. */
export function divideTimes(timeUs: Float64Array, parts: number): Uint8Array {
  const stretches = new Uint8Array(timeUs.length)
  ascendingOrder(timeUs).forEach((number, at) => {
    stretches[number] = Math.floor((parts * at) / timeUs.length)
  })
  return stretches
}
