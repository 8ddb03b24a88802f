import type { Random } from '../random.ts'
import type { Period } from '../volumes/period.ts'
import type { Batch } from './traffic.ts'
import type { Worker } from './worker.ts'

/**
 * Sends the next requests of each period, shared out evenly among its workers. In turns, a coin
 * says who is first: a fixed pattern could fall in with one of the workload's.
 */
export async function sendBatch(
  workers: Readonly<Record<Period, readonly Worker[]>>,
  { periods, order, requests, traced }: Batch,
  { random, onRequest }: { readonly random: Random; readonly onRequest: () => void },
): Promise<void> {
  const run = async (group: readonly (Worker | undefined)[], share: number) => {
    for (let sent = 0; sent < share; sent++) {
      for (const worker of random.next() < 0.5 ? group : group.toReversed()) {
        await worker?.sendNext(traced)
        onRequest()
      }
    }
  }
  const most = Math.max(...periods.map((period) => workers[period].length))
  const lanes = Array.from({ length: most }, (_, i) => {
    const share = Math.floor(requests / most) + (i < requests % most ? 1 : 0)
    const group = periods.map((period) => workers[period][i])
    const groups = order === 'together' ? group.map((worker) => [worker]) : [group]
    return groups.map((taking) => run(taking, share))
  })
  await Promise.all(lanes.flat())
}
