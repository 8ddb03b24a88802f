import { closeSync, constants, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { spin } from '../spin.ts'
import type { DiskAnswer, DiskJob } from './disk-job.ts'

const NOTHING = new Uint8Array(0)

parentPort?.on('message', (job: DiskJob) => {
  parentPort?.postMessage(answer(job))
})

function answer(job: DiskJob): DiskAnswer {
  try {
    const startNs = process.hrtime.bigint()
    const bytes = carryOut(job)
    const endNs = process.hrtime.bigint()
    if (job.kind === 'write' && job.spinUs > 0) spin(job.spinUs)
    return { bytes, startNs, endNs }
  } catch (error) {
    return { error: `${job.kind} of ${job.path} failed: ${String(error)}` }
  }
}

function carryOut(job: DiskJob): Uint8Array {
  if (job.kind === 'remove') {
    rmSync(job.path, { force: true })
    return NOTHING
  }
  const file = openSync(job.path, constants.O_RDWR | constants.O_CREAT)
  try {
    if (job.kind === 'write') {
      writeSync(file, job.bytes, 0, job.bytes.length, job.offset)
      return NOTHING
    }
    const bytes = new Uint8Array(job.count)
    return bytes.subarray(0, readSync(file, bytes, 0, job.count, job.offset))
  } finally {
    closeSync(file)
  }
}
