import { ManagedProcess } from '../storage-service/control/managed-process.ts'
import type { InstanceLog, LogMessage } from '../storage-service-logs/log-lines.ts'
import type { PeerSetup } from './peer/peer.ts'
import type { SwarmPlan } from './swarm-plan.ts'

/** What is downloaded, and how fast. */
export interface Download {
  readonly pieces: number
  readonly pieceBytes: number
  /** Upload limit of each connection. */
  readonly bytesPerSecond: number
}

/** Starts a swarm, lets it download, and resolves to the log of each downloader. */
export async function recordSwarm(
  { logClass, peers }: SwarmPlan,
  { bytesPerSecond, ...file }: Download,
): Promise<InstanceLog[]> {
  const entry = new URL('peer/main.ts', import.meta.url)
  const processes = peers.map(({ name }) => new ManagedProcess(name, entry, {}))
  const commandAll = <Answer>(name: string, payloadOf: (place: number) => unknown) =>
    Promise.all(
      processes.map((process, place) => process.command(name, payloadOf(place))),
    ) as Promise<Answer[]>
  try {
    await Promise.all(processes.map((process) => process.ready()))
    const ports = await commandAll<number>('prepare', (place) => ({
      address: peers[place]?.address,
      ...file,
    }))
    const endpoints = peers.map(({ address }, place) => ({ address, port: ports[place] ?? 0 }))
    const setups = peers.map(({ name, seeder, toConnect, portMappedMs, tableNodes }, place) => ({
      seed: name,
      self: endpoints[place],
      seeder,
      // Seeders run a client without the fault, or some downloads would never end.
      identity: logClass === 'bad' && !seeder ? 'address' : 'address and port',
      toConnect: toConnect.map((other) => endpoints[other]),
      portMappedMs,
      tableNodes,
      bytesPerSecond,
    })) as PeerSetup[]
    const logs = await commandAll<LogMessage[]>('run', (place) => setups[place])
    return peers.flatMap(({ name, seeder }, place) =>
      seeder ? [] : [{ instance: name, messages: logs[place] ?? [] }],
    )
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
  }
}
