import { describe, expect, test } from 'vitest'
import { findInterference } from '../../../src/compare/interference/find-interference.ts'
import { groupsOf } from '../../../src/compare/interference/interference.ts'
import { RequestColumns } from '../../../src/compare/segments/request-columns.ts'
import { type Job, PERIOD_MS, queue, slowDatabase, stream, usual } from './queue.ts'

type Random = Parameters<typeof usual>[0]
type Period = Parameters<typeof queue> extends [number, ...infer Rest] ? Rest : never

/** Who interferes with the database, by seed. */
function named(before: Period, after: Period, seeds = 3): string[] {
  return Array.from({ length: seeds }, (_, seed) => {
    const [of, finding] = slowDatabase(queue(2 * seed, ...before), queue(2 * seed + 1, ...after))
    const { interferers } = findInterference(of, finding)
    return interferers.map(({ text, shared }) => `${text}, ${shared}`).join()
  })
}

const times = (count: number, text: string) => new Array<string>(count).fill(text)
const exports = (random: Random, perSecond: number, ms = 60) =>
  stream(random, { tenant: 'd', operation: 'export', perSecond, ms })
/** Sixty moments at which as many jobs come within 60 ms. */
function bursts(random: Random, of: () => Pick<Job, 'tenant' | 'operation'>): Job[] {
  return Array.from({ length: 60 }, () => random.next() * PERIOD_MS).flatMap((from) =>
    Array.from({ length: 60 }, () => {
      return { ...of(), atMs: from + random.next() * 60, ms: -Math.log(1 - random.next()) * 2 }
    }),
  )
}
const pick = (random: Random, names: string) =>
  names[Math.floor(random.next() * names.length)] ?? ''
const everySecondThird: readonly (readonly [number, number])[] = Array.from(
  { length: 60 },
  (_, i) => [i * 330 + 50, i * 330 + 120],
)

describe('who holds up slow calls is named', () => {
  test('where a tenant comes whose jobs are long', () => {
    const found = named([usual], [(random) => [...usual(random), ...exports(random, 3)]])
    expect(
      found.filter((one) => one === 'export of tenant.id = d, service').length,
    ).toBeGreaterThan(1)
  })

  test('where it was there before, and comes more often', () => {
    const found = named(
      [(random) => [...usual(random), ...exports(random, 0.5)]],
      [(random) => [...usual(random), ...exports(random, 4)]],
    )
    expect(found).toEqual(times(3, 'export of tenant.id = d, service'))
  })

  test('where its jobs are like all others, and come in bursts', () => {
    const noisy = (random: Random) => [
      ...usual(random),
      ...bursts(random, () => ({ tenant: 'd', operation: 'get' })),
    ]
    expect(named([usual], [noisy])).toEqual(times(3, 'get of tenant.id = d, service'))
  })

  test('with how much of slow and of usual calls’ time it was under way', () => {
    const [of, finding] = slowDatabase(
      queue(1, usual),
      queue(2, (random) => [...usual(random), ...exports(random, 3)]),
    )
    const interference = findInterference(of, finding)
    const [first] = interference.interferers
    expect(first).toMatchObject({
      operation: 'export',
      attribute: 'tenant.id',
      value: 'd',
      before: 0,
    })
    expect(first?.slow).toBeGreaterThan(0.7)
    expect(first?.usual).toBeLessThan(0.1)
    expect(interference.slowCalls + interference.usualCalls).toBeGreaterThan(2000)
    const table = interference.table()
    expect(table.array('interferes').filter(Boolean)).toHaveLength(1)
    expect(table.array('requests')).toContain('requests of tenant.id = a')
  })
})

describe('nobody is named', () => {
  test.each<[why: string, before: Period, after: Period]>([
    ['where all send more', [usual], [(random) => usual(random, 3.2)]],
    [
      'where all come in bursts',
      [usual],
      [
        (random) => [
          ...usual(random),
          ...bursts(random, () => ({
            tenant: pick(random, 'abc'),
            operation: pick(random, 'gp') === 'g' ? 'get' : 'put',
          })),
        ],
      ],
    ],
    ['where the database stands still now and then', [usual], [usual, { stops: everySecondThird }]],
    [
      'where it stands still, and a tenant is new',
      [(random) => usual(random).filter(({ tenant }) => tenant !== 'c')],
      [usual, { stops: everySecondThird }],
    ],
    [
      'where a new tenant’s long jobs keep nobody waiting, and all calls take twice as long',
      [usual, { servers: 4 }],
      [(random) => [...usual(random), ...exports(random, 3)], { servers: 60, factor: 2 }],
    ],
    [
      'where the same long jobs came before',
      [(random) => [...usual(random), ...exports(random, 3)]],
      [(random) => [...usual(random), ...exports(random, 3)], { factor: 1.3 }],
    ],
    [
      'where all of one operation hold up each other, whatever most of these have in common',
      [bookings, { host: 'node', servers: 10 }],
      [bookings, { host: 'node', servers: 1 }],
    ],
    [
      'where calls come one after the other, and some are long by themselves',
      [(random) => regular(random, 0), { servers: 200 }],
      [(random) => regular(random, 0.05), { servers: 200 }],
    ],
  ])('nobody is named %s', { tags: 'full' }, (_, before, after) => {
    expect(named(before, after)).toEqual(times(3, ''))
  })

  test('nobody is named with a finding that is not slower', () => {
    const [of, finding] = slowDatabase(
      queue(1, usual),
      queue(2, (random) => usual(random, 3)),
    )
    expect(findInterference(of, { ...finding, direction: 'faster' }).compared).toEqual([])
    expect(findInterference(of, undefined).interferers).toEqual([])
  })
})

/** Those of three in four tenants are of one; searches on the same host wait for nothing. */
function bookings(random: Random): Job[] {
  return ['a', 'a', 'a', 'b'].flatMap((tenant) => [
    ...stream(random, { tenant, operation: 'search', perSecond: 5, ms: 20, service: 'index' }),
    ...stream(random, { tenant, operation: 'book', perSecond: 4, ms: 20 }).map((job) => ({
      ...job,
      ms: 18 + 4 * random.next(),
    })),
  ])
}

function regular(random: Random, share: number): Job[] {
  return Array.from({ length: PERIOD_MS / 10 }, (_, i) => ({
    atMs: i * 10,
    tenant: pick(random, 'abc'),
    operation: 'get',
    ms: random.next() < share ? 200 + random.next() * 100 : 1 + random.next(),
  }))
}

test('requests are grouped by who sends them, not by the host on which they begin', () => {
  const [{ steps }] = slowDatabase(queue(1, usual), queue(2, usual))
  const { flows } = steps
  const divisions = groupsOf(flows, {
    ...{ columns: new RequestColumns(flows), service: 'db' },
    chosen: new Uint8Array(flows.size).fill(1),
  })
  const named = divisions.flatMap(({ groups }) =>
    groups.flatMap(({ attribute }) => attribute ?? []),
  )
  expect([...new Set(named)]).toEqual(['tenant.id'])
})
