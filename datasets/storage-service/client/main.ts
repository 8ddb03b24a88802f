import { answerControl, report } from '../control/answer-control.ts'
import { launched } from '../control/launched.ts'
import type { FrontEndOperations } from '../front-end/operations.ts'
import { seededRandom } from '../random.ts'
import { RpcClient } from '../rpc/rpc-client.ts'
import type { Batch, Traffic } from './traffic.ts'
import { Worker } from './worker.ts'
import { mixedSteps } from './workloads/mixed.ts'

/** What the client is started with. */
export interface ClientLaunch {
  readonly frontEndPort: number
}

const REPORT_EVERY = 50

const frontEnd = new RpcClient<FrontEndOperations>(
  'frontend',
  launched<ClientLaunch>().frontEndPort,
)
let workers: Worker[] = []

/** Makes the directories and the files that the workload starts from. */
async function prepare({ workload, seed }: Traffic): Promise<void> {
  workers = Array.from({ length: workload.workers }, (_, i) => {
    const random = seededRandom(`${seed}/worker-${i}`)
    return new Worker(frontEnd, mixedSteps(workload, i, random))
  })
  await workers[0]?.makeDirectories()
  await Promise.all(workers.map((worker) => worker.populate()))
}

/** Sends the next requests, shared out evenly among the workers. */
async function send({ requests, traced }: Batch): Promise<void> {
  let done = 0
  const onRequest = () => {
    if (++done % REPORT_EVERY === 0) report({ kind: 'progress', requests: done })
  }
  await Promise.all(
    workers.map((worker, i) => {
      const extra = i < requests % workers.length ? 1 : 0
      return worker.run(Math.floor(requests / workers.length) + extra, { traced, onRequest })
    }),
  )
}

answerControl(0, { prepare, send })
