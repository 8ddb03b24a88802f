import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'

/** Stretches of time that each period is divided into, and each run of one, if there is room. */
export const BLOCKS = 10
/** Stretches that all runs before may have together. */
const MAX_BLOCKS = 200

/** The stretches of time of all requests. */
export interface TimeBlocks {
  /** Number of each request's stretch: those of one run after the other, after last. */
  readonly of: Uint8Array
  /** Stretches that each run has; after has as many. */
  readonly perRun: number
  /** Runs before. */
  readonly runs: number
  /**
   * Whether both periods were recorded at the same time, as a canary beside what it is compared with:
   * stretches of after are then those of before, `perRun` later, and what both share is no difference.
   */
  readonly aligned: boolean
}

/** Periods are of the same time where they share this part of the longer one. */
const MIN_OVERLAP = 0.8

/**
 * Divides after and every run before into ten stretches of time with as many requests each (fewer, of
 * more than twenty runs), so that tests can see how far the level wanders by itself. Periods of the
 * same time are divided at the same moments.
 */
export function timeBlocks(flows: FlowSet): TimeBlocks {
  const { period, recordedIn, runs, startUs, size, epochsUs } = flows
  const of = new Uint8Array(size)
  const perRun = Math.min(BLOCKS, Math.floor(MAX_BLOCKS / Math.max(1, runs.length)))
  const timeUs = (request: number) =>
    (epochsUs[recordedIn[request] as number] ?? 0) + (startUs[request] as number)
  const byTime = (requests: number[]) => requests.sort((a, b) => timeUs(a) - timeUs(b) || a - b)
  const all = Array.from(period.keys())
  const aligned = runs.length === 1 && overlapOf(flows, timeUs) >= MIN_OVERLAP
  const members = aligned
    ? [all]
    : [...runs, null].map((run) =>
        all.filter((request) =>
          run === null
            ? period[request] === AFTER
            : period[request] === BEFORE && recordedIn[request] === run,
        ),
      )
  members.forEach((requests, number) => {
    byTime(requests).forEach((request, at) => {
      const offset = aligned ? (period[request] as number) : number
      of[request] = perRun * offset + Math.floor((perRun * at) / requests.length)
    })
  })
  return { of, perRun, runs: runs.length, aligned }
}

/** Which part of the longer period lies in the other. */
function overlapOf({ period, size }: FlowSet, timeUs: (request: number) => number): number {
  const first = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number]
  const last = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY] as [number, number]
  for (let request = 0; request < size; request++) {
    const own = period[request] as 0 | 1
    first[own] = Math.min(first[own], timeUs(request))
    last[own] = Math.max(last[own], timeUs(request))
  }
  const longest = Math.max(last[0] - first[0], last[1] - first[1])
  return longest > 0 ? (Math.min(...last) - Math.max(...first)) / longest : 0
}
