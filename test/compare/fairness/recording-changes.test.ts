import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { type RandomSource, randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

const REQUESTS = 400
/** Of so many comparisons, a few find something by chance, which is told from 0.05 on. */
const BY_CHANCE = 1e-3

interface World {
  readonly seed: number
  /** Whether services record their sides of calls to each other; those to databases always are. */
  readonly clients: boolean
}

/** Requests of a gateway to a shop and, more than half of them, to a stock that asks a cache twice at a time. */
function period({ seed, clients }: World): SpanSketch[] {
  const random = randomSource(seed)
  return Array.from({ length: REQUESTS }, (_, i) => request(i, random, { seed, clients })).flat()
}

function request(i: number, { next }: RandomSource, { seed, clients }: World): SpanSketch[] {
  const startUs = i * 1e6 + Math.floor(1e5 * next())
  const lasting = (us: number) => us * Math.exp(next() - 0.5)
  const spans: SpanSketch[] = []
  const add = (parent: string | null, sketch: Partial<SpanSketch>): string => {
    const id = `${i}-${spans.length}`
    spans.push({ trace: `${seed}-${i}`, id, parent, startUs, endUs: startUs, ...sketch })
    return id
  }
  const end = (id: string, endUs: number) => {
    const at = spans.findIndex((one) => one.id === id)
    spans[at] = { ...spans[at]!, endUs }
    return endUs
  }
  const database = (parent: string, service: string, operation: string, fromUs: number) => {
    const endUs = fromUs + lasting(300)
    add(parent, { service, operation, kind: 'client', startUs: fromUs, endUs })
    return endUs
  }
  const call = (
    parent: string,
    [by, service, operation]: readonly [string, string, string],
    fromUs: number,
    work: (server: string, fromUs: number) => number,
  ) => {
    const client = clients
      ? add(parent, { service: by, operation, kind: 'client', startUs: fromUs })
      : parent
    const arrivedUs = fromUs + lasting(200)
    const server = add(client, { service, operation, kind: 'server', startUs: arrivedUs })
    const doneUs = end(server, work(server, arrivedUs + lasting(400)) + lasting(400))
    const returnedUs = doneUs + lasting(200)
    return clients ? end(client, returnedUs) : returnedUs
  }
  const root = add(null, { service: 'gateway', operation: 'GET /home', kind: 'server' })
  let atUs = startUs + lasting(500)
  if (next() < 0.55) {
    atUs = call(root, ['gateway', 'stock', 'find'], atUs, (stock, fromUs) => {
      const cached = [0, 1].map((at) => database(stock, 'stock', 'GET', fromUs + 20 * at))
      const foundUs = Math.max(...cached)
      return call(stock, ['stock', 'prices', 'list'], foundUs + lasting(200), (prices, fromUs) =>
        next() < 0.5 ? database(prices, 'prices', 'SELECT prices', fromUs) : fromUs + lasting(300),
      )
    })
  }
  atUs = call(root, ['gateway', 'shop', 'offer'], atUs + lasting(100), (shop, fromUs) => {
    const readUs = database(shop, 'shop', 'SELECT items', fromUs)
    return next() < 0.4 ? database(shop, 'shop', 'UPDATE items', readUs + lasting(100)) : readUs
  })
  end(root, atUs + lasting(500))
  return spans
}

type Change = (spans: readonly SpanSketch[], random: RandomSource) => readonly SpanSketch[]

/** Leaves out spans; what they called stands apart. */
const without =
  (is: (span: SpanSketch, random: RandomSource) => boolean): Change =>
  (spans, random) =>
    spans.filter((span) => !is(span, random))

/** Leaves out spans; what they called is called by their caller. */
const passing =
  (is: (span: SpanSketch) => boolean): Change =>
  (spans) => {
    const parents = new Map(spans.filter(is).map(({ id, parent }) => [id, parent]))
    return spans.flatMap((span) => {
      const parent = parents.get(span.parent ?? '')
      if (parents.has(span.id)) return []
      return parent === undefined ? [span] : [{ ...span, parent }]
    })
  }

const proxy: Change = (spans) =>
  spans.flatMap((span) => {
    if (span.service !== 'stock' || span.kind !== 'server') return [span]
    const around = (id: string, kind: 'client' | 'server', us: number) => ({
      ...span,
      id: `${span.id}-${id}`,
      parent: id === 'in' ? span.parent : `${span.id}-in`,
      service: 'proxy',
      operation: id,
      kind,
      startUs: span.startUs! - us,
      endUs: span.endUs! + us,
    })
    const ways = [around('in', 'server', 40), around('out', 'client', 20)] as SpanSketch[]
    return [...ways, { ...span, parent: `${span.id}-out` }]
  })

const inMilliseconds: Change = (spans) =>
  spans.map((span) => ({
    ...span,
    startUs: 1000 * Math.floor(span.startUs! / 1000),
    endUs: 1000 * Math.floor(span.endUs! / 1000),
  }))

const clock =
  (of: string, aheadUs: number): Change =>
  (spans) =>
    spans.map((span) => {
      const us = span.service === of ? aheadUs : 0
      return { ...span, startUs: span.startUs! + us, endUs: span.endUs! + us }
    })

const CHANGES: Readonly<Record<string, Change>> = {
  'a service records nothing': without(({ service }) => service === 'stock'),
  'half of the spans of a service are lost': without(
    ({ service }, { next }) => service === 'stock' && next() < 0.5,
  ),
  'half of the spans of a service that calls databases alone are lost': without(
    ({ service }, { next }) => service === 'shop' && next() < 0.5,
  ),
  'half of the spans of a service that calls none are lost': without(
    ({ service }, { next }) => service === 'prices' && next() < 0.5,
  ),
  'spans are lost at random': without((_, { next }) => next() < 0.04),
  'clients record nothing': passing(({ kind }) => kind === 'client'),
  'clients of one service record nothing': passing(
    ({ kind, service }) => kind === 'client' && service === 'stock',
  ),
  'a proxy of its own name is recorded': proxy,
  'times are whole milliseconds': inMilliseconds,
  'a clock is 2 ms ahead': clock('stock', 2000),
  'a clock is 3 ms behind': clock('prices', -3000),
  'the clock of all callers is 400 µs ahead': clock('gateway', 400),
}

const rows = Object.entries(CHANGES).flatMap(([name, change]) =>
  [true, false].flatMap((clients) =>
    (['after', 'before'] as const).map((side) => ({ name, change, clients, side })),
  ),
)

describe('what changes is only what is recorded', () => {
  test.each(rows)('$name $side, clients $clients: no finding', ({ change, clients, side }) => {
    for (const seed of [1]) {
      const recorded = (name: 'before' | 'after', number: number) => {
        const spans = period({ seed: number, clients })
        return makeSpans(name === side ? [...change(spans, randomSource(seed))] : spans, name)
      }
      const { findings } = compare(recorded('before', 2 * seed), recorded('after', 2 * seed + 1))
      const unlikely = findings.findings.filter(({ p }) => p < BY_CHANCE)
      expect(unlikely.map(({ title }) => title)).toEqual([])
    }
  })
})
