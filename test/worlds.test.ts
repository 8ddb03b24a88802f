import { expect, test } from 'vitest'
import { call, type Draw, record, recordWithSum, requestSpans, spansOf, tries } from './worlds.ts'

const timesOf = (...given: Parameters<typeof requestSpans>) =>
  requestSpans(...given).map(({ service, operation, startUs, endUs, parent }) =>
    [parent?.slice(2) ?? '-', service, operation, startUs, endUs].join(' '),
  )

test('calls follow each other within the own time of their caller', () => {
  const root = call('web GET', 1000, {}, [
    call('stock LOOKUP', 300, {}, [call('db SELECT a', 100)]),
    false,
    call('pay', [50, 0]),
  ])
  expect(timesOf(root, 't', 5000)).toEqual([
    '- web GET 5000 6450',
    '0 stock LOOKUP 5500 5900',
    '1 db SELECT a 5650 5750',
    '0 pay call 5900 5950',
  ])
})

test('calls beside others begin with these; nobody waits for those that are sent off', () => {
  const root = call('web GET', [10, 0], {}, [
    call('a', 100),
    call('b', 300, { beside: true, gapUs: 5 }),
    call('c', 900, { isAsync: true }),
    call('d', 50),
  ])
  expect(timesOf(root, 't', 0)).toEqual([
    '- web GET 0 365',
    '0 a call 10 110',
    '0 b call 15 315',
    '0 c call 315 1215',
    '0 d call 315 365',
  ])
})

test('a call may begin when the one before it ends, whatever else runs', () => {
  const root = call('web', 0, {}, [
    call('cart', 100),
    call('look', 10, { beside: true }),
    call('look', 20, { isNext: true }),
    call('mail', 5),
  ])
  expect(timesOf(root, 't', 0).slice(1)).toEqual([
    '0 cart call 0 100',
    '0 look call 0 10',
    '0 look call 10 30',
    '0 mail call 100 105',
  ])
})

test('a call is made again until it does not fail', () => {
  const calls = (failing: number) => tries(3, (n) => call('pay', 1, { fails: n < failing }))
  expect([0, 1, 2, 3].map((failing) => calls(failing).length)).toEqual([1, 2, 3, 3])
  expect(tries(2, () => call('pay', 1, { client: { us: [0, 0], fails: true } }))).toHaveLength(2)
})

test('the side of a caller is longer than its call, and fails with it', () => {
  const away = call('pay CHARGE', 100, { fails: true, host: 'b', client: { us: [30, 20] } })
  expect(requestSpans(call('web GET', 0, { host: 'a' }, [away]), 't', 0)).toMatchObject([
    { id: 't 0', parent: null, service: 'web', host: 'a', endUs: 150 },
    {
      id: 't 1',
      parent: 't 0',
      service: 'web',
      operation: 'CHARGE',
      kind: 'client',
      status: 'error',
    },
    {
      id: 't 2',
      parent: 't 1',
      service: 'pay',
      host: 'b',
      status: 'error',
      startUs: 30,
      endUs: 130,
    },
  ])
})

test('a period is the same for the same seed, and has the traces that are recorded', () => {
  const request = (r: Draw) =>
    r.is(0.5) && [call(`web ${r.pick(['A', 'B'])}`, r.about(1000)), call('job', 5)]
  const spans = spansOf({ seed: 1, requests: 100, everyUs: 1e5, fromUs: 7 }, request)
  expect(spans).toEqual(spansOf({ seed: 1, requests: 100, everyUs: 1e5, fromUs: 7 }, request))
  expect(spans.length).toBeGreaterThan(70)
  expect(spans.length).toBeLessThan(130)
  expect(new Set(spans.map(({ trace }) => trace)).size).toBe(spans.length)
  expect(spans.every(({ startUs }) => (startUs - 7) % 1e5 === 0)).toBe(true)
  const { traces, totalUs } = recordWithSum({ seed: 2 }, (r) =>
    call('web', 10, {}, [call('a', r.index)]),
  )
  expect([traces.size, totalUs]).toEqual([300, 300 * 10 + (300 * 299) / 2])
  expect(record({ seed: 1 }, request).size).toBeGreaterThan(200)
})

test('a request knows when it comes', () => {
  const seen: number[][] = []
  spansOf({ seed: 1, requests: 4, everyUs: 5e5 }, ({ index, part, seconds }) => {
    seen.push([index, part, seconds])
    return false
  })
  expect(seen).toEqual([
    [0, 0, 0],
    [1, 0.25, 0.5],
    [2, 0.5, 1],
    [3, 0.75, 1.5],
  ])
})
