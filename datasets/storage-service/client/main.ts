import { answerControl, report } from '../control/answer-control.ts'
import { launched } from '../control/launched.ts'
import type { FrontEndOperations } from '../front-end/operations.ts'
import { seededRandom } from '../random.ts'
import { RpcClient } from '../rpc/rpc-client.ts'
import type { Period } from '../volumes/period.ts'
import { sendBatch } from './send-batch.ts'
import { thinkTimes } from './think-time.ts'
import type { Batch, Traffic } from './traffic.ts'
import { Worker } from './worker.ts'
import { stepsOf } from './workloads/steps-of.ts'
import { tenantsOfWorkers } from './workloads/tenants.ts'

/** What the client is started with. */
export interface ClientLaunch {
  readonly frontEndPort: number
}

const REPORT_EVERY = 50

const frontEnd = new RpcClient<FrontEndOperations>(
  'frontend',
  launched<ClientLaunch>().frontEndPort,
)
const workers: Record<Period, Worker[]> = { before: [], after: [] }
let turns = seededRandom('turns')

/** Makes the directories and the files that the workload starts from. */
async function prepare({ period, workload, seed }: Traffic): Promise<void> {
  const tenants = workload.kind === 'tenants' ? tenantsOfWorkers(workload) : []
  const made = Array.from({ length: workload.workers }, (_, i) => {
    const { id: tenant, workload: own = workload, startsAfter } = tenants[i] ?? {}
    const steps = stepsOf(own, i, seededRandom(`${seed}/worker-${i}`))
    const thinkMs = thinkTimes(own, seededRandom(`${seed}/think-${i}`))
    const mayFail = own.kind === 'mixed' && own.mayFail
    return new Worker(frontEnd, { steps, thinkMs, period, tenant, startsAfter, mayFail })
  })
  workers[period] = made
  turns = seededRandom(`${seed}/turns`)
  await made[0]?.makeDirectories(workload.directories)
  await Promise.all(made.map((worker) => worker.populate()))
}

async function send(batch: Batch): Promise<void> {
  let done = 0
  const onRequest = () => {
    if (++done % REPORT_EVERY === 0) report({ kind: 'progress', requests: done })
  }
  await sendBatch(workers, batch, { random: turns, onRequest })
}

answerControl(0, { prepare, send })
