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
}

/**
 * Divides after and every run before into ten stretches of time with as many requests each (fewer, of
 * more than twenty runs), so that tests can see how far the level wanders by itself.
 */
export function timeBlocks({ period, recordedIn, runs, startUs, size }: FlowSet): TimeBlocks {
  const of = new Uint8Array(size)
  const perRun = Math.min(BLOCKS, Math.floor(MAX_BLOCKS / Math.max(1, runs.length)))
  const members = [...runs, null].map((run) =>
    Array.from(period.keys()).filter((request) =>
      run === null
        ? period[request] === AFTER
        : period[request] === BEFORE && recordedIn[request] === run,
    ),
  )
  members.forEach((requests, number) => {
    requests.sort((a, b) => (startUs[a] as number) - (startUs[b] as number) || a - b)
    requests.forEach((request, at) => {
      of[request] = perRun * number + Math.floor((perRun * at) / requests.length)
    })
  })
  return { of, perRun, runs: runs.length }
}
