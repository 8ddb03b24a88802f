import { expect, test } from 'vitest'
import type { Measured } from '../../../src/compare/segments/measured.ts'
import { isOfNumbers } from '../../../src/compare/segments/mistaken-conditions.ts'
import type { RequestColumn } from '../../../src/compare/segments/request-columns.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record } from '../../worlds.ts'

/** Requests of `web` that ask `store` twice, for a page and its titles, each time one of six pods. */
function podPeriod(seed: number, podOf: (pod: number) => string, moreUs: (pod: number) => number) {
  return record({ seed, requests: 500, everyUs: 1e5 }, (r) => {
    const asked = ['page', 'titles'].map((operation) => {
      const pod = r.integer(6)
      const us = r.about(6000, 0.3) + moreUs(pod)
      return call(`store ${operation}`, us, { host: podOf(pod), client: { us: [0, 0] } })
    })
    return call('web GET /', 2000, {}, asked)
  })
}

test('a slow pod is told by the calls that it serves, the first of a request or another', () => {
  const name = (pod: number) => `pod-${pod}`
  const comparison = compare(
    podPeriod(11, name, () => 0),
    podPeriod(12, name, (pod) => (pod === 2 ? 20_000 : 0)),
  )
  const [finding, ...others] = comparison.findings.findings
  expect(others).toEqual([])
  expect(finding?.title).toMatch(
    /^store: its work takes (19|20)(\.\d+)? ms longer per call, only where store host = pod-2$/,
  )
  const { inside, outside, within } = finding?.segment ?? {}
  expect([within, (inside?.after ?? 0) + (outside?.after ?? 0)]).toEqual(['', 1000])
  // Of 500 requests, 1 - (5 / 6)² have one of their two calls there: 153.
  const first = comparison.after.where('store host = pod-2').size
  expect(finding?.requests).toBeGreaterThan(1.5 * first)
  expect(finding?.requests).toBe(
    new Set(finding?.segment?.requests.filter((one) => one >= 500)).size,
  )
  const eachUs = (finding?.contributionUs ?? 0) / (inside?.after ?? 0)
  expect(eachUs).toBeGreaterThan(19_000)
  expect(eachUs).toBeLessThan(21_000)
})

test('a pod that is slow in both periods is no change where its name moved; one that became slow is', () => {
  const slow = (pod: number) => (pod === 2 ? 20_000 : 0)
  const restarted = (run: string) => (pod: number) => `${run}-${pod}`
  const node = (first: number) => (pod: number) => `node-${(pod + first) % 8}`
  for (const [before, after] of [
    [restarted('a'), restarted('b')],
    [node(0), node(3)],
  ] as const) {
    const named = (usual: typeof slow) =>
      compare(podPeriod(13, before, usual), podPeriod(14, after, slow)).segments.segments.map(
        ({ text }) => text,
      )
    expect(named(slow)).toEqual([])
    expect(named(() => 0)).toEqual([`store host = ${after(2)}`])
  }
})

/** Requests of `home` to `recs`, which it gives up after a while, and says so. */
function fallbacks(seed: number, deadlineUs: number) {
  return record({ seed, requests: 600, everyUs: 1e5 }, (r) => {
    const us = r.about(20_000, 0.4)
    const fails = us > deadlineUs
    const attributes = { 'recs.source': fails ? 'popular' : 'model' }
    const client = { us: [0, Math.min(0, deadlineUs - us)], fails } as const
    return call('home GET /', 2000, { attributes }, [call('recs Rank', us, { client })])
  })
}

test('what is recorded where a call was given up is no condition of how long it takes', () => {
  const comparison = compare(fallbacks(15, 1e6), fallbacks(16, 28_000))
  expect(comparison.segments.segments.filter(({ measure }) => measure === 'time')).toEqual([])
  expect(comparison.findings.findings[0]?.title).toMatch(/^home → recs: Rank fails/)
})

/** Bookings of four carriers, one of which refuses half of them after; those refused have no answer. */
function bookings(seed: number, isAfter: boolean) {
  return record({ seed, requests: 400, everyUs: 1e5 }, (r) => {
    const [carrier, size] = [r.pick(['K', 'L', 'M', 'X']), 2000 + r.integer(1000)]
    const fails = r.is(carrier === 'X' ? 0.5 : 0.01) && isAfter
    const answered = fails ? {} : { 'http.response.body.size': size }
    const attributes = { 'booking.carrier': carrier, ...answered }
    return call('shop POST /', 1000, { fails, attributes }, [
      call('tickets Issue', 8000, { fails }),
    ])
  })
}

test('what requests that fail no longer answer is no condition of those that fail', () => {
  for (const seed of [31, 33, 35]) {
    const { findings } = compare(bookings(seed, false), bookings(seed + 1, true)).findings
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^tickets: Issue fails in .*, only where booking.carrier = X$/),
    ])
  }
})

/** Requests to four pods of `fares`, which look in a cache first; one of them may take longer. */
function quotes(seed: number, moreUs: number) {
  return record({ seed, requests: 800, everyUs: 5e5 }, (r) => {
    const [pod, isHit] = [r.integer(4), r.is(0.8)]
    const us = r.about(isHit ? 4000 : 150_000, 0.15) + (pod === 2 ? moreUs : 0)
    const own = { host: `node-${pod}`, attributes: { 'cache.hit': isHit } }
    return call('web GET /', 2000, {}, [call('fares Quote', us, own)])
  })
}

test('where all of a pod became slow, no second condition leaves out what always took long', () => {
  for (const seed of [41, 43, 45]) {
    const { segments } = compare(quotes(seed, 0), quotes(seed + 1, 20_000)).segments
    expect(segments.map(({ text }) => text)).toEqual(['fares host = node-2'])
  }
})

/** Requests of `shop` for pages that `store` makes in a time by their size, which `sizeOf` tells. */
function pages(seed: number, sizeOf: (usual: number, at: number) => number) {
  return record({ seed, requests: 600, everyUs: 1e5 }, (r) => {
    const size = Math.round(sizeOf(r.about(180, 0.3), r.part))
    const page = { attributes: { 'body.size': size } }
    return call('shop GET /', 3000, {}, [call('store page', 60 * size + r.about(4000, 0.3), page)])
  })
}

const grown = (usual: number, at: number) => usual * (1 + 4.4 * at)

test('a number that grows in all requests is no condition of those that changed the most', () => {
  const { segments, findings } = compare(
    pages(27, (usual) => usual),
    pages(28, grown),
  )
  expect(segments.segments).toEqual([])
  expect(findings.findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^store: page itself takes \d+(\.\d+)? ms longer$/),
  ])
})

test('a measure is not divided by its own amounts', () => {
  const large = (usual: number, at: number) => ((at * 600) % 9 < 1 ? 6 * usual : usual)
  const { segments } = compare(
    pages(19, (usual) => usual),
    pages(20, large),
    { measure: 'body.size in kB' },
  )
  expect(segments.segments.map(({ text }) => text)).toEqual([])
})

/** Requests of `shop` with a fast call `GET`, of which one in eight makes a slow one, too, that says its method. */
function methods(seed: number, attribute: string) {
  return record({ seed, requests: 400, everyUs: 1e5 }, (r) => {
    const sent = { attributes: { [attribute]: 'GET' } }
    const other = r.is(1 / 8) ? call('shop GET', r.about(40_000), sent) : call('shop GET', 500)
    return call('shop home', 0, {}, [call('shop GET', r.about(1000)), other])
  })
}

test('an attribute of slow calls that is called otherwise after is no condition', () => {
  const { segments } = compare(methods(21, 'http.method'), methods(22, 'http.request.method'))
  expect(segments.segments).toEqual([])
})

test('whether more requests than before meet a condition is told of what they count as', () => {
  // Of `list`, one of ten was recorded; of `buy`, all, which meet a long queue five times as often.
  const met = [...spread(20, 4), ...spread(20, 4), ...spread(20, 1), ...spread(20, 5)]
  const rows = {
    measure: 'time',
    strata: ['list', 'buy'].map((operation) => ({ operation, callingOperation: '' })),
    offsets: Uint32Array.of(0, 20, 40, 60, 80),
  }
  const isOf = (weightOfList: number) => {
    const weights = Float64Array.from(met, (_, row) => (row < 40 ? weightOfList : 1))
    const measured = { ...rows, recorded: { ...rows, weights } } as unknown as Measured
    const column = { attribute: 'queue.length', kind: 'values', values: ['', '', '0', '1', '2'] }
    const condition = { column: column as unknown as RequestColumn, codes: new Set([3, 4]) }
    const candidate = { conditions: [condition], stratum: null, z: 9, score: 81, choices: 1 }
    return isOfNumbers({ candidate, isInside: Uint8Array.from(met) }, { measured, columns: [] })
  }
  expect([isOf(1), isOf(0.1), isOf(10)]).toEqual([false, true, false])
})

function spread(size: number, met: number): number[] {
  return Array.from({ length: size }, (_, row) => Number(row < met))
}
