import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataNode, Side } from '../cases/case.ts'
import type { ClientLaunch } from '../client/main.ts'
import type { Batch, Traffic } from '../client/traffic.ts'
import type { Collection } from '../control/collect-spans.ts'
import { ManagedProcess } from '../control/managed-process.ts'
import type { FrontEndLaunch } from '../front-end/main.ts'
import type { MetadataServerLaunch } from '../metadata-server/main.ts'
import type { StorageNodeLaunch } from '../storage-node/main.ts'
import { readClockAnchorNs } from '../telemetry/clock.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import type { Period } from '../volumes/period.ts'
import { scratchDirectory } from './scratch-directory.ts'

export interface ConstellationOptions {
  readonly seed: string
  /** Share of requests traced, 0 to 1. */
  readonly sample: number
  /** The one of the usual service unless given. */
  readonly dataNodes?: readonly DataNode[] | undefined
  /** Whether processes keep logs. Default: false. */
  readonly logs?: boolean | undefined
}

const USUAL_DATA_NODES: readonly DataNode[] = [{ name: 'storage-data', host: 'storage-data-0' }]

/** The processes of one running service, the client that drives it, and the folder they use. */
export class Constellation {
  readonly #options: ConstellationOptions
  readonly #clockAnchorNs = readClockAnchorNs().toString()
  readonly #processes = new Map<string, ManagedProcess>()
  #directory: string | undefined

  constructor(options: ConstellationOptions) {
    this.#options = options
  }

  /** The folder for the storage nodes' files; there until `stop`. */
  get directory(): string {
    if (this.#directory === undefined) throw new Error('The service is not running: start it.')
    return this.#directory
  }

  get pids(): number[] {
    return [...this.#processes.values()].flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  }

  /** Starts every process and waits until all are ready. If one fails, `stop` is still needed. */
  async start(): Promise<void> {
    this.#directory = await mkdtemp(join(scratchDirectory(), 'storage-service-'))
    const meta = await this.#storageNode('storage-meta', {
      name: 'storage-meta',
      host: 'storage-meta-0',
    })
    const dataNodePorts: Record<string, number> = {}
    for (const node of this.#dataNodes) {
      dataNodePorts[node.name] = await this.#storageNode('storage-data', node)
    }
    const data = dataNodePorts[this.#dataNodes[0]?.name ?? ''] ?? meta
    const mds: MetadataServerLaunch = {
      tracing: this.#tracing('mds'),
      storagePorts: { 'storage-meta': meta, 'storage-data': data },
    }
    const metadataServerPort = await this.#launch('mds', 'metadata-server/main.ts', mds)
    const frontEnd: FrontEndLaunch = {
      tracing: this.#tracing('frontend'),
      metadataServerPort,
      dataNodePorts,
    }
    const frontEndPort = await this.#launch('frontend', 'front-end/main.ts', frontEnd)
    const client: ClientLaunch = { frontEndPort }
    await this.#launch('client', 'client/main.ts', client)
  }

  /** Empties the volume of a period and sets it up, the lower layers first. */
  async configure(
    period: Period,
    { storageNodes, metadataServer, frontEnd }: Side['service'],
  ): Promise<void> {
    const configure = (name: string, configuration: object) =>
      this.#process(name).command('configure', { period, configuration })
    const nodes = ['storage-meta', ...this.#dataNodes.map(({ name }) => name)]
    await Promise.all(nodes.map((name) => configure(name, storageNodes)))
    await configure('mds', metadataServer)
    await configure('frontend', frontEnd)
  }

  /** Lets the client bring the files into being that its traffic starts from, untraced. */
  async prepare(traffic: Traffic): Promise<void> {
    await this.#process('client').command('prepare', traffic)
  }

  /** Lets the client send the next requests of its traffic. */
  async send(batch: Batch, onProgress: (requests: number) => void = () => {}): Promise<void> {
    const client = this.#process('client')
    client.onProgress = onProgress
    await client.command('send', batch)
  }

  /** Appends what every process traced since the last time to a file, OTLP JSON lines. */
  async collect(collection: Collection): Promise<void> {
    for (const [name, process] of this.#processes) {
      if (name !== 'client') await process.command('collect', collection)
    }
  }

  /** Ends every process and removes their folder; harmless at any time. */
  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.stop()))
    this.#processes.clear()
    if (this.#directory !== undefined) await rm(this.#directory, { recursive: true, force: true })
    this.#directory = undefined
  }

  get #dataNodes(): readonly DataNode[] {
    return this.#options.dataNodes ?? USUAL_DATA_NODES
  }

  async #storageNode(
    service: string,
    { name, host, version, largeReads }: DataNode,
  ): Promise<number> {
    const directory = join(this.directory, name)
    await mkdir(directory)
    const launch: StorageNodeLaunch = {
      tracing: { ...this.#tracing(service, host, name), ...(version && { version }) },
      directory,
      ...(largeReads && { largeReads }),
    }
    return this.#launch(name, 'storage-node/main.ts', launch)
  }

  #launch(name: string, entry: string, launch: object): Promise<number> {
    const started = new ManagedProcess(name, entry, launch)
    this.#processes.set(name, started)
    return started.ready()
  }

  /** Ids of spans differ from process to process. */
  #tracing(service: string, host = `${service}-0`, process = service): Tracing {
    const { sample, logs = false } = this.#options
    const seed = `${this.#options.seed}/${process}`
    return { service, host, seed, sample, logs, clockAnchorNs: this.#clockAnchorNs }
  }

  #process(name: string): ManagedProcess {
    const process = this.#processes.get(name)
    if (process === undefined) throw new Error(`The service has no process ${name}: start it.`)
    return process
  }
}
