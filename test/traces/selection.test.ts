import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { selectRequests } from '../../src/flows/select-requests.ts'
import { compare, loadTraces } from '../../src/index.ts'
import { packTraces, unpackTraces } from '../../src/traces/pack-traces.ts'
import {
  CONDITION_OPS,
  condition,
  conditionsText,
  parseConditions,
} from '../../src/traces/selection/condition.ts'
import { simulateIncident } from '../compare/segments/incident.ts'
import { makeGraphs, makeSpans, NOON_US, type SpanSketch } from '../make-traces.ts'

/**
 * Four requests, a minute apart: `web` calls `db` once or twice.
 *
 *     a  eu  1 ms   db shard 1           version 1.9
 *     b  us  2 ms   db shard 2, shard 1  version 1.10, fails
 *     c  us  3 ms   db shard 2           version 1.10
 *     d  –   4 ms   no db                version 1.9
 */
const REQUESTS = [
  { trace: 'a', region: 'eu', ms: 1, shards: [1], version: '1.9' },
  { trace: 'b', region: 'us', ms: 2, shards: [2, 1], version: '1.10', status: 'error' },
  { trace: 'c', region: 'us', ms: 3, shards: [2], version: '1.10' },
  { trace: 'd', region: null, ms: 4, shards: [], version: '1.9' },
] as const

const TRACES = makeSpans(
  REQUESTS.flatMap(({ trace, region, ms, shards, version, ...more }, i): SpanSketch[] => {
    const startUs = NOON_US + i * 60e6
    const root = { trace, id: 'r', service: 'web', operation: 'GET /a and b', host: `h${i}` }
    const attributes = { ...(region !== null && { region }), 'body.size': 100 * i, duration: 'x' }
    return [
      { ...root, ...more, version, attributes, startUs, endUs: startUs + ms * 1000 },
      ...shards.map((shard, k) => ({
        trace,
        id: `d${k}`,
        parent: 'r',
        service: 'db',
        operation: 'get',
        startUs: startUs + k,
        endUs: startUs + k + 100,
        attributes: { 'db.shard': shard, region: 'nowhere' },
      })),
    ]
  }),
  'monday',
)

const chosen = (conditions: string) => TRACES.where(conditions).ids.join('')

describe('conditions', () => {
  test('are read back as they are written, whatever names and values hold', () => {
    const name = fc.oneof(
      fc.constantFrom('tenant.tier', 'duration', 'a b', 'x=1'),
      fc.string({ minLength: 1 }),
    )
    const value = fc.oneof(fc.constantFrom('recorded', 'a or b', 'not called', ''), fc.string())
    // What cannot be printed is not printed.
    const isShown = (text: string) => /^[ -~]*$/.test(text) && text.trim() === text
    const written = fc
      .record({
        attribute: name.filter(isShown),
        service: fc.option(name.filter(isShown)),
        isAttribute: fc.boolean(),
        op: fc.constantFrom(...CONDITION_OPS),
        values: fc.array(value.filter(isShown), { minLength: 1, maxLength: 3 }),
        orNotRecorded: fc.boolean(),
      })
      .map(({ op, values, service, orNotRecorded, ...subject }) => {
        const has = op === 'is' || op === 'is not' ? values : /record|call/.test(op) ? [] : ['5']
        const isCall = op === 'calls' || op === 'does not call'
        return condition(
          { ...subject, service: isCall ? null : service },
          op,
          has,
          has.length > 0 && orNotRecorded,
        )
      })
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 3 }), (conditions) => {
        const read = parseConditions(conditionsText(conditions))
        const meaning = ({ isAttribute: _, ...one }: (typeof read)[number]) => one
        expect(read.map(meaning)).toEqual(conditions.map(meaning))
      }),
    )
  })

  test('ask for what is known of every request', () => {
    expect(chosen('operation = "GET /a and b"')).toBe('abcd')
    expect(chosen('host = h0, h2 or h9')).toBe('ac')
    expect(chosen('version=1.10')).toBe('bc')
    expect(chosen('service.version != 1.10')).toBe('ad')
    expect(chosen('duration > 1ms and duration<=3 ms')).toBe('bc')
    expect(chosen('outcome = error')).toBe('b')
    expect(chosen('time >= 22:14:20Z')).toBe('bcd')
    expect(chosen('db is called')).toBe('abc')
    expect(chosen('db is not called')).toBe('d')
    expect(chosen('operation get is called')).toBe('abc')
    expect(chosen('db get is called')).toBe('abc')
    expect(chosen('not db is called')).toBe('d')
    expect(chosen('not duration > 1ms')).toBe(chosen('duration <= 1ms'))
  })

  test('ask for attributes of roots, and of any span where roots have none', () => {
    expect(chosen('region = us')).toBe('bc')
    expect(() => TRACES.where('region = nowhere')).toThrow('region is us (2), eu (1).')
    expect(chosen('db.shard = 1')).toBe('ab')
    expect(chosen('db.shard is not 1')).toBe('cd')
    expect(chosen('body.size ≥ 1e2 and body.size < 300')).toBe('bc')
    expect(chosen('"duration" = x')).toBe('abcd')
  })

  test('read what a span lacks from its resource, though other spans record it themselves', () => {
    const root = { id: 'r', startUs: NOON_US, endUs: NOON_US + 10 }
    const traces = makeSpans([
      { ...root, trace: 'a', attributes: { tier: 'gold' } },
      { ...root, trace: 'b', attributes: { 'resource.tier': 'gold' } },
      { ...root, trace: 'c', attributes: { tier: 'free', 'resource.tier': 'gold' } },
      { ...root, trace: 'd' },
    ])
    expect(traces.where('tier=gold').ids).toEqual(['a', 'b'])
    expect(traces.where('tier=free').ids).toEqual(['c'])
    const { labels } = buildFlows(traces, { labelBy: ['tier'] })
    const told = Array.from({ length: labels.size }, (_, code) => labels.get(code).attributes)
    expect(new Set(told)).toEqual(new Set(['tier=gold', 'tier=free', undefined]))
  })

  test('ask for the first span with which a request enters a service', () => {
    expect(chosen('db db.shard = 1')).toBe('a')
    expect(chosen('db duration >= 100us')).toBe('abc')
  })

  // web │█████████████████│
  // cart   │███████│
  // db       │█│  1      │███│  2: nearer to the root, but later
  test('ask for the first of them by time, though a later one is nearer to the root', () => {
    const spans = [
      { id: 'w', service: 'web', startUs: 0, endUs: 1700 },
      { id: 'l', parent: 'w', service: 'db', startUs: 1200, endUs: 1500, attributes: { shard: 2 } },
      { id: 'c', parent: 'w', service: 'cart', startUs: 200, endUs: 900 },
      { id: 'f', parent: 'c', service: 'db', startUs: 400, endUs: 500, attributes: { shard: 1 } },
    ].map((span) => ({ operation: span.id, trace: 'a', ...span }))
    const one = makeSpans(spans, 'nested')
    expect(one.where('db shard = 1 and db duration <= 100us').size).toBe(1)
    expect(() => one.where('db duration > 200us')).toThrow('None of the 1 trace of nested')
    // Of two that start at the same time, the one nearer to the root.
    const tie = spans.map((span) => (span.service === 'web' ? span : { ...span, startUs: 400 }))
    expect(makeSpans(tie, 'tied').where('db shard = 2').size).toBe(1)
  })

  test('tell what was not recorded', () => {
    expect(chosen('region is not recorded')).toBe('d')
    expect(chosen('region is not us')).toBe('ad')
    expect(chosen('region is not us or not recorded')).toBe('a')
    expect(chosen('region = eu or not recorded')).toBe('ad')
    expect(chosen('region is recorded and region is not eu')).toBe('bc')
  })

  test('that hold for nothing say what there is', () => {
    const said = (conditions: string) => () => TRACES.where(conditions)
    expect(said('regoin = us')).toThrow(
      'Condition regoin = us: monday has no attribute regoin. Did you mean region?',
    )
    expect(said('duration > 1s')).toThrow('duration is 1 ms (1), 2 ms (1), 3 ms (1), 4 ms (1).')
    expect(said('dbb is called')).toThrow('monday has no service dbb. Did you mean db?')
    expect(said('get is called')).toThrow('That is an operation: write operation get is called.')
    expect(said('foo db is called')).toThrow('monday has no service foo. It has web, db.')
    expect(said('db selct is called')).toThrow('monday has no operation selct.')
    expect(said('region = nowhere')).toThrow('region is us (2), eu (1).')
    expect(said('service = db')).toThrow(
      'service is web (4). That matches only roots; write db is called.',
    )
    expect(said('cache region = us')).toThrow('monday has no service cache. It has web, db.')
    expect(said('cloud.zone = a')).toThrow(
      'Attributes of resources are loaded with `resourceAttributes`.',
    )
    expect(said('region = su')).toThrow(
      'None of the 4 traces of monday has region = su. region is us (2), eu (1). Did you mean us?',
    )
    expect(said('region = eu and outcome = error')).toThrow(
      'region = eu holds for 1, outcome = error holds for 1.',
    )
  })

  test('of another form say how to write them', () => {
    const said = (conditions: string) => () => parseConditions(conditions)
    expect(said('region')).toThrow("Write 'tenant.tier = enterprise'")
    expect(said('region =')).toThrow('lacks a value')
    expect(said('web is called or db is called')).toThrow('not conditions like "db is called"')
    expect(said('region = a or size = 2')).toThrow('not conditions like "size = 2"')
    expect(said('a = b and')).toThrow('is no condition')
    expect(said('size > 1, 2')).toThrow('Give one number.')
    expect(() => TRACES.where('duration > 5')).toThrow("Give a number with a unit, as '500ms'.")
    expect(() => TRACES.where('body.size > 1kB')).toThrow('in the unit in which it was recorded')
  })
})

describe('a recording is divided', () => {
  const groups = (by: string) =>
    TRACES.split(by).map((one) => [one.name, one.ids.join(''), one.quality().selected[0]?.leftOut])

  test('by conditions: where they do not hold though they could, then where they do', () => {
    expect(groups('duration>2ms')).toEqual([
      ['duration ≤ 2ms', 'ab', 0],
      ['duration > 2ms', 'cd', 0],
    ])
    expect(groups('region = us')).toEqual([
      ['region is not us', 'a', 1],
      ['region = us', 'bc', 1],
    ])
  })

  test('by values, one group for each; what would be in two is in none', () => {
    expect(groups('service.version = 1.9|1.10')).toEqual([
      ['service.version = 1.9', 'ad', 0],
      ['service.version = 1.10', 'bc', 0],
    ])
    expect(groups('db.shard = 1 | 2 and region is recorded')).toEqual([
      ['db.shard = 1 and region is recorded', 'a', 2],
      ['db.shard = 2 and region is recorded', 'c', 2],
    ])
    expect(groups('version').map(([name]) => name)).toEqual(['version = 1.9', 'version = 1.10'])
  })

  test('by time, of day or since it began', () => {
    const [earlier, later] = TRACES.split('2023-11-14T22:15Z')
    expect([earlier?.ids.join(''), later?.ids.join('')]).toEqual(['ab', 'cd'])
    expect(groups('2min').map(([, ids]) => ids)).toEqual(['ab', 'cd'])
    expect(groups('0s..1min|2min..').map(([, ids, left]) => [ids, left])).toEqual([
      ['a', 1],
      ['cd', 1],
    ])
    const at = (minute: number) => new Date((NOON_US + minute * 60e6) / 1e3)
    expect(TRACES.between(at(1), at(3)).ids).toEqual(['b', 'c'])
    expect(TRACES.between(NOON_US + 60e6, null).ids).toEqual(['b', 'c', 'd'])
    expect(() => TRACES.between('5min', '1min')).toThrow('Give the earlier moment first.')
    expect(() => TRACES.between('noon', null)).toThrow('"noon" is no time.')
  })

  test('into groups that none is empty of', () => {
    expect(() => TRACES.split('version = 1.9 | 2.0')).toThrow(
      'None of the 4 traces of monday has version = 2.0.',
    )
    expect(() => TRACES.split('version = 1 | 2 and region = eu | us')).toThrow('by two names')
  })
})

test('the table of spans has a column for each attribute, which verbs take as any other', () => {
  const spans = TRACES.spanTable()
  const { length } = TRACES.spans.parent
  for (const key of ['region', 'body.size']) {
    const expected = Array.from({ length }, (_, span) => TRACES.attributes.get(span, key))
    expect([...spans.values(key)]).toEqual(expected)
    expect(new Set(expected).size).toBeGreaterThan(2)
  }
  const us = spans.filter((row) => row['region'] === 'us').objects()
  expect(us.map((row) => row.region)).toEqual(us.map(() => 'us'))
  expect(spans.groupby('region').count().objects().length).toBe(new Set(spans.array('region')).size)
  expect(spans.derive({ twice: (row) => row['body.size'] * 2 }).columnNames()).toContain('twice')
})

test('an attribute with the name of a column keeps both', () => {
  const attributes = { service: 'mine', kind: 7 }
  const span = { trace: 't', id: 's', service: 'web', operation: 'GET', startUs: 0, endUs: 5 }
  const [row] = makeSpans([{ ...span, attributes }])
    .spanTable()
    .objects()
  expect(row).toMatchObject({ service: 'web', kind: 'internal', 'attributes.service': 'mine' })
  expect(row['attributes.kind']).toBe(7)
})

describe('traces that were selected', () => {
  const some = TRACES.where('region = us').where('duration > 2ms')

  test('are whole, and count what was left out', () => {
    expect(some.spanTable().objects()).toEqual(
      TRACES.spanTable()
        .objects()
        .filter((row) => (row as { trace: string }).trace === 'c')
        .map((row) => ({ ...row, parent: (row as { parent: number }).parent < 0 ? -1 : 0 })),
    )
    expect([...some.attributes.entries(0)]).toEqual([
      ['region', 'us'],
      ['body.size', 200],
      ['duration', 'x'],
    ])
    expect(some.versions).toEqual(new Map([['web', new Map([['1.10', 1]])]]))
    expect(some.quality().selected).toEqual([
      { condition: 'region = us', traces: 2, of: 4, leftOut: 2 },
      { condition: 'duration > 2ms', traces: 1, of: 2, leftOut: 1 },
    ])
  })

  test('go to another thread with their counts', () => {
    expect(unpackTraces(packTraces(some)).quality().selected).toEqual(some.quality().selected)
  })

  test('are trace points as well, with the latencies and parameters that are theirs', () => {
    const graphs = makeGraphs(
      [1, 2, 3].map((us) => ({
        labels: ['web-1__main__GET', 'web-1__main__END'],
        edges: [[0, 1]],
        latencyUs: [us],
        startUs: us,
        id: `g${us}`,
      })),
    )
    const slow = graphs.where('duration > 1us and host = web-1__main')
    expect(buildFlows(slow).latencyUs).toEqual(
      selectRequests(buildFlows(graphs), { before: [1, 2], after: [] }).latencyUs,
    )
    expect(graphs.between('2us', null).ids).toEqual(['g2', 'g3'])
    expect(() => graphs.where('shop is called')).toThrow('There are no services.')
  })

  test('are loaded so with where and between', async () => {
    const file = {
      name: 'monday.json',
      bytes: JSON.stringify(
        [1, 2, 3].map((n) => ({
          traceId: `${n}`,
          id: `${n}`,
          name: 'get',
          timestamp: 1e15 + n * 1e6,
          duration: n * 100,
          tags: { tier: n === 1 ? 'free' : 'pro' },
        })),
      ),
    }
    const { ids } = await loadTraces(file, { where: 'tier = pro', between: '0s..2s' })
    expect(ids).toEqual(['0000000000000002'.slice(-ids[0]!.length)])
    await expect(loadTraces(file, { between: 'now' })).rejects.toThrow('Give two times')
  })
})

const selections = (comparison: ReturnType<typeof compare>) =>
  comparison.warnings().flatMap(({ code, finding }) => (code === 'selected' ? finding : []))

describe('what a segment prints selects its requests', () => {
  const cases = {
    'values of the root': ({ tier }) => ({ factor: tier === 'enterprise' ? 6 : 1 }),
    'two conditions': ({ tier, cached }) => ({ factor: tier !== 'free' && !cached ? 8 : 1 }),
    hosts: ({ pod }) => ({ factor: 'bde'.includes(pod) ? 2.5 : 1 }),
    numbers: ({ size }) => ({ factor: size > 10_000 ? 5 : 1 }),
    'what was recorded': ({ coupon }) => ({ addedUs: coupon === undefined ? 0 : 60_000 }),
    'what was not recorded': ({ coupon }) => ({ factor: coupon === undefined ? 4 : 1 }),
  } satisfies Record<string, NonNullable<Parameters<typeof simulateIncident>[0]['effectOf']>>
  test.each(Object.entries(cases))('%s', (_, effectOf) => {
    const comparison = simulateIncident({ seed: 21, requests: 1_000, effectOf })
    const [segment] = comparison.segments.segments
    const own = segment?.requests.length ?? 0
    expect(own).toBeGreaterThan(50)
    expect(comparison.where(segment?.text ?? '').flows.size).toBe(own)
    const { before, after } = comparison
    const alone = compare(before.where(segment?.text ?? ''), after.where(segment?.text ?? ''))
    expect(alone.flows.size).toBe(own)
    expect(selections(alone)).toHaveLength(2)
    expect(selections(alone).join()).not.toContain('which alone can make')
  })

  test('both periods selected by their duration are said to be chosen by what is compared', () => {
    const { before, after } = simulateIncident({
      seed: 21,
      requests: 600,
      effectOf: () => ({ addedUs: 9_000 }),
    })
    const slow = [before, after].map((traces) => traces.where('duration > 20ms'))
    const said = ': selected by duration, which alone can make calls and segments differ.'
    expect(selections(compare(slow[0]!, slow[1]!))).toEqual([
      expect.stringMatching(
        new RegExp(`^before: \\d+ of 600 traces, where duration > 20ms${said}$`),
      ),
      expect.stringMatching(
        new RegExp(`^after: \\d+ of 600 traces, where duration > 20ms${said}$`),
      ),
    ])
    // Slow requests against fast ones of the same recording are what `split` is for.
    const [usual, late] = before.split('duration > 20ms')
    expect(selections(compare(usual!, late!)).join()).not.toContain(said)
  })
})
