import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { call, record } from '../../worlds.ts'

const NODES = ['node-1', 'node-2', 'node-3']

interface Cluster {
  /** By how much longer an instance appends what another sends it, in µs. */
  readonly appendUs?: (host: string) => number
  /** Whether a write ends when one of them has appended it. */
  readonly waitsForOne?: boolean
  /** By how much longer per call is under way, in µs. */
  readonly transitUs?: (from: string, to: string) => number
}

/** 500 writes: an instance of `store` leads each, and waits until the others appended it. */
function writes(
  seed: number,
  { appendUs = () => 0, transitUs = () => 0, waitsForOne = false }: Cluster = {},
) {
  return record({ seed, requests: 500, everyUs: 5e5, fromUs: seed * 1e9 }, (r) => {
    const around = (us: number) => r.about(us, 0.25)
    const leader = NODES[r.index % NODES.length]!
    const sent = NODES.filter((host) => host !== leader).map((host) => {
      const us = [around(400) + transitUs(leader, host), around(400)] as const
      return { host, us, ownUs: around(1500) + appendUs(host) }
    })
    sent.sort((a, b) => a.us[0] + a.us[1] + a.ownUs - (b.us[0] + b.us[1] + b.ownUs))
    const appends = sent.map(({ host, us, ownUs }, i) => {
      const how = { beside: i > 0, isAsync: i > 0 && waitsForOne }
      return call('store append', ownUs, {
        host,
        ...how,
        kind: 'server',
        client: { us, host: leader },
      })
    })
    return call('store put', [around(1000), around(300)], { host: leader, kind: 'server' }, appends)
  })
}

describe('instances of one service that call each other', () => {
  const slow = compare(writes(1), writes(2, { appendUs: (host) => (host === 'node-2' ? 4000 : 0) }))

  test('what one of them does longer is its own work, not that of those who wait for it', () => {
    const [first, ...others] = slow.findings.findings
    expect(others).toEqual([])
    expect(first?.title).toMatch(
      /^store: append itself takes 4\.\d+ ms longer per call, only where store host = node-2$/,
    )
    // Two of three writes have it follow.
    expect(first?.requests).toBe(333)
  })

  test('a snapshot, which has no kinds of spans, says the same', () => {
    const snapshot = takeSnapshot(slow, { ids: true, latenciesOf: () => true })
    const restored = restoreComparison(JSON.parse(JSON.stringify(snapshot)))
    expect(restored.findings.text()).toBe(slow.findings.text())
  })

  test('a longer way to one of them is told as the way to it', () => {
    const transitUs = (_: string, to: string) => (to === 'node-3' ? 3000 : 0)
    const { findings } = compare(writes(1), writes(2, { transitUs }))
    expect(findings.findings[0]?.title).toMatch(
      /^store → store: append takes (2\.9|3)\d* ms longer per call in transit, only where store host = node-3$/,
    )
  })

  test('costs no more than requests wait for it, whether one run or several are before', () => {
    const runs = [1, 3, 4].map((seed) => writes(seed, { waitsForOne: true }))
    const appendUs = (host: string) => (host === 'node-2' ? 4000 : 0)
    const after = writes(2, { waitsForOne: true, appendUs })
    for (const before of [runs[0]!, runs]) {
      const [first] = compare(before, after).findings.findings
      expect(first?.title).toMatch(/^store: append itself .* where store host = node-2$/)
      // The faster of two answers comes 0.3 ms later where the other hardly ever is the one.
      expect(first?.contributionUs).toBeLessThan(0.15 * 333 * 4000)
    }
  })

  test('nothing is told where nothing changed', () => {
    expect(compare(writes(1), writes(3)).findings.findings).toEqual([])
  })
})

test('a span within one of the same name is work of its service where it is no call', () => {
  const nested = (seed: number, innerUs: number) =>
    record({ seed, everyUs: 5e5, fromUs: seed * 1e9 }, (r) => {
      const inner = call('store sum', r.about(innerUs, 0.25))
      return call('store put', 100, {}, [call('store sum', 100, {}, [inner])])
    })
  const { steps } = compare(nested(1, 1000), nested(2, 2000)).steps
  expect(steps.map(({ kind }) => kind).sort()).toEqual(['request', 'work'])
})
