import type { Attributes } from '@opentelemetry/api'
import type { FrontEndConfiguration } from '../cases/configuration.ts'
import type { MetadataServerOperations, WithPrefetched } from '../metadata-server/operations.ts'
import type { FileRecord } from '../metadata-server/page.ts'
import type { RpcClient } from '../rpc/rpc-client.ts'
import type { Reply } from '../rpc/rpc-server.ts'
import { AttributeCache } from './attribute-cache.ts'
import type { DataNode } from './data-nodes.ts'
import { FileData } from './file-data.ts'

type Note = (attributes: Attributes) => void
type Named = { readonly name: string }

/** What each procedure of the front end does: who is asked, and what is kept. */
export class FileService {
  readonly #metadataServer: RpcClient<MetadataServerOperations>
  readonly #data: FileData
  readonly #attributes: AttributeCache

  constructor({
    metadataServer,
    dataNode,
    configuration,
  }: {
    metadataServer: RpcClient<MetadataServerOperations>
    dataNode: DataNode
    configuration: FrontEndConfiguration
  }) {
    this.#metadataServer = metadataServer
    this.#data = new FileData(dataNode, configuration)
    this.#attributes = new AttributeCache(configuration.attributeCacheFiles)
  }

  async getattr({ name }: Named, note: Note): Promise<Reply<{ record: FileRecord }>> {
    const cached = this.#attributes.get(name)
    note({ 'attributes.cached': cached !== undefined })
    return cached === undefined ? this.lookup({ name }) : { result: { record: cached } }
  }

  async lookup({ name }: Named): Promise<Reply<{ record: FileRecord }>> {
    const { result } = await this.#metadataServer.call('MDS LOOKUP', { name })
    return { result: { record: this.#found(name, result) } }
  }

  async list({ name }: Named, note: Note): Promise<Reply<{ entries: number }>> {
    const { result } = await this.#metadataServer.call('MDS READDIR', { name })
    note({ entries: result.entries })
    return { result }
  }

  async mkdir({ name }: Named): Promise<Reply<object>> {
    await this.#metadataServer.call('MDS MKDIR', { name })
    return { result: {} }
  }

  async create({ name }: Named): Promise<Reply<{ record: FileRecord }>> {
    const { result } = await this.#metadataServer.call('MDS CREATE', { name })
    return { result: { record: this.#found(name, result) } }
  }

  async remove({ name }: Named): Promise<Reply<object>> {
    this.#attributes.drop(name)
    await this.#data.remove(name)
    await this.#metadataServer.call('MDS REMOVE', { name })
    return { result: {} }
  }

  async read(
    { name, offset, count }: Named & { offset: number; count: number },
    note: Note,
  ): Promise<Reply<object>> {
    note({ offset, count })
    const { sizeBytes } = await this.#layout(name, note)
    const within = Math.max(0, Math.min(count, sizeBytes - offset))
    return { result: {}, body: await this.#data.read(name, offset, within) }
  }

  async write(
    { name, offset, bytes, stable }: Named & { offset: number; bytes: Buffer; stable: boolean },
    note: Note,
  ): Promise<Reply<object>> {
    note({ offset, count: bytes.length, stable })
    const { sizeBytes } = await this.#layout(name, note)
    await this.#data.write(name, { offset, bytes, stable, sizeBytes })
    const end = offset + bytes.length
    if (end > sizeBytes) {
      const grown = { name, sizeBytes: end }
      const { result } = await this.#metadataServer.call('MDS SETATTR', grown)
      this.#found(name, result)
    }
    return { result: {} }
  }

  async commit({ name }: Named, note: Note): Promise<Reply<object>> {
    note({ 'cache.written_back': await this.#data.commit(name) })
    return { result: {} }
  }

  /** What has to be known of a file before its data can be reached. */
  async #layout(name: string, note: Note): Promise<FileRecord> {
    const cached = this.#attributes.get(name)
    note({ 'attributes.cached': cached !== undefined })
    if (cached !== undefined) return cached
    const { result } = await this.#metadataServer.call('MDS GETLAYOUT', { name })
    return this.#found(name, result)
  }

  /** Keeps what the metadata server answered; its own record last, so that it stays longest. */
  #found(
    name: string,
    { record, prefetched }: { readonly record?: FileRecord } & WithPrefetched,
  ): FileRecord {
    for (const other of prefetched) this.#attributes.keepPrefetched(other.name, other.record)
    if (record === undefined) throw new Error(`NFS3ERR_NOENT: ${name} does not exist.`)
    this.#attributes.keep(name, record)
    return record
  }
}
