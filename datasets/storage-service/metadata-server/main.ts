import type { MetadataServerConfiguration } from '../cases/configuration.ts'
import { answerControl } from '../control/answer-control.ts'
import { collectSpans } from '../control/collect-spans.ts'
import { launched } from '../control/launched.ts'
import { RpcClient } from '../rpc/rpc-client.ts'
import { serve } from '../rpc/rpc-server.ts'
import type { StorageNodeOperations } from '../storage-node/operations.ts'
import { startTracing, type Tracing } from '../telemetry/tracing.ts'
import { Namespace } from './namespace.ts'
import type { MetadataServerOperations } from './operations.ts'
import type { FileRecord } from './page.ts'
import { PageCache } from './page-cache.ts'
import { RemotePages } from './remote-pages.ts'

/** What the metadata server is started with. */
export interface MetadataServerLaunch {
  readonly tracing: Tracing
  readonly storagePorts: { readonly 'storage-meta': number; readonly 'storage-data': number }
}

const { tracing, storagePorts } = launched<MetadataServerLaunch>()
const spans = startTracing(tracing)
const nodes = {
  'storage-meta': new RpcClient<StorageNodeOperations>(
    'storage-meta',
    storagePorts['storage-meta'],
  ),
  'storage-data': new RpcClient<StorageNodeOperations>(
    'storage-data',
    storagePorts['storage-data'],
  ),
}
let formatted: Namespace | undefined

function names(): Namespace {
  if (formatted === undefined)
    throw new Error('The metadata server has no directories: configure it.')
  return formatted
}

async function found(name: string): Promise<{ result: { record?: FileRecord } }> {
  const record = await names().find(name)
  return { result: record === undefined ? {} : { record } }
}

const port = await serve<MetadataServerOperations>({
  'MDS LOOKUP': ({ args }) => found(args.name),
  'MDS GETLAYOUT': ({ args }) => found(args.name),
  'MDS MKDIR': async ({ args }) => {
    await names().makeDirectory(args.name)
    return { result: {} }
  },
  'MDS CREATE': async ({ args }) => ({ result: { record: await names().create(args.name) } }),
  'MDS SETATTR': async ({ args: { name, sizeBytes } }) => ({
    result: { record: await names().grow(name, sizeBytes) },
  }),
  'MDS REMOVE': async ({ args }) => ({ result: { removed: await names().remove(args.name) } }),
})

answerControl(port, {
  configure: async (next: MetadataServerConfiguration) => {
    const { metadataNode, pageBytes, pageCachePages } = next
    const cache = new PageCache(pageCachePages)
    formatted = new Namespace(
      (directory) =>
        new RemotePages(`index of ${directory}`, { node: nodes[metadataNode], cache, pageBytes }),
    )
  },
  collect: collectSpans(spans),
})
