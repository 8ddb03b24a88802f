import { mkdir, rm } from 'node:fs/promises'
import type { StorageNodeConfiguration } from '../cases/configuration.ts'
import { answerControl } from '../control/answer-control.ts'
import { collectSpans } from '../control/collect-spans.ts'
import { launched } from '../control/launched.ts'
import { serve } from '../rpc/rpc-server.ts'
import { startTracing, type Tracing } from '../telemetry/tracing.ts'
import { Disk } from './disk.ts'
import { Objects } from './objects.ts'
import type { StorageNodeOperations } from './operations.ts'

/** What a storage node is started with. */
export interface StorageNodeLaunch {
  readonly tracing: Tracing
  readonly directory: string
}

const DISK_THREADS = 2

const { tracing, directory } = launched<StorageNodeLaunch>()
const spans = startTracing(tracing)
const disk = new Disk(DISK_THREADS)
let configured: Objects | undefined

function objects(): Objects {
  if (configured === undefined) throw new Error('The storage node holds no objects: configure it.')
  return configured
}

const port = await serve<StorageNodeOperations>({
  'SN READ': async ({ args: { object, offset, count }, note }) => {
    note({ offset, count, 'queue.length': disk.queueLength })
    const bytes = await objects().read({ object, offset, count })
    return { result: { count: bytes.length }, body: bytes }
  },
  'SN WRITE': async ({ args: { object, offset }, body, note }) => {
    note({ offset, count: body.length, 'queue.length': disk.queueLength })
    await objects().write(object, offset, body)
    return { result: {} }
  },
  'SN REMOVE': async ({ args: { object }, note }) => {
    note({ 'queue.length': disk.queueLength })
    await objects().remove(object)
    return { result: {} }
  },
})

answerControl(port, {
  configure: async (configuration: StorageNodeConfiguration) => {
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    configured = new Objects(directory, disk, configuration)
  },
  collect: collectSpans(spans),
})
