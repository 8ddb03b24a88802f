import { fork } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { stderr } from 'node:process'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '../storage-service/random.ts'
import {
  type InstanceLog,
  LOG_CLASSES,
  type LogClass,
  type LogMessage,
} from '../storage-service-logs/log-lines.ts'
import { writeLogDataset } from '../storage-service-logs/write-log-dataset.ts'
import { type PeerSetup, startSeeder } from './peer.ts'
import { truth } from './truth.ts'

const SEED = 1
const PEERS = 36
const PIECES = 10
const AT_ONCE = 3
/** What differs: the timer that tells interest, and two things without effect. */
const CLASSES = {
  good: { timerMs: 50, portMappedMs: 60, tableNodes: 40 },
  bad: { timerMs: 250, portMappedMs: 260, tableNodes: 160 },
} as const
/** Peers are of several kinds of machines, whose timers are set to about the same. */
const SPREAD = 0.7

function setupOf(logClass: LogClass, name: string, port: number): PeerSetup {
  const random = seededRandom(`${SEED}/${name}`)
  const { timerMs, portMappedMs, tableNodes } = CLASSES[logClass]
  return {
    seed: name,
    port,
    pieces: PIECES,
    timerMs: timerMs * (1 - SPREAD + 2 * SPREAD * random.next()),
    portMappedMs: portMappedMs + 60 * random.next(),
    tableNodes,
  }
}

async function recorded(logClass: LogClass, place: number, port: number): Promise<InstanceLog> {
  const instance = `${logClass[0]}-peer${String(place).padStart(2, '0')}`
  const child = fork(fileURLToPath(new URL('main.ts', import.meta.url)))
  await new Promise((resolve) => child.once('message', resolve))
  const log = new Promise<LogMessage[]>((resolve, reject) => {
    child.once('message', (messages) => resolve(messages as LogMessage[]))
    child.once('error', reject)
  })
  child.send(setupOf(logClass, instance, port))
  return { instance, messages: await log }
}

const seeder = await startSeeder()
const { port } = seeder.address() as AddressInfo
const logs: Record<LogClass, InstanceLog[]> = { good: [], bad: [] }
for (let place = 0; place < PEERS; place += AT_ONCE) {
  for (const logClass of LOG_CLASSES) {
    const places = Array.from({ length: AT_ONCE }, (_, i) => place + i)
    logs[logClass].push(...(await Promise.all(places.map((one) => recorded(logClass, one, port)))))
  }
}
seeder.close()
const recording = { seed: SEED, peers: PEERS, pieces: PIECES, spread: SPREAD, ...CLASSES }
const folder = fileURLToPath(new URL('.', import.meta.url))
for (const [name, bytes] of await writeLogDataset(folder, logs, { ...truth, recording })) {
  stderr.write(`${name}  ${(bytes / 1000).toFixed(1)} kB\n`)
}
process.exit()
