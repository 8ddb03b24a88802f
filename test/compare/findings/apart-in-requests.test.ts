import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(seed)
  const around = (us: number) => random.logNormal(Math.log(us), 0.2)
  const request = (name: string, number: number, inner: readonly (readonly [string, number])[]) => {
    const own = { trace: `${seed} ${name} ${number}`, service: 'store' }
    const startUs = seed * 1e9 + number * 1e6 + (name === 'scan' ? 0 : 4e5)
    let nowUs = startUs + around(5000) + (name === 'scan' ? scanUs : 0)
    const called = inner.map(([operation, us], i): SpanSketch => {
      const id = `${own.trace} ${i}`
      const began = nowUs
      nowUs += around(us)
      const times = { startUs: began, endUs: nowUs }
      return { ...own, id, parent: own.trace, service: 'disk', operation, ...times }
    })
    const root = { ...own, id: own.trace, parent: null, operation: name, startUs }
    return [{ ...root, endUs: nowUs + 100 }, ...called]
  }
  const scans = Array.from({ length: 300 }, (_, i) =>
    request('scan', i, random.next() < reads ? [['READ', 1000]] : []),
  )
  const writes = Array.from({ length: 300 }, (_, i) =>
    request('write', i, random.next() < stalls ? [['STALL', 20_000]] : []),
  )
  const compactions = Array.from({ length: 60 }, (_, i) =>
    request('compact', 5 * i, Array(compactReads).fill(['READ', 10_000] as const)),
  )
  return makeSpans([...scans, ...writes, ...compactions].flat())
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
