import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { makeSpans } from '../../make-traces.ts'
import { type Call, call, type Draw, type Period, spansOf } from '../../worlds.ts'

interface Store {
  readonly seed: number
  /** Chance that a scan reads the disk too, 1 ms, and how much longer each scan takes itself, in µs. */
  readonly reads?: number
  readonly scanUs?: number
  /** Chance that a write stalls, 20 ms, and how often a compaction reads the disk, 10 ms each time. */
  readonly stalls?: number
  readonly compactReads?: number
}

/** 300 scans, 300 writes and 60 compactions of one service, each a request of its own. */
function store({ seed, reads = 0.2, scanUs = 0, stalls = 0, compactReads = 4 }: Store) {
  const fromUs = seed * 1e9
  const requests = (name: string, given: Partial<Period>, callsOf: (r: Draw) => (Call | false)[]) =>
    spansOf({ seed: 50 * seed + name.length, fromUs, name: `${seed} ${name}`, ...given }, (r) => {
      const ownUs = r.about(5000) + (name === 'scan' ? scanUs : 0)
      return call(`store ${name}`, [ownUs, 100], {}, callsOf(r))
    })
  return makeSpans([
    ...requests('scan', {}, (r) => [r.is(reads) && call('disk READ', r.about(1000))]),
    ...requests('write', { fromUs: fromUs + 4e5 }, (r) => [
      r.is(stalls) && call('disk STALL', r.about(20_000)),
    ]),
    ...requests('compact', { requests: 60, everyUs: 5e6, fromUs: fromUs + 4e5 }, (r) =>
      Array.from({ length: compactReads }, () => call('disk READ', r.about(10_000))),
    ),
  ])
}

const compared = (after: Partial<Store>) =>
  compare(store({ seed: 1 }), store({ seed: 2, ...after }))

describe('what a service calls otherwise', () => {
  test('in requests that cannot have both is two findings', () => {
    const { findings } = compared({ stalls: 0.6, compactReads: 20 }).findings
    expect(findings.map(({ title }) => title)).toEqual([
      'store: compact calls disk READ 20 times instead of 4',
      expect.stringMatching(
        /^store: write now calls disk STALL in 1[678]\d of 300 calls \(0 of 300 /,
      ),
    ])
    // 20 ms in 60 % of 300 writes, of which the compactions have 60 times 16 times 10 ms.
    expect(findings[1]?.contributionUs).toBeCloseTo(0.6 * 300 * 20_000, -6)
  })

  test('is no reason for what takes longer with the same calls as before', () => {
    const { findings } = compared({ reads: 0.7, scanUs: 15_000 }).findings
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^store: scan itself takes 1[45](\.\d)? ms longer$/),
      expect.stringMatching(/^store: scan calls disk READ in 2\d\d of 300 calls \([56]\d of 300 /),
    ])
    expect(findings.every(({ consequences }) => consequences.length === 0)).toBe(true)
  })
})
