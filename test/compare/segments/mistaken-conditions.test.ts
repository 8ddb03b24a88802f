import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import type { Measured } from '../../../src/compare/segments/measured.ts'
import { isOfNumbers } from '../../../src/compare/segments/mistaken-conditions.ts'
import type { RequestColumn } from '../../../src/compare/segments/request-columns.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** Requests of `web` that ask `store` twice, for a page and its titles, each time one of six pods. */
function podPeriod(seed: number, podOf: (pod: number) => string, moreUs: (pod: number) => number) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 500; i++) {
    const [trace, startUs] = [`${seed}-${i}`, 100_000 * i]
    let at = startUs + 1000
    const asked = ['page', 'titles'].flatMap((operation): SpanSketch[] => {
      const pod = random.integer(6)
      const from = at
      at += Math.round(6000 * random.logNormal(0, 0.3) + moreUs(pod))
      const times = { trace, operation, startUs: from, endUs: at }
      return [
        { ...times, id: `c-${operation}`, parent: 'r', service: 'web' },
        { ...times, id: operation, parent: `c-${operation}`, service: 'store', host: podOf(pod) },
      ]
    })
    const root = { trace, id: 'r', service: 'web', operation: 'GET /', startUs, endUs: at + 1000 }
    spans.push(root, ...asked)
  }
  return makeSpans(spans)
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
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 600; i++) {
    const [trace, startUs] = [`${seed}-${i}`, 100_000 * i]
    const us = Math.round(20_000 * random.logNormal(0, 0.4))
    const isLate = us > deadlineUs
    const waited = startUs + 1000 + Math.min(us, deadlineUs)
    const attributes = { 'recs.source': isLate ? 'popular' : 'model' }
    const called = { trace, operation: 'Rank', startUs: startUs + 1000 }
    const status = isLate ? 'error' : 'ok'
    spans.push(
      {
        ...{ trace, id: 'r', service: 'home', operation: 'GET /', attributes },
        ...{ startUs, endUs: waited + 1000 },
      },
      { ...called, id: 'c', parent: 'r', service: 'home', endUs: waited, status },
      { ...called, id: 's', parent: 'c', service: 'recs', endUs: startUs + 1000 + us },
    )
  }
  return makeSpans(spans)
}

test('what is recorded where a call was given up is no condition of how long it takes', () => {
  const comparison = compare(fallbacks(15, 1e6), fallbacks(16, 28_000))
  expect(comparison.segments.segments.filter(({ measure }) => measure === 'time')).toEqual([])
  expect(comparison.findings.findings[0]?.title).toMatch(/^home → recs: Rank fails/)
})

/** Bookings of four carriers, one of which refuses half of them after; those refused have no answer. */
function bookings(seed: number, isAfter: boolean) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 400; i++) {
    const [trace, startUs, carrier] = [
      `${seed}-${i}`,
      100_000 * i,
      'KLMX'.charAt(random.integer(4)),
    ]
    const [size, chance] = [2000 + random.integer(1000), random.next()]
    const isRefused = isAfter && chance < (carrier === 'X' ? 0.5 : 0.01)
    const how = { trace, startUs, status: isRefused ? 'error' : 'ok' } as const
    const answered = isRefused ? {} : { 'http.response.body.size': size }
    const attributes = { 'booking.carrier': carrier, ...answered }
    const root = { ...how, id: 'r', service: 'shop', operation: 'POST /', attributes }
    const tickets = { ...how, id: 's', parent: 'r', service: 'tickets', operation: 'Issue' }
    spans.push({ ...root, endUs: startUs + 9000 }, { ...tickets, endUs: startUs + 8000 })
  }
  return makeSpans(spans)
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
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 800; i++) {
    const [trace, startUs, pod] = [`${seed}-${i}`, 500_000 * i, random.integer(4)]
    const isHit = random.next() < 0.8
    const usual = Math.round((isHit ? 4000 : 150_000) * random.logNormal(0, 0.15))
    const endUs = startUs + 1000 + usual + (pod === 2 ? moreUs : 0)
    const root = { trace, id: 'r', service: 'web', operation: 'GET /', startUs }
    const own = { host: `node-${pod}`, attributes: { 'cache.hit': isHit } }
    const quote = { trace, id: 's', parent: 'r', service: 'fares', operation: 'Quote', ...own }
    spans.push({ ...root, endUs: endUs + 1000 }, { ...quote, startUs: startUs + 1000, endUs })
  }
  return makeSpans(spans)
}

test('where all of a pod became slow, no second condition leaves out what always took long', () => {
  for (const seed of [41, 43, 45]) {
    const { segments } = compare(quotes(seed, 0), quotes(seed + 1, 20_000)).segments
    expect(segments.map(({ text }) => text)).toEqual(['fares host = node-2'])
  }
})

/** Requests of `shop` for pages that `store` makes in a time by their size, which `sizeOf` tells. */
function pages(seed: number, sizeOf: (usual: number, at: number) => number) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 600; i++) {
    const [trace, startUs] = [`${seed}-${i}`, 100_000 * i]
    const size = Math.round(sizeOf(180 * random.logNormal(0, 0.3), i / 600))
    const us = Math.round(60 * size + 4000 * random.logNormal(0, 0.3))
    const own = { trace, operation: 'page', attributes: { 'body.size': size } }
    spans.push(
      { trace, id: 'r', service: 'shop', operation: 'GET /', startUs, endUs: startUs + us + 2000 },
      {
        ...own,
        id: 's',
        parent: 'r',
        service: 'store',
        startUs: startUs + 1000,
        endUs: startUs + us,
      },
    )
  }
  return makeSpans(spans)
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
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 400; i++) {
    const [trace, startUs] = [`${seed}-${i}`, 100_000 * i]
    const [cached, sent] = [1000, 40_000].map((us) => Math.round(us * random.logNormal(0, 0.2)))
    const middle = startUs + (cached as number)
    const isSlow = random.next() < 1 / 8
    const endUs = middle + (isSlow ? (sent as number) : 500)
    const own = { trace, parent: 'r', service: 'shop', operation: 'GET' }
    spans.push(
      { trace, id: 'r', service: 'shop', operation: 'home', startUs, endUs },
      { ...own, id: 'a', startUs, endUs: middle },
      { ...own, id: 'b', startUs: middle, endUs, attributes: isSlow ? { [attribute]: 'GET' } : {} },
    )
  }
  return makeSpans(spans)
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
