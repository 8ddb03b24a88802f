import type { Socket } from 'node:net'
import { memoryUsage } from 'node:process'
import type { LogMessage } from '../log-lines.ts'
import { MessageLog } from '../message-log.ts'
import { monotonicUs } from '../monotonic-us.ts'
import { blocksFrom } from './block-stream.ts'
import { cacheMemory } from './shared-cache.ts'
import { StallWatch } from './stall-watch.ts'
import { type Block, WriteQueue } from './write-queue.ts'
import type { Writer } from './writer.ts'
import type { WriterDone } from './writer-job.ts'

/** What a node is told for its one run. */
export interface IngestSetup {
  readonly path: string
  readonly cacheBytes: number
  readonly announceMs: number
  readonly indexEntries: number
}

export interface IngestDone {
  readonly messages: readonly LogMessage[]
  /** How long the machine kept the node from running, at worst. */
  readonly stallUs: number
}

/** One block in so many is logged, so that a run is a hundred lines or two. */
const LOGGED_EVERY = 12
const QUEUE_CAPACITY = 256
const MEGABYTE = 1e6

/** Receives blocks until the sender ends, sorts each, and lets the writers write it. */
export async function ingest(
  socket: Promise<Socket>,
  writers: readonly Writer[],
  { path, cacheBytes, announceMs, indexEntries }: IngestSetup,
): Promise<IngestDone> {
  const open = { kind: 'open', path, memory: cacheMemory(), cacheBytes } as const
  await Promise.all(writers.map((writer) => writer.run(open)))
  const sender = await socket
  const log = new MessageLog()
  const stall = new StallWatch()
  const announcement = setTimeout(() => log.event('announce'), announceMs)
  const written = new WrittenBlocks(log)
  const queue = new WriteQueue({
    writers,
    capacity: QUEUE_CAPACITY,
    onWritten: (done, block) => {
      const { number } = block
      written.add(done, block)
      if (isLogged(number)) {
        written.log()
        log.state('write_queue', queue.length)
        log.state('heap_kb', memoryUsage().heapUsed / 1024)
        log.state('index_entries', indexEntries + number)
      }
    },
  })
  let offset = 0
  let number = 0
  for await (const bytes of blocksFrom(sender)) {
    number += 1
    if (isLogged(number)) log.event('receive')
    const startUs = monotonicUs()
    sortRecords(bytes)
    if (isLogged(number)) {
      log.event('sort')
      log.state('sort_us', monotonicUs() - startUs)
    }
    await queue.put({ number, bytes, offset, queuedUs: monotonicUs() })
    offset += bytes.length
  }
  log.event('receive end')
  await queue.drain()
  for (const writer of writers) {
    const { flushed, endUs } = await writer.run({ kind: 'finish' })
    if (flushed) log.event('flush', endUs)
    log.event(`${writer.name} finish`, endUs)
  }
  log.event('finish')
  clearTimeout(announcement)
  return { messages: log.messages, stallUs: stall.stop() }
}

/** What the writers have done since it was logged last, and in all. */
class WrittenBlocks {
  readonly #log: MessageLog
  #blocks = 0
  #queueWaitUs = 0
  #writeUs = 0
  #lockWaitUs = 0
  #dirtyBytes = 0
  #bytes = 0

  constructor(log: MessageLog) {
    this.#log = log
  }

  add(done: WriterDone, { bytes, queuedUs }: Block): void {
    const { startUs, endUs, lockWaitUs, dirtyBytes, flushed } = done
    if (flushed) this.#log.event('flush', endUs)
    this.#blocks += 1
    this.#queueWaitUs += startUs - queuedUs
    this.#writeUs += endUs - startUs
    this.#lockWaitUs += lockWaitUs
    this.#dirtyBytes = Math.max(this.#dirtyBytes, dirtyBytes)
    this.#bytes += bytes.length
  }

  log(): void {
    this.#log.event('write')
    this.#log.state('queue_wait_us', this.#queueWaitUs / this.#blocks)
    this.#log.state('write_us', this.#writeUs / this.#blocks)
    this.#log.state('lock_wait_us', this.#lockWaitUs / this.#blocks)
    this.#log.state('dirty_kb', this.#dirtyBytes / 1024)
    this.#log.state('written_mb', this.#bytes / MEGABYTE)
    this.#blocks = 0
    this.#queueWaitUs = 0
    this.#writeUs = 0
    this.#lockWaitUs = 0
    this.#dirtyBytes = 0
  }
}

const isLogged = (number: number) => number % LOGGED_EVERY === 0

/** Sorts the block's first 16 KB as records of four bytes: the node's work for the processor. */
function sortRecords(bytes: Buffer): void {
  const records = new Uint32Array(16 * 256)
  const stretch = bytes.subarray(0, records.byteLength)
  new Uint8Array(records.buffer).set(stretch)
  records.sort()
  stretch.set(new Uint8Array(records.buffer, 0, stretch.length))
}
