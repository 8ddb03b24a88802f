import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { around, chains, makeGraphs } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

const FORMS = {
  hit: ['GET', 'HIT', 'DONE'],
  peer: ['GET', 'MISS', 'PEER', 'DONE'],
  disk: ['GET', 'MISS', 'FETCH', 'SEEK', 'DONE'],
  tape: ['GET', 'MISS', 'FETCH', 'MOUNT', 'WIND', 'DONE'],
}
type Form = keyof typeof FORMS
const TIMES: Record<Form, number> = { hit: 40, peer: 300, disk: 900, tape: 5000 }

function period(counts: Partial<Record<Form, number>>) {
  return makeGraphs(
    (Object.keys(FORMS) as Form[]).flatMap((form) =>
      chains(FORMS[form], around(TIMES[form], counts[form] ?? 0)),
    ),
  )
}

function structures(comparison: ReturnType<typeof compare>) {
  return comparison.findings.findings.filter(({ kind }) => kind === 'structure')
}

function expectOwnInterval(comparison: ReturnType<typeof compare>) {
  for (const { contributionUs, requests, eachInterval } of structures(comparison)) {
    // Another finding may hold a part of it: the interval is of what the finding has by itself.
    expect((eachInterval[0] + eachInterval[1]) / 2).toBeCloseTo(contributionUs / requests, 6)
  }
}

describe('requests left over from a move', () => {
  test('that chance moves as well are no finding', () => {
    const comparison = compare(
      period({ hit: 1000, peer: 700, disk: 300 }),
      period({ hit: 1003, peer: 500, disk: 497 }),
    )
    expect(structures(comparison).map(({ requests, title }) => ({ requests, title }))).toEqual([
      { requests: 197, title: expect.stringContaining('FETCH instead of PEER') },
    ])
    expectOwnInterval(comparison)
  })

  test('are no finding with another load, whichever way they moved', () => {
    const comparison = compare(
      period({ hit: 3000, peer: 900, disk: 90, tape: 10 }),
      period({ hit: 1502, peer: 298, disk: 45, tape: 155 }),
    )
    expect(structures(comparison).map(({ requests, title }) => ({ requests, title }))).toEqual([
      { requests: 150, title: expect.stringContaining('FETCH instead of PEER') },
    ])
    expectOwnInterval(comparison)
  })

  test('count with the others of a mutation that has several precursors', () => {
    const comparison = compare(
      period({ hit: 300, peer: 300, disk: 300 }),
      period({ hit: 290, peer: 290, disk: 290, tape: 30 }),
    )
    expect(structures(comparison).map(({ requests }) => requests)).toEqual([30])
  })

  test('are told where a user’s threshold is lower', () => {
    const options = { findingsThreshold: 1 } as const
    const [before, after] = [period({ hit: 1000, peer: 700 }), period({ hit: 997, peer: 703 })]
    expect(structures(compare(before, after)).length).toBe(0)
    expect(structures(compare(before, after, options))).toMatchObject([{ requests: 3 }])
    expect(structures(compare(before, after, options))[0]?.p).toBeGreaterThan(0.5)
  })
})

describeWithShared('the recorded case leftover-moves', () => {
  test('tells requests that go to disk, and no move of two', async () => {
    const load = (name: string) =>
      loadTraces(sharedFile(`cases/papers/leftover-moves/${name}.dot.gz`) as string, { name })
    const found = structures(compare(await load('before'), await load('after'), { counts: 'raw' }))
    // With its consequences, the one of fewer requests adds more.
    expect(found.map(({ requests }) => requests)).toEqual([210, 328])
    expect(found.map(({ title }) => title)).toEqual([
      'READ_CALL DEFAULT: requests now also go to e2__t',
      'READ_CALL DEFAULT: requests now do DISK DEFAULT instead of MEM DEFAULT',
    ])
  })
})
