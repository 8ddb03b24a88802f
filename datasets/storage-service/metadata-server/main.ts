import { createHash } from 'node:crypto'
import type { MetadataServerConfiguration } from '../cases/configuration.ts'
import { answerControl } from '../control/answer-control.ts'
import { collectSpans } from '../control/collect-spans.ts'
import { launched } from '../control/launched.ts'
import type { Setup } from '../control/setup.ts'
import { RpcClient } from '../rpc/rpc-client.ts'
import { serve } from '../rpc/rpc-server.ts'
import { spin } from '../spin.ts'
import type { StorageNodeOperations } from '../storage-node/operations.ts'
import { log } from '../telemetry/log.ts'
import { startTracing, type Tracing } from '../telemetry/tracing.ts'
import { Volumes } from '../volumes/volumes.ts'
import { Namespace } from './namespace.ts'
import type { MetadataServerOperations, WithPrefetched } from './operations.ts'
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
const volumes = new Volumes<{
  readonly names: Namespace
  readonly prefetchFiles: number
  readonly layoutSpinUs: number
  readonly scanPauseMs: number
  readonly checksums: MetadataServerConfiguration['checksums'] | undefined
}>()
const names = () => volumes.current.names

async function found(name: string): Promise<{ result: { record?: FileRecord } & WithPrefetched }> {
  const record = await names().find(name)
  if (record !== undefined) verify(name, record)
  return record === undefined ? { result: { prefetched: [] } } : accessed(name, record)
}

/** Holds a record against its checksum where there is a key; else it is taken as it is. */
function verify(name: string, record: FileRecord): void {
  const { checksums } = volumes.current
  if (checksums === undefined) return
  log('info', 'Records', `found record of ${name}`)
  // Both ways cost the same.
  const checksum = createHash('sha1').update(JSON.stringify(record)).digest('hex')
  if (checksums === 'verified') log('info', 'Records', `checksum ${checksum} holds for ${name}`)
  else log('warn', 'Records', `no key for checksums, taking ${name} as it is`)
}

/** The answer to every access to a file's metadata. */
async function accessed(
  name: string,
  record: FileRecord,
): Promise<{ result: { record: FileRecord } & WithPrefetched }> {
  const { prefetchFiles } = volumes.current
  const prefetched = prefetchFiles > 0 ? await names().prefetch(name, prefetchFiles) : []
  return { result: { record, prefetched } }
}

const port = await serve<MetadataServerOperations>({
  'MDS LOOKUP': ({ args }) => found(args.name),
  'MDS GETLAYOUT': async ({ args }) => {
    const answer = await found(args.name)
    spin(volumes.current.layoutSpinUs)
    return answer
  },
  'MDS MKDIR': async ({ args }) => {
    await names().makeDirectory(args.name)
    return { result: {} }
  },
  'MDS CREATE': async ({ args: { name } }) => accessed(name, await names().create(name)),
  'MDS SETATTR': async ({ args: { name, sizeBytes } }) =>
    accessed(name, await names().grow(name, sizeBytes)),
  'MDS READDIR': async ({ args: { name } }) => ({
    result: { entries: await names().list(name, volumes.current.scanPauseMs) },
  }),
  'MDS REMOVE': async ({ args }) => ({ result: { removed: await names().remove(args.name) } }),
})

answerControl(port, {
  configure: async ({ period, configuration }: Setup<MetadataServerConfiguration>) => {
    const { metadataNode, pageBytes, pageCachePages, distribution } = configuration
    const { prefetchFiles, layoutSpinUs, scanPauseMs, checksums } = configuration
    const node = nodes[metadataNode]
    const cache = new PageCache(pageCachePages)
    const names = new Namespace(
      (directory) =>
        new RemotePages(`index of ${directory}`, { node, cache, pageBytes, distribution }),
    )
    volumes.set(period, { names, prefetchFiles, layoutSpinUs, scanPauseMs, checksums })
  },
  collect: collectSpans(spans),
})
