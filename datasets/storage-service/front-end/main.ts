import type { FrontEndConfiguration } from '../cases/configuration.ts'
import { answerControl } from '../control/answer-control.ts'
import { collectSpans } from '../control/collect-spans.ts'
import { launched } from '../control/launched.ts'
import type { Setup } from '../control/setup.ts'
import { LockTable } from '../locks/lock-table.ts'
import type { MetadataServerOperations } from '../metadata-server/operations.ts'
import { RpcClient } from '../rpc/rpc-client.ts'
import { serve } from '../rpc/rpc-server.ts'
import { startTracing, type Tracing } from '../telemetry/tracing.ts'
import { Volumes } from '../volumes/volumes.ts'
import { DataNodes } from './data-nodes.ts'
import { FileService } from './file-service.ts'
import type { FrontEndOperations } from './operations.ts'

/** What the front end is started with. */
export interface FrontEndLaunch {
  readonly tracing: Tracing
  readonly metadataServerPort: number
  /** By the name of the data storage node. */
  readonly dataNodePorts: Readonly<Record<string, number>>
}

const { tracing, metadataServerPort, dataNodePorts } = launched<FrontEndLaunch>()
const spans = startTracing(tracing)
const metadataServer = new RpcClient<MetadataServerOperations>('mds', metadataServerPort)
const dataNodes = new DataNodes(dataNodePorts)
const volumes = new Volumes<{ readonly files: FileService; readonly locks: LockTable }>()

/** Runs one request while no other is working on the same file. */
async function onFile<T>(name: string, work: (files: FileService) => Promise<T>): Promise<T> {
  const { files, locks } = volumes.current
  const release = await locks.acquire(name)
  try {
    return await work(files)
  } finally {
    release()
  }
}

const port = await serve<FrontEndOperations>({
  'NFS3 GETATTR': ({ args, note }) => onFile(args.name, (files) => files.getattr(args, note)),
  'NFS3 LOOKUP': ({ args }) => onFile(args.name, (files) => files.lookup(args)),
  'NFS3 READDIRPLUS': ({ args, note }) => onFile(args.name, (files) => files.list(args, note)),
  'NFS3 MKDIR': ({ args }) => onFile(args.name, (files) => files.mkdir(args)),
  'NFS3 CREATE': ({ args }) => onFile(args.name, (files) => files.create(args)),
  'NFS3 REMOVE': ({ args }) => onFile(args.name, (files) => files.remove(args)),
  'NFS3 READ': ({ args, note }) => onFile(args.name, (files) => files.read(args, note)),
  'NFS3 WRITE': ({ args, body, note }) =>
    onFile(args.name, (files) => files.write({ ...args, bytes: body }, note)),
  'NFS3 COMMIT': ({ args, note }) => onFile(args.name, (files) => files.commit(args, note)),
})

answerControl(port, {
  configure: async ({ period, configuration }: Setup<FrontEndConfiguration>) => {
    const dataNode = dataNodes.replicas(configuration.dataNodes)
    const files = new FileService({ metadataServer, dataNode, configuration })
    volumes.set(period, { files, locks: new LockTable() })
  },
  collect: collectSpans(spans),
})
