import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { Period } from '../volumes/period.ts'
import type { Batch } from './traffic.ts'
import type { Worker } from './worker.ts'

/** How often a worker that starts later looks whether it may, in ms. */
const LOOK_MS = 5

/**
 * Sends the next requests of each period. In turns, they are shared out evenly among its workers, and
 * a coin says who is first: a fixed pattern could fall in with one of the workload's.
 */
export async function sendBatch(
  workers: Readonly<Record<Period, readonly Worker[]>>,
  { periods, order, requests, traced }: Batch,
  { random, onRequest }: { readonly random: Random; readonly onRequest: () => void },
): Promise<void> {
  if (order === 'together') {
    const atOwnPace = async (period: Period) => {
      let sent = 0
      const work = async (worker: Worker) => {
        while (sent < worker.startsAfter && sent < requests) await pause(LOOK_MS)
        while (sent++ < requests) {
          await worker.sendNext(traced)
          onRequest()
        }
      }
      await Promise.all(workers[period].map(work))
    }
    await Promise.all(periods.map(atOwnPace))
    return
  }
  const most = Math.max(...periods.map((period) => workers[period].length))
  const inTurns = async (worker: number) => {
    const group = periods.map((period) => workers[period][worker])
    const share = Math.floor(requests / most) + (worker < requests % most ? 1 : 0)
    for (let sent = 0; sent < share; sent++) {
      for (const next of random.next() < 0.5 ? group : group.toReversed()) {
        await next?.sendNext(traced)
        onRequest()
      }
    }
  }
  await Promise.all(Array.from({ length: most }, (_, worker) => inTurns(worker)))
}
