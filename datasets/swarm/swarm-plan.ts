import { type Random, seededRandom } from '../storage-service/random.ts'
import { LOG_CLASSES, type LogClass } from '../storage-service-logs/log-lines.ts'

/** What one peer is set up like. */
export interface PeerPlan {
  readonly name: string
  readonly seeder: boolean
  /** Shared by several peers, which then differ by port only. */
  readonly address: string
  /** Places in the swarm's list of the peers to connect to, in this order. */
  readonly toConnect: readonly number[]
  /** The peer's own timer before it says its port is mapped. Differs, and does nothing. */
  readonly portMappedMs: number
  /** Entries of a table that is counted and never used. Differs, and does nothing. */
  readonly tableNodes: number
}

export interface SwarmPlan {
  readonly logClass: LogClass
  readonly peers: readonly PeerPlan[]
}

export interface SwarmOptions {
  readonly seed: number
  /** Swarms of each class; they take turns in pairs, a coin says which class is first. */
  readonly perClass: number
  readonly downloaders: number
}

interface Range {
  readonly from: number
  readonly to: number
}

/** Has no effect on the download; the planted change is in `PeerSet`. */
const DISTRACTORS: Readonly<Record<LogClass, Readonly<Record<'mapped' | 'table', Range>>>> = {
  good: { mapped: { from: 200, to: 300 }, table: { from: 40, to: 60 } },
  bad: { mapped: { from: 450, to: 650 }, table: { from: 160, to: 220 } },
}
const SEEDERS = 2
/** Addresses that downloaders share; seeders have one each, after these. */
const SHARED_ADDRESSES = 6
/** Peers that the tracker names to a downloader, beside one seeder. */
const NAMED: Range = { from: 1, to: 6 }

/** Plans the swarms: who is behind which address, and whom the tracker names to whom. */
export function planSwarms({ seed, perClass, downloaders }: SwarmOptions): SwarmPlan[] {
  const coin = seededRandom(`${seed}/order`)
  const classes = Array.from({ length: perClass }, () =>
    coin.next() < 0.5 ? LOG_CLASSES : LOG_CLASSES.toReversed(),
  ).flat()
  return classes.map((logClass, swarm) => {
    const random = seededRandom(`${seed}/swarm-${swarm}`)
    const pairs = pairsOfDownloaders(random, downloaders)
    const distractors = DISTRACTORS[logClass]
    const peers = Array.from({ length: SEEDERS + downloaders }, (_, place): PeerPlan => {
      const seeder = place < SEEDERS
      const downloader = place - SEEDERS
      const first = swarm * downloaders + 1
      return {
        name: seeder ? `seeder${place + 1}` : `peer${String(first + downloader).padStart(3, '0')}`,
        seeder,
        address: loopback(seeder ? SHARED_ADDRESSES + place : downloader % SHARED_ADDRESSES),
        toConnect: seeder
          ? []
          : [place % SEEDERS, ...(pairs[downloader] ?? []).map((other) => SEEDERS + other)],
        portMappedMs: uniform(random, distractors.mapped),
        tableNodes: Math.round(uniform(random, distractors.table)),
      }
    })
    return { logClass, peers }
  })
}

/**
 * Whom each downloader connects to: the tracker names some others to each, and a coin says which
 * of the two connects, so that no two ever connect to each other at once.
 */
function pairsOfDownloaders(random: Random, downloaders: number): number[][] {
  const known = Array.from({ length: downloaders }, () => new Set<number>())
  const toConnect = Array.from({ length: downloaders }, (): number[] => [])
  for (const [asking, knows] of known.entries()) {
    const others = Array.from({ length: downloaders }, (_, i) => i).filter((i) => i !== asking)
    const named = Math.round(uniform(random, NAMED))
    for (let i = 0; i < named && others.length > 0; i++) {
      const [other = asking] = others.splice(random.below(others.length), 1)
      if (knows.has(other)) continue
      knows.add(other)
      known[other]?.add(asking)
      const [from, to] = random.next() < 0.5 ? [asking, other] : [other, asking]
      toConnect[from]?.push(to)
    }
  }
  return toConnect
}

/** All of 127.0.0.0/8 is this machine, on Linux without further ado. */
const loopback = (number: number) => `127.0.0.${number + 1}`

function uniform(random: Random, { from, to }: Range): number {
  return from + random.next() * (to - from)
}
