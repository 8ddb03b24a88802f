import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  boundedSight,
  type FlowWindow,
  firstSight,
  scaleBounds,
  wholeSight,
} from '../../../src/views/widgets/flows/flow-canvas.tsx'
import { flowRoute, pathData, routeBetween } from '../../../src/views/widgets/flows/flow-graph.tsx'
import { BEND, columnMiddles, placeFlow } from '../../../src/views/widgets/flows/flow-placement.ts'
import { edgeLength, MIN_EDGE_LENGTH } from '../../../src/views/widgets/flows/flow-scene.ts'

describe('the length of an edge', () => {
  test('shows microseconds and seconds in one picture', () => {
    expect([1, 100, 1_000, 1_000_000].map((us) => Math.round(edgeLength(us)))).toEqual([
      32, 61, 91, 150,
    ])
  })

  test('is longer for any longer latency, and never shorter than its label is high', () => {
    const latency = fc.double({ min: 0.001, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(latency, fc.double({ min: 1.01, max: 100, noNaN: true }), (us, times) => {
        expect(edgeLength(us * times)).toBeGreaterThan(edgeLength(us))
      }),
    )
    expect(edgeLength(null)).toBe(MIN_EDGE_LENGTH)
    expect(edgeLength(0)).toBe(MIN_EDGE_LENGTH)
  })
})

// 0 → 1 → 2 → 5, 0 → 3 → 5, 0 → 5, 5 → 6
const LINES = [
  { from: 0, to: 1 },
  { from: 0, to: 3 },
  { from: 0, to: 5 },
  { from: 1, to: 2 },
  { from: 2, to: 5 },
  { from: 3, to: 5 },
  { from: 5, to: 6 },
].map((line) => ({ ...line, labelWidth: 20 }))
const BOXES = Array.from({ length: 7 }, () => ({ width: 40, height: 10 }))
const place = (lengths: (number | null)[], missing?: number) =>
  placeFlow({ boxes: BOXES, lines: LINES }, [
    { lengths, isThere: BOXES.map((_, box) => box !== missing) },
  ])

test('steps without fork or join between them stand straight below each other', () => {
  const { middles, lineMiddles } = place([20, 100, 30, 20, 20, 20, 40])
  expect(middles[1]).toBe(middles[2])
  expect(middles[5]).toBe(middles[6])
  expect(new Set([1, 3, 4].map((box) => middles[box])).size).toBe(3)
  // A line that shares both its ends with others has a column of its own.
  expect(middles).not.toContain(lineMiddles[2])
  expect(lineMiddles[0]).toBe(middles[1])
})

describe('how far down boxes begin', () => {
  test('a join begins when the last of its branches has ended', () => {
    const { tops, heights } = place([20, 100, 30, 20, 20, 20, 40])
    expect(tops).toEqual([[0, 30, 60, 110, 0, 140, 190]])
    expect(heights).toEqual([200])
  })

  test('what is not there has no place and holds nothing up', () => {
    const { tops } = place([20, null, 30, 20, 20, null, 40], 3)
    expect(tops).toEqual([[0, 30, 60, Number.NaN, 0, 90, 140]])
  })
})

describe('columns', () => {
  const rows = [[0, 10]] as const

  test('that are never beside each other may stand below each other', () => {
    const size = { left: 20, right: 20, wish: 5 }
    expect(
      columnMiddles([
        { ...size, rows: [[0, 10]] },
        { ...size, rows: [[10, 20]] },
      ]),
    ).toEqual([20, 20])
  })

  test('that are beside each other at any moment keep their order and a gap', () => {
    expect(
      columnMiddles([
        { left: 20, right: 20, wish: 8, rows: [[0, 10], null] },
        { left: 20, right: 30, wish: 5, rows: [[0, 10], null] },
        { left: 20, right: 20, wish: 9, rows: [null, [0, 10]] },
      ]),
    ).toEqual([84, 20, 24])
  })

  test('of nothing are nothing', () => {
    expect(columnMiddles([])).toEqual([])
    expect(columnMiddles([{ left: 3, right: 3, wish: -50, rows: [...rows] }])).toEqual([3])
  })
})

/** Random graphs whose lines lead to higher numbers, every box reached. */
const GRAPHS = fc
  .array(fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(120)), { minLength: 1, maxLength: 60 })
  .map((draws) => {
    const lines = new Map<string, { from: number; to: number; labelWidth: number }>()
    draws.forEach(([one, other, labelWidth], i) => {
      for (const draw of [one, other]) {
        const from = draw % (i + 1)
        lines.set(`${from} ${i + 1}`, { from, to: i + 1, labelWidth })
      }
    })
    const boxes = Array.from({ length: draws.length + 1 }, (_, i) => ({
      width: 60 + ((i * 37) % 90),
      height: 26 + (i % 2) * 10,
    }))
    return { boxes, lines: [...lines.values()].sort((a, b) => a.from - b.from || a.to - b.to) }
  })

test('boxes overlap at no moment, stay within the drawing, and lines lead down', () => {
  fc.assert(
    fc.property(
      GRAPHS,
      fc.infiniteStream(fc.integer({ min: MIN_EDGE_LENGTH, max: 150 })),
      (graph, lengths) => {
        const { boxes, lines } = graph
        const moments = [0, 1].map(() => ({
          lengths: lines.map(() => lengths.next().value as number),
          isThere: boxes.map(() => true),
        }))
        const { width, heights, middles, tops } = placeFlow(graph, moments)
        tops.forEach((top, moment) => {
          boxes.forEach((box, i) => {
            const [x, y] = [middles[i] as number, top[i] as number]
            expect(x - box.width / 2).toBeGreaterThan(-1e-6)
            expect(x + box.width / 2).toBeLessThan(width + 1e-6)
            expect(y + box.height).toBeLessThanOrEqual(heights[moment] as number)
            for (let j = 0; j < i; j++) {
              const other = boxes[j] as { width: number; height: number }
              const apartX = Math.abs(x - (middles[j] as number)) >= (box.width + other.width) / 2
              const otherY = top[j] as number
              expect(apartX || y >= otherY + other.height || otherY >= y + box.height).toBe(true)
            }
          })
          for (const [line, { from, to }] of lines.entries()) {
            const room = (top[to] as number) - (top[from] as number) - (boxes[from]?.height ?? 0)
            expect(room).toBeGreaterThanOrEqual(moments[moment]?.lengths[line] as number)
          }
        })
      },
    ),
    { numRuns: 60 },
  )
})

test('a large graph is placed without dagre, by the same rules', () => {
  const boxes = Array.from({ length: 900 }, () => ({ width: 80, height: 30 }))
  const lines = boxes
    .slice(1)
    .map((_, i) => ({ from: Math.floor(i / 3), to: i + 1, labelWidth: 50 }))
  const { middles, tops } = placeFlow({ boxes, lines }, [
    { lengths: lines.map(() => 40), isThere: boxes.map(() => true) },
  ])
  const places = boxes.map((_, i) => ({ x: middles[i] as number, y: tops[0]?.[i] as number }))
  const row = places.filter(({ y }) => y === places.at(-1)?.y).map(({ x }) => x)
  row.sort((a, b) => a - b)
  expect(row.length).toBeGreaterThan(300)
  row.slice(1).forEach((x, i) => {
    expect(x - (row[i] as number)).toBeGreaterThanOrEqual(80)
  })
})

describe('the way of a line', () => {
  test('is straight where both ends are in its column', () => {
    expect(pathData(flowRoute({ x: 5, y: 0 }, { x: 5, y: 40 }, 5))).toBe('M5 0L5 40')
  })

  test('bends into its column and out of it', () => {
    const route = flowRoute({ x: 0, y: 0 }, { x: 0, y: 100 }, 30)
    expect(route[0]).toEqual({ x: 0, y: 0 })
    expect(route.at(-1)).toEqual({ x: 0, y: 100 })
    const straight = route.filter(({ y }) => y >= BEND && y <= 100 - BEND)
    expect(new Set(straight.map(({ x }) => x))).toEqual(new Set([30]))
  })

  test('can be cut at any height', () => {
    const route = flowRoute({ x: 0, y: 0 }, { x: 10, y: 50 }, 10)
    expect(routeBetween(route, 20, 30)).toEqual([
      { x: 10, y: 20 },
      { x: 10, y: 30 },
    ])
    expect(routeBetween(route, 60, 80)).toEqual([])
    expect(routeBetween(route, 30, 30)).toEqual([])
  })

  test('moved aside keeps its distance where it runs sideways', () => {
    const route = [
      { x: 0, y: 0 },
      { x: 50, y: 0 },
    ]
    expect(pathData(route, 2)).toBe('M0 -2L50 -2')
    expect(pathData(flowRoute({ x: 5, y: 0 }, { x: 5, y: 9 }, 5), -2)).toBe('M3 0L3 9')
  })
})

describe('what is seen', () => {
  const window: FlowWindow = { width: 800, height: 600, contentWidth: 1600, contentHeight: 3000 }
  const small: FlowWindow = { width: 800, height: 600, contentWidth: 200, contentHeight: 100 }

  test('at first is readable, from the top, about where the flow begins', () => {
    expect(firstSight(small)).toEqual({ k: 1, x: 300, y: 24 })
    const { k, x, y } = firstSight(window, { rootX: 400 })
    expect([k, Math.round(x), y]).toEqual([0.62, 24, 24])
    expect(firstSight(window, { rootX: 800 }).x).toBeCloseTo(400 - 0.62 * 800)
  })

  test('as a whole is all there is', () => {
    const { k, x, y } = wholeSight(window)
    expect(x + k * 1600).toBeLessThanOrEqual(800)
    expect(y + k * 3000).toBeLessThanOrEqual(600)
    expect(k).toBe(scaleBounds(window)[0])
  })

  test('never leaves the window', () => {
    expect(boundedSight({ k: 1, x: 5000, y: -9000 }, window)).toEqual({ k: 1, x: 24, y: -2424 })
    expect(boundedSight({ k: 1, x: -5000, y: 0 }, small)).toEqual({ k: 1, x: 24, y: 24 })
    expect(boundedSight({ k: 50, x: 0, y: 0 }, window).k).toBe(3)
  })
})
