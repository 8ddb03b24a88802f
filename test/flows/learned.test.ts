import { describe, expect, test } from 'vitest'
import { categorize } from '../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import type { FlowSet } from '../../src/flows/flow-set.ts'
import { randomSource } from '../../src/stats/index.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

type Child = readonly [id: string, startUs: number, endUs: number, more?: Partial<SpanSketch>]

/** One request: a root from 0 to 100 with these children. */
function request(trace: string, children: readonly Child[]): SpanSketch[] {
  return [
    { trace, id: 'r', startUs: 0, endUs: 100 },
    ...children.map(([id, startUs, endUs, more]) => ({
      trace,
      id,
      parent: 'r',
      service: id.replace(/\d+$/, ''),
      startUs,
      endUs,
      ...more,
    })),
  ]
}

/** As many requests as asked for, request `i` with `children(i)`. */
function requests(count: number, children: (i: number) => readonly Child[]) {
  return makeSpans(Array.from({ length: count }, (_, i) => request(`t${i}`, children(i))).flat())
}

const sequential: readonly Child[] = [
  ['a', 10, 40],
  ['b', 50, 90],
]
const parallel: readonly Child[] = [
  ['a', 10, 60],
  ['b', 20, 90],
]

/** Edges of the first request of each category, as `from to`, without those within a span. */
function structures(flows: FlowSet): string[][] {
  const categories = categorize(flows)
  return Array.from({ length: categories.size }, (_, category) => {
    const { labels, from, to } = categories.structure(category)
    const short = (node: number) => (labels[node] as string).replace(' call ', ' ')
    return Array.from(from, (node, edge) => `${short(node)} → ${short(to[edge] as number)}`)
      .filter((edge) => !/^(\w+) call → \1 reply$/.test(edge) || edge.startsWith('r '))
      .sort()
  })
}

const A_THEN_B = ['a reply → b call', 'b reply → r reply', 'r call → a call']
const A_BESIDE_B = ['a reply → r reply', 'b reply → r reply', 'r call → a call', 'r call → b call']

describe('the order of siblings is learned', () => {
  // Three things can be ordered in 19 ways (OEIS A079144: labelled interval orders).
  test('random interleavings of three concurrent siblings are one category', () => {
    const random = randomSource(1)
    const traces = requests(300, () =>
      ['a', 'b', 'c'].map((id): Child => {
        const startUs = 5 + 60 * random.next()
        return [id, startUs, startUs + 25 * random.next()]
      }),
    )
    expect(categorize(buildFlows(traces)).size).toBe(1)
    expect(categorize(buildFlows(traces, { concurrency: 'observed' })).size).toBe(19)
  })

  test('a pair that always runs one after the other stays sequential', () => {
    const flows = buildFlows(requests(50, () => sequential))
    expect(structures(flows)).toEqual([A_THEN_B])
    expect(flows.report.counts).toMatchObject({ learnedPairs: 1, orderViolations: 0 })
  })

  test('one violator in 100 calls does not make a sequential pair concurrent', () => {
    const flows = buildFlows(requests(100, (i) => (i === 50 ? parallel : sequential)))
    expect(structures(flows)).toEqual([A_THEN_B])
    expect(flows.report.counts.orderViolations).toBe(1)
  })

  test('two violators in 100 calls do', () => {
    const flows = buildFlows(requests(100, (i) => (i % 50 === 0 ? parallel : sequential)))
    expect(structures(flows)).toEqual([A_BESIDE_B])
    expect(flows.report.counts.orderViolations).toBe(0)
  })

  test('repeated calls of one operation are told apart by their order of start', () => {
    const flows = buildFlows(
      requests(40, () => [
        ['a0', 10, 20],
        ['a1', 30, 40],
        ['a2', 50, 60],
      ]),
    )
    expect(structures(flows)).toEqual([
      ['a reply → a call', 'a reply → a call', 'a reply → r reply', 'r call → a call'],
    ])
  })

  test('latencies on the critical path add up to the response time, violator or not', () => {
    const flows = buildFlows(requests(100, (i) => (i === 0 ? parallel : sequential)))
    const [violator, usual] = [0, 1].map((i) => Array.from(flows.latencies(i)))
    expect(violator).toEqual([10, -40, 10, 50, 70])
    expect(usual).toEqual([10, 10, 10, 30, 40])
  })
})

describe('two periods', () => {
  const change = (before: number, after: number) =>
    buildFlows([requests(before, () => parallel), requests(after, () => sequential)])

  test('work that was parallel and became sequential is two structures from 30 calls each', () => {
    const flows = change(30, 30)
    expect(structures(flows)).toEqual([A_BESIDE_B, A_THEN_B])
    expect(flows.report.counts.differingPairs).toBe(1)
  })

  test('29 calls after are too few to believe it: one rule for both', () => {
    const flows = change(30, 29)
    expect(structures(flows)).toEqual([A_BESIDE_B])
    expect(flows.report.counts.differingPairs).toBe(0)
  })

  test('a pair that runs in the reverse order after differs once', () => {
    const reversed: readonly Child[] = [
      ['b', 10, 40],
      ['a', 50, 90],
    ]
    const flows = buildFlows([requests(40, () => sequential), requests(50, () => reversed)])
    expect(structures(flows)).toEqual([
      A_THEN_B,
      ['a reply → r reply', 'b reply → a call', 'r call → b call'],
    ])
    expect(flows.report.counts.differingPairs).toBe(1)
  })

  test('overlapping more often, but never in order, is no difference', () => {
    const flows = buildFlows([
      requests(100, (i) => (i % 5 < 3 ? sequential : parallel)),
      requests(100, (i) => (i % 5 < 1 ? sequential : parallel)),
    ])
    expect(structures(flows)).toEqual([A_BESIDE_B])
    expect(flows.report.counts.differingPairs).toBe(0)
  })

  test('an order seen in only one period holds for both', () => {
    const flows = buildFlows([requests(40, () => sequential), requests(3, () => sequential)])
    expect(categorize(flows).size).toBe(1)
  })
})

describe('children that the parent does not wait for', () => {
  test('one that outlives its parent in most calls is asynchronous in all', () => {
    const flows = buildFlows(requests(50, (i) => [['a', 10, i % 5 === 0 ? 90 : 400]]))
    expect(structures(flows)).toEqual([['r call → a call', 'r call → r reply']])
    expect(flows.report.counts.asynchronousSpans).toBe(50)
  })

  test('one that outlives its parent in few calls is waited for in all', () => {
    const flows = buildFlows(requests(50, (i) => [['a', 10, i % 5 === 0 ? 101.5 : 90]]))
    expect(structures(flows)).toEqual([['a reply → r reply', 'r call → a call']])
    expect(flows.report.counts.asynchronousSpans).toBe(0)
  })

  test('one that lies outside its parent in few calls, as clocks that differ make it, is in all', () => {
    const usual: Child = ['a', 10, 90]
    const skewed: Child = ['a', 150, 190]
    const flows = buildFlows(requests(50, (i) => [i % 5 === 0 ? skewed : usual]))
    expect(structures(flows)).toEqual([['a reply → r reply', 'r call → a call']])
    expect(flows.report.counts.outsideParent).toBe(10)
  })

  test('one that the parent no longer waits for after is a structural change', () => {
    const flows = buildFlows([
      requests(40, () => [['a', 10, 90]]),
      requests(40, () => [['a', 10, 400]]),
    ])
    expect(structures(flows)).toEqual([
      ['a reply → r reply', 'r call → a call'],
      ['r call → a call', 'r call → r reply'],
    ])
    expect(flows.report.counts).toMatchObject({ differingPairs: 0, differingWaits: 1 })
  })

  test('one that only follows is asynchronous, whichever of its siblings starts first', () => {
    const follows = { followsFrom: true }
    const flows = buildFlows(
      requests(60, (i) => {
        const [first, second] = i % 4 < 2 ? [10, 12] : [12, 10]
        return i % 2 === 0
          ? [
              ['a', first, 60, follows],
              ['b', second, 70],
            ]
          : [
              ['a', first, 60],
              ['b', second, 70, follows],
            ]
      }),
    )
    expect(structures(flows)).toEqual([
      ['b reply → r reply', 'r call → a call', 'r call → b call'],
      ['a reply → r reply', 'r call → a call', 'r call → b call'],
    ])
    const categories = categorize(flows)
    expect(Array.from(categories.categoryOf).every((category, i) => category === i % 2)).toBe(true)
  })
})

describe('what cannot be learned', () => {
  test('orders that go round in a circle: those calls are built as observed', () => {
    const pairs = [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
    ] as const
    const flows = buildFlows(
      requests(301, (i): Child[] => {
        const ids = i === 300 ? ['a', 'b', 'c'] : (pairs[i % 3] as readonly string[])
        return ids.map((id, k): Child => [id, 10 + 30 * k, 30 + 30 * k])
      }),
    )
    expect(flows.report.counts.circularOrders).toBe(1)
    expect(structures(flows)[3]).toEqual([
      'a reply → b call',
      'b reply → c call',
      'c reply → r reply',
      'r call → a call',
    ])
  })

  test('calls with more than 256 children are built as observed', () => {
    const wide = (children: number) =>
      buildFlows(requests(2, () => Array.from({ length: children }, (_, k) => [`a${k}`, 10, 20])))
    expect(wide(256).report.counts.wideCalls).toBe(0)
    const flows = wide(257)
    expect(flows.report.counts.wideCalls).toBe(2)
    expect(categorize(flows).size).toBe(1)
  })
})

describe("concurrency 'none'", () => {
  test('siblings are all concurrent, whatever their times', () => {
    const flows = buildFlows(
      requests(10, (i) => (i % 2 === 0 ? sequential : parallel)),
      { concurrency: 'none' },
    )
    expect(structures(flows)).toEqual([A_BESIDE_B])
  })

  test('a child that outlives its parent is asynchronous in that call alone', () => {
    const flows = buildFlows(
      requests(2, (i) => [['a', 10, i === 0 ? 50 : 200]]),
      { concurrency: 'none' },
    )
    expect(structures(flows)).toEqual([
      ['a reply → r reply', 'r call → a call'],
      ['r call → a call', 'r call → r reply'],
    ])
  })
})
