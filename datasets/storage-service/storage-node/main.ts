import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorageNodeConfiguration } from '../cases/configuration.ts'
import { answerControl } from '../control/answer-control.ts'
import { collectSpans } from '../control/collect-spans.ts'
import { launched } from '../control/launched.ts'
import type { Setup } from '../control/setup.ts'
import { serve } from '../rpc/rpc-server.ts'
import { spin } from '../spin.ts'
import { startTracing, type Tracing } from '../telemetry/tracing.ts'
import { Volumes } from '../volumes/volumes.ts'
import { Disk } from './disk.ts'
import { Objects } from './objects.ts'
import type { StorageNodeOperations } from './operations.ts'

/** What a storage node is started with. */
export interface StorageNodeLaunch {
  readonly tracing: Tracing
  readonly directory: string
  readonly largeReads?: LargeReads
}

/** What a version does with reads of many bytes. */
export interface LargeReads {
  readonly fromBytes: number
  /** Processor time that each burns. */
  readonly spinUs: number
  /** One in so many fails. */
  readonly failEvery: number
}

const DISK_THREADS = 2

const { tracing, directory, largeReads } = launched<StorageNodeLaunch>()
const spans = startTracing(tracing)
const disk = new Disk(DISK_THREADS)
const volumes = new Volumes<Objects>()
let largeReadsSoFar = 0

/** Verifies what was read, as a version that has such a fault does. */
function verify(bytes: Buffer): void {
  if (largeReads === undefined || bytes.length < largeReads.fromBytes) return
  spin(largeReads.spinUs)
  if (++largeReadsSoFar % largeReads.failEvery === 0) {
    throw new Error(`EIO: the checksums of ${bytes.length} bytes do not match`)
  }
}

const port = await serve<StorageNodeOperations>({
  'SN READ': async ({ args: { object, offset, count }, note }) => {
    note({ offset, count, 'queue.length': disk.queueLength })
    const bytes = await volumes.current.read({ object, offset, count })
    verify(bytes)
    return { result: { count: bytes.length }, body: bytes }
  },
  'SN WRITE': async ({ args: { object, offset }, body, note }) => {
    note({ offset, count: body.length, 'queue.length': disk.queueLength })
    await volumes.current.write(object, offset, body)
    return { result: {} }
  },
  'SN REMOVE': async ({ args: { object }, note }) => {
    note({ 'queue.length': disk.queueLength })
    await volumes.current.remove(object)
    return { result: {} }
  },
})

answerControl(port, {
  configure: async ({ period, configuration }: Setup<StorageNodeConfiguration>) => {
    const volume = join(directory, period)
    await rm(volume, { recursive: true, force: true })
    await mkdir(volume, { recursive: true })
    volumes.set(period, new Objects(volume, disk, configuration))
  },
  collect: collectSpans(spans),
})
