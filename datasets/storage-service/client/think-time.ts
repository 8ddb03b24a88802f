import type { Random } from '../random.ts'
import type { Workload } from './workload.ts'

/** How long a worker waits before each of its requests, in turn. */
export function thinkTimes({ thinkMs, pauses }: Workload, random: Random): () => number {
  let requests = 0
  return () => {
    const thought = -Math.log(1 - random.next()) * thinkMs
    if (pauses === undefined) return thought
    const { everyRequests, pauseMs } = pauses
    return ++requests % everyRequests === 0 ? thought + pauseMs : thought
  }
}
