import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { type RandomSource, randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { type Call, call, type Details, spansOf } from '../../worlds.ts'

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
  const everyUs = ({ next }: RandomSource) => 950_000 + 100_000 * next()
  return spansOf({ seed, requests: REQUESTS, everyUs, name: `${seed}` }, (r) => {
    const lasting = (us: number) => us * Math.exp(r.next() - 0.5)
    const query = (of: string, details: Details = {}) =>
      call(of, lasting(300), { kind: 'client', ...details })
    const ask = (of: string, calls: readonly (Call | false)[]) => {
      const us = [lasting(200), lasting(200)] as const
      const way = clients ? { client: { us } } : { gapUs: us[0] }
      return call(of, [lasting(400), lasting(400)], { kind: 'server', ...way }, calls)
    }
    const select = () => (r.is(0.5) ? query('prices SELECT prices') : false)
    const stock = () =>
      ask('stock find', [
        query('stock GET'),
        query('stock GET', { beside: true, gapUs: 20 }),
        ask('prices list', [select()]),
      ])
    const update = () => r.is(0.4) && query('shop UPDATE items', { gapUs: lasting(100) })
    const shop = ask('shop offer', [query('shop SELECT items'), update()])
    const own = [lasting(500), lasting(500)] as const
    return call('gateway GET /home', own, { kind: 'server' }, [r.is(0.55) && stock(), shop])
  })
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
type Row = (typeof rows)[number]

describe.each([
  { tags: [], isOf: ({ clients, side }: Row) => clients && side === 'after' },
  { tags: ['full'], isOf: ({ clients, side }: Row) => !clients || side === 'before' },
])('what changes is only what is recorded', ({ tags, isOf }) => {
  const title = '$name $side, clients $clients: no finding'
  test.each(rows.filter(isOf))(title, { tags }, ({ change, clients, side }) => {
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
