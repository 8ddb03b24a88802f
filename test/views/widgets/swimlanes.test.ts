import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { readOptions } from '../../../src/core/options.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { joined, lengthUs } from '../../../src/views/drawing/time-range.tsx'
import { explore } from '../../../src/views/explore.ts'
import { exploreCode } from '../../../src/views/widgets/define-widget.ts'
import {
  type Message,
  SWIMLANE_OPTIONS,
  type SwimlaneData,
  type SwimlaneOptions,
  type SwimlaneSide,
  tracksOf,
} from '../../../src/views/widgets/swimlanes/swimlane-model.ts'
import {
  itemWords,
  laneItems,
  swimlaneLayout,
} from '../../../src/views/widgets/swimlanes/swimlanes-widget.tsx'
import { compareShops } from '../../compare/findings/fixture.ts'
import { makeGraphs, makeSpans } from '../../make-traces.ts'
import { comparison, dataOf, paying, swimlanes } from './swimlanes-fixture.ts'

const { categories, flows } = comparison

interface WidgetData {
  readonly data: SwimlaneData
  readonly options: SwimlaneOptions
}

function sentences(side: SwimlaneSide | undefined): string[] {
  const { visits = [], messages = [] } = side ?? {}
  const lane = (visit: number) => visits[visit]?.lane
  return messages.map(
    ({ kind, name, from, to, sentUs, arrivedUs }: Message) =>
      `${kind} ${name}: ${lane(from)} ${sentUs} → ${lane(to)} ${arrivedUs}`,
  )
}

const one = makeSpans([
  { id: 'web', operation: 'GET', startUs: 0, endUs: 100 },
  { id: 'out', service: 'web', parent: 'web', operation: 'call READ', startUs: 10, endUs: 60 },
  { id: 'db', parent: 'out', operation: 'READ', startUs: 20, endUs: 50 },
  { id: 'disk', service: 'db', parent: 'db', operation: 'disk', startUs: 30, endUs: 40 },
  { id: 'log', parent: 'web', operation: 'WRITE', startUs: 70, endUs: 90 },
])

describe('a request on lanes', () => {
  const [side] = dataOf(swimlanes(compare(one, one), { before: 't' })).sides

  test('has a visit for what a component does between being asked and answering', () => {
    expect(
      side?.visits.map(({ lane, startUs, endUs, work }) => [lane, startUs, endUs, work]),
    ).toEqual([
      [
        'web',
        0,
        100,
        [
          [0, 10],
          [60, 70],
          [90, 100],
        ],
      ],
      ['db', 20, 50, [[20, 50]]],
      ['log', 70, 90, [[70, 90]]],
    ])
  })

  test('has messages that take what lies between caller and called', () => {
    expect(sentences(side)).toEqual([
      'call READ: web 10 → db 20',
      'reply READ: db 50 → web 60',
      'call WRITE: web 70 → log 70',
      'reply WRITE: log 90 → web 90',
    ])
  })

  test('has its critical path on visits and messages, all of it', () => {
    const worked = side?.visits.reduce((sum, { critical }) => sum + lengthUs(critical), 0) ?? 0
    const onTheWay = side?.messages
      .filter(({ isCritical }) => isCritical)
      .reduce((sum, { sentUs, arrivedUs }) => sum + arrivedUs - sentUs, 0)
    expect([worked, onTheWay]).toEqual([80, 20])
  })

  test('gets no reply from what ends after its caller', () => {
    const late = makeSpans([
      { id: 'web', startUs: 0, endUs: 100 },
      { id: 'mail', parent: 'web', operation: 'send', startUs: 50, endUs: 300, followsFrom: true },
    ])
    const data = dataOf(swimlanes(compare(late, late), 't'))
    expect(sentences(data.sides[0])).toEqual(['call send: web 50 → mail 50'])
    expect(data.lengthUs).toBe(300)
  })

  test('can have a lane for every host', () => {
    const hosts = makeSpans([
      { id: 'web', host: 'm1', startUs: 0, endUs: 100 },
      { id: 'web 2', service: 'web', host: 'm2', parent: 'web', startUs: 10, endUs: 20 },
    ])
    const lanes = (by: 'service' | 'host') =>
      dataOf(swimlanes(compare(hosts, hosts), 't', { lanes: by })).lanes.map(({ name }) => name)
    expect([lanes('service'), lanes('host')]).toEqual([['web'], ['m1', 'm2']])
  })

  test('gets a track for each visit at the same time', () => {
    const visit = (startUs: number, endUs: number, lane = 'a') => ({
      lane,
      name: '',
      startUs,
      endUs,
      work: [],
      critical: [],
    })
    expect(tracksOf([visit(0, 10), visit(5, 20), visit(10, 15), visit(0, 9, 'b')])).toEqual([
      0, 1, 0, 0,
    ])
  })

  test('of trace points goes from host to host', () => {
    const graphs = makeGraphs([
      {
        labels: ['m1__t__R_CALL', 'm2__t__D_CALL', 'm2__t__D_REPLY', 'm1__t__R_REPLY'],
        edges: [
          [0, 1],
          [1, 2],
          [2, 3],
        ],
        latencyUs: [10, 50, 20],
      },
    ])
    const [points] = dataOf(swimlanes(compare(graphs, graphs), 0)).sides
    expect(
      points?.visits.map(({ lane, name, startUs, endUs }) => [lane, name, startUs, endUs]),
    ).toEqual([
      ['m1__t', 'R', 0, 80],
      ['m2__t', 'D', 10, 60],
    ])
    expect(sentences(points)).toEqual([
      'call D_CALL: m1__t 0 → m2__t 10',
      'reply R_REPLY: m2__t 60 → m1__t 80',
    ])
  })
})

describe('a category', () => {
  test('is shown by the request with the median response time, before and after', () => {
    const { sides } = dataOf(swimlanes(comparison, paying))
    for (const { period, traceId, responseTimeUs } of sides) {
      const times = categories.responseTimes(paying, period === 'before' ? BEFORE : AFTER).sort()
      expect(responseTimeUs).toBe(times[Math.floor((times.length - 1) / 2)])
      expect(flows.responseTimeUs[flows.ids.indexOf(traceId)]).toBe(responseTimeUs)
    }
    expect(sides.map(({ period }) => period)).toEqual(['before', 'after'])
  })

  test('that is new is shown beside its likeliest precursor', () => {
    const changed = compareShops({}, { archive: 0.9 }, { smPThreshold: 10 })
    const mutation = changed.ranking.mutations.find(
      ({ category, precursors }) =>
        precursors.length > 0 && changed.categories.count(category, BEFORE) === 0,
    )
    const { sides } = dataOf(swimlanes(changed, mutation?.category ?? -1))
    const origin = mutation?.precursors[0]?.category
    expect(sides.map(({ choice }) => /of category (\d+)/.exec(choice)?.[1])).toEqual([
      String(origin),
      String(mutation?.category),
    ])
  })

  test('must be there, as must traces', () => {
    const last = categories.size - 1
    expect(() => swimlanes(comparison, 99)).toThrow(`a category from 0 to ${last}`)
    expect(() => swimlanes(comparison, 'none')).toThrow('Option traces is "none".')
    expect(() => swimlanes(comparison, { before: 't2-0' })).toThrow('t2-0')
    expect(() => swimlanes(comparison, {})).toThrow('Option traces')
    expect(() => swimlanes(comparison, 0, { range: [3, 1] })).toThrow('Option range')
    expect(() => swimlanes(comparison, 0, { arrangement: 'over' } as never)).toThrow(
      "Give 'below' or 'beside'.",
    )
    expect(() => swimlanes(comparison, 0, { lane: 1 } as never)).toThrow('no option lane')
  })
})

describe('both pictures', () => {
  const data = dataOf(swimlanes(comparison, paying))

  test('share the axis of time, below and beside each other, whole and in part', () => {
    for (const arrangement of ['below', 'beside'] as const) {
      for (const range of [null, [100, 900] as const]) {
        const layout = swimlaneLayout(data, { arrangement, range, folded: true }, 1000)
        const [first, second] = layout.panels
        expect(first?.width).toBe(second?.width)
        expect(first?.width).toBeGreaterThan(300)
        if (arrangement === 'below') expect(first?.left).toBe(second?.left)
        else expect(first?.top).toBe(second?.top)
      }
    }
  })

  test('reach to the end of the longer request', () => {
    const { range } = swimlaneLayout(data, readOptions(SWIMLANE_OPTIONS), 1000)
    expect(range).toEqual([0, Math.max(...data.sides.map(({ responseTimeUs }) => responseTimeUs))])
  })

  test('have the lanes of both, in the order in which requests come there', () => {
    expect(data.lanes.map(({ name }) => name)).toEqual(['shop', 'stock', 'pay'])
  })
})

describe('the parts', () => {
  test('stretches that touch become one', () => {
    expect(
      joined([
        [5, 6],
        [0, 2],
        [2, 3],
        [1, 2.5],
      ]),
    ).toEqual([
      [0, 3],
      [5, 6],
    ])
  })

  test('messages are said in words', () => {
    const [side] = dataOf(swimlanes(compare(one, one), 't')).sides
    const items = laneItems(side as SwimlaneSide)
    expect(items.slice(0, 3).map(({ key }) => key)).toEqual(['visit-0', 'message-0', 'visit-1'])
    expect(items.slice(0, 2).map(itemWords)).toEqual([
      'web, GET: 100 µs from 0 µs on, of which it worked 30 µs and waited 70 µs',
      'Call READ from web to db: sent at 10 µs, 10 µs on the way; on the critical path',
    ])
  })

  test('code names what is not as usual', () => {
    const code = (options: Partial<SwimlaneOptions>) =>
      exploreCode(SWIMLANE_OPTIONS, options, { name: 'mine', kind: 'swimlanes' })
    expect(code({ traces: { before: 't1-0' } })).toBe(
      "explore(mine, 'swimlanes', { traces: { before: 't1-0' } })",
    )
    expect(code({ category: 3, arrangement: 'beside', range: [0, 5] })).toBe(
      "explore(mine, 'swimlanes', { category: 3, arrangement: 'beside', range: [0, 5] })",
    )
  })

  test('without a category or traces it shows the examples of the first finding', () => {
    const [finding] = comparison.findings.findings
    const { data, options } = explore(comparison, 'swimlanes').data as WidgetData
    expect(data.title).toBe(`Examples of #1 ${finding?.title}`)
    expect(data.sides.map(({ traceId }) => traceId)).toEqual([
      finding?.exemplars.before[0],
      finding?.exemplars.after[0],
    ])
    expect(options.traces).toEqual({
      before: finding?.exemplars.before[0],
      after: finding?.exemplars.after[0],
    })
  })

  test('without scripts it is a picture of both', () => {
    const svg = swimlanes(comparison, paying).svg()
    expect(svg).toContain('the median of 100 requests')
    expect(svg).not.toMatch(/NaN|undefined|var\(/)
    const none = makeSpans([{ id: 'r', startUs: 5, endUs: 5 }])
    expect(swimlanes(compare(none, none), 0).svg()).not.toMatch(/NaN|Infinity/)
  })
})
