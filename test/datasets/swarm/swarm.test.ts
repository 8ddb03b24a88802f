import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../../datasets/storage-service/random.ts'
import { PeerSet } from '../../../datasets/swarm/peer/peer-set.ts'
import { Pieces } from '../../../datasets/swarm/peer/pieces.ts'
import { planSwarms } from '../../../datasets/swarm/swarm-plan.ts'
import { truth } from '../../../datasets/swarm/truth.ts'
import { describeLogDataset } from '../storage-service-logs/describe-log-dataset.ts'

describe('swarm', () => {
  describeLogDataset(new URL('../../../datasets/swarm/', import.meta.url), truth, 36)
})

describe('a peer set', () => {
  const first = { address: '127.0.0.1', port: 1 }
  const second = { address: '127.0.0.1', port: 2 }

  test('that knows ports takes two peers behind one address for two', () => {
    const set = new PeerSet('address and port')
    expect([set.add(first), set.add(second), set.add(first)]).toEqual([true, true, false])
  })

  test('that ignores ports takes them for one, until it is gone', () => {
    const set = new PeerSet('address')
    expect([set.add(first), set.add(second)]).toEqual([true, false])
    set.remove(first)
    expect(set.add(second)).toBe(true)
  })
})

describe('pieces', () => {
  test('are asked for once each, the rarest first, of those the neighbour has', () => {
    const pieces = new Pieces(4, false, seededRandom('test'))
    for (const piece of [0, 0, 0, 1, 2, 2, 3]) pieces.seen(piece)
    const neighbour = Uint8Array.of(1, 1, 1, 0)
    const asked = Array.from({ length: 4 }, () => pieces.await(neighbour))
    expect(asked).toEqual([1, 2, 0, undefined])
  })

  test('are complete when all have come', () => {
    const pieces = new Pieces(2, false, seededRandom('test'))
    pieces.received(0)
    expect(pieces.complete).toBe(false)
    pieces.received(1)
    expect([pieces.complete, pieces.count]).toEqual([true, 2])
  })
})

describe('a plan of swarms', () => {
  const plans = planSwarms({ seed: 3, perClass: 2, downloaders: 12 })

  test('is the same for the same seed, and another for another', () => {
    expect(planSwarms({ seed: 3, perClass: 2, downloaders: 12 })).toEqual(plans)
    expect(planSwarms({ seed: 4, perClass: 2, downloaders: 12 })).not.toEqual(plans)
  })

  test('connects every downloader to a seeder first, to nobody twice, and never both ways', () => {
    for (const { peers } of plans) {
      const pairs = peers.flatMap(({ toConnect }, from) =>
        toConnect.map((to) => [from, to].sort((a, b) => a - b).join('-')),
      )
      expect(new Set(pairs).size).toBe(pairs.length)
      for (const { seeder, toConnect } of peers) {
        if (!seeder) expect(peers[toConnect[0] ?? -1]?.seeder).toBe(true)
      }
    }
  })

  test('puts several downloaders behind an address, and nobody behind a seeder’s', () => {
    for (const { peers } of plans) {
      const behind = (address: string) => peers.filter((peer) => peer.address === address).length
      for (const { seeder, address } of peers) expect(behind(address)).toBe(seeder ? 1 : 2)
    }
  })
})
