import { expect, test } from 'vitest'
import type { SegmentSide } from '../../../src/compare/segments/scan-conditions.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { weighedSpans } from '../../make-traces.ts'

interface Request {
  readonly weight: number
  readonly tenant: string
  readonly timeUs: number
  readonly fails: boolean
}

/** After, requests of gold take 3 ms more, and those of iron fail more often. */
function requests(seed: number, isAfter: boolean): Request[] {
  const random = randomSource(seed)
  return Array.from({ length: 1500 }, () => {
    const tenant = ['iron', 'bronze', 'silver', 'gold'][random.integer(4)] as string
    return {
      weight: 1 + random.integer(4),
      tenant,
      timeUs: 5000 + random.integer(2000) + (isAfter && tenant === 'gold' ? 3000 : 0),
      fails: random.next() < (isAfter && tenant === 'iron' ? 0.3 : 0.02),
    }
  })
}

function period(all: readonly Request[], isRepeated: boolean, fromUs: number) {
  const given = { isRepeated, fromUs, everyUs: 1e5 }
  return weighedSpans(all, given, ({ tenant, timeUs, fails }, root) => {
    const status = fails ? ('error' as const) : ('ok' as const)
    return [{ ...root, endUs: root.startUs + timeUs, status, attributes: { tenant } }]
  })
}

test.each([1])('segments tell weights as repetitions (seed %i)', (seed) => {
  const [weighted, repeated] = [false, true].map((isRepeated) =>
    compare(
      period(requests(seed, false), isRepeated, 0),
      period(requests(seed + 50, true), isRepeated, 1e9),
      { counts: isRepeated ? 'raw' : 'weighted' },
    ),
  )
  const side = ({ before, after, beforeMean, afterMean, change }: SegmentSide) =>
    [before, after, beforeMean, afterMean, change].map((each) => Number(each.toFixed(6)))
  const told = (comparison = weighted) =>
    (comparison?.segments.segments ?? []).map((one) => ({
      what: [one.measure, one.text, one.operation, one.direction],
      inside: side(one.inside),
      outside: side(one.outside),
      // What changed outside counts where it is clear: with more requests, sooner.
      share: Number(one.shareOfRequests.toFixed(6)),
    }))
  expect(told()).toEqual(told(repeated))
  expect(told().map(({ what: [, text] }) => text)).toEqual(
    expect.arrayContaining(['tenant = gold', 'tenant = iron']),
  )
  for (const { inside, requests: own } of weighted?.segments.segments ?? []) {
    const { flows } = weighted as NonNullable<typeof weighted>
    const count = own.reduce((sum, request) => sum + flows.countOf(request), 0)
    expect(count).toBe(inside.before + inside.after)
  }
})
