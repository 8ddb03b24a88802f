import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { ManagedProcess } from '../storage-service/control/managed-process.ts'
import { seededRandom } from '../storage-service/random.ts'
import type { InstanceLog } from './log-lines.ts'
import { framed } from './node/block-stream.ts'
import type { IngestDone, IngestSetup } from './node/ingest.ts'
import type { NodePlan } from './node-plan.ts'

/** With a longer stall than this, a log tells of other programs more than of the node. */
const STALLED_US = 8000
const ATTEMPTS = 15

/** The log of a node, and how long the machine kept it from running at worst. */
export interface RecordedNode {
  readonly log: InstanceLog
  readonly stallUs: number
  /** How often it was recorded: once, unless the machine was busy. */
  readonly attempts: number
}

/** Records a node; again while the machine stalls it, and then keeps the least stalled. */
export async function recordNode(plan: NodePlan, scratch: string): Promise<RecordedNode> {
  let best: RecordedNode | undefined
  let attempts = 0
  do {
    attempts += 1
    const { messages, stallUs } = await recordOnce(plan, scratch)
    if (best === undefined || stallUs < best.stallUs) {
      best = { log: { instance: plan.instance, messages }, stallUs, attempts }
    }
  } while (best.stallUs > STALLED_US && attempts < ATTEMPTS)
  return { ...best, attempts }
}

/** Starts a node, sends it its blocks, and resolves to what it logged. */
async function recordOnce(plan: NodePlan, scratch: string): Promise<IngestDone> {
  const { instance, cacheBytes, announceMs, indexEntries, blockBytes } = plan
  const path = join(scratch, instance)
  const entry = new URL('node/main.ts', import.meta.url)
  const node = new ManagedProcess(instance, entry, {})
  try {
    const port = await node.ready()
    const blocks = blockBytes.map(randomBlock(instance))
    const setup: IngestSetup = { path, cacheBytes, announceMs, indexEntries }
    const logged = node.command('ingest', setup)
    await Promise.race([send(port, blocks), logged])
    return (await logged) as IngestDone
  } finally {
    await node.stop()
    await rm(path, { force: true })
  }
}

/** Sends blocks over one connection, as fast as the node takes them. */
async function send(port: number, blocks: readonly Buffer[]): Promise<void> {
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  for (const block of blocks) {
    if (!socket.write(framed(block))) await once(socket, 'drain')
  }
  socket.end()
}

function randomBlock(instance: string): (bytes: number) => Buffer {
  const random = seededRandom(`${instance}/content`)
  return (bytes) => {
    const words = Uint32Array.from({ length: bytes / 4 }, () => random.below(2 ** 32))
    return Buffer.from(words.buffer)
  }
}
