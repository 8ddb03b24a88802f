import { closeSync, constants, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { monotonicUs } from '../monotonic-us.ts'
import { type Admission, SharedCache } from './shared-cache.ts'
import type { WriterAnswer, WriterJob } from './writer-job.ts'

/** What a flush takes at least: half a turn of a disk, and some way of its arm. */
const FLUSH_US = 5000

const NEVER_CHANGED = new Int32Array(new SharedArrayBuffer(4))

const NOTHING: Admission = { lockWaitUs: 0, dirtyBytes: 0, flushed: false }

let file: number | undefined
let cache: SharedCache | undefined

parentPort?.on('message', (job: WriterJob) => {
  parentPort?.postMessage(answer(job))
})

function answer(job: WriterJob): WriterAnswer {
  try {
    const startUs = monotonicUs()
    const admission = carryOut(job)
    return { ...admission, startUs, endUs: monotonicUs() }
  } catch (error) {
    return { error: String(error) }
  }
}

function carryOut(job: WriterJob): Admission {
  if (job.kind === 'open') {
    const opened = openSync(job.path, constants.O_WRONLY | constants.O_CREAT)
    file = opened
    cache = new SharedCache(job.memory, job.cacheBytes, () => flush(opened))
    return NOTHING
  }
  if (file === undefined || cache === undefined) throw new Error('Open a file before this job.')
  if (job.kind === 'write') {
    writeWhole(file, job.bytes, job.offset)
    return cache.add(job.bytes.length)
  }
  const left = cache.finish()
  closeSync(file)
  return left
}

/**
 * Forces a file to disk. Where that is quicker than on a disk that turns (in memory, it takes no
 * time at all), the thread waits for the rest, as it would for a disk, so that recordings on
 * different machines, and at different hours on a disk that others use, are alike.
 */
function flush(opened: number): void {
  const startUs = monotonicUs()
  fdatasyncSync(opened)
  const leftUs = FLUSH_US - (monotonicUs() - startUs)
  if (leftUs > 0) Atomics.wait(NEVER_CHANGED, 0, 0, leftUs / 1000)
}

/** A file may take fewer bytes than it is given. */
function writeWhole(to: number, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(to, bytes, done, bytes.length - done, offset + done)
  }
}
