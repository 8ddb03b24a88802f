import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { CriticalPathFinder } from '../../src/flows/critical-path.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { lengthUs, uncovered } from '../../src/widgets/drawing/stretches.ts'
import { exploreTrace } from '../../src/widgets/gantt/explore-trace.ts'
import {
  foldedTo,
  type GanttCall,
  type GanttData,
  ganttCalls,
  uncriticalCalls,
  visibleCalls,
} from '../../src/widgets/gantt/gantt-model.ts'
import { ganttCode } from '../../src/widgets/gantt/gantt-rows.ts'
import { shopPeriod } from '../findings/fixture.ts'
import { chains, makeGraphs, makeSpans } from '../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

const FOLDER = new URL('../../datasets/storage-service/mds-prefetch/', import.meta.url).pathname
const comparison = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)
const { flows } = comparison

/** A request with many calls, by its row. */
const large = [...flows.shapeOf.keys()].reduce((best, request) =>
  flows.shapes.nodeCount(flows.shapeOf[request] as number) >
  flows.shapes.nodeCount(flows.shapeOf[best] as number)
    ? request
    : best,
)
const largeId = flows.ids[large] as string

const small = makeSpans([
  { id: 'web', operation: 'GET', host: 'web-1', startUs: 0, endUs: 100 },
  { id: 'a', parent: 'web', operation: 'A', startUs: 10, endUs: 40 },
  { id: 'b', parent: 'web', operation: 'B', startUs: 20, endUs: 80 },
  { id: 'c', parent: 'b', operation: 'C', startUs: 30, endUs: 60 },
])

const ascending = (a: number, b: number) => a - b

describe('the critical path', () => {
  test('is that of the analysis, stretch by stretch, in every request', () => {
    const finder = new CriticalPathFinder(flows)
    for (let request = 0; request < flows.size; request += 37) {
      const drawn = ganttCalls(flows, [request])
        .flatMap(({ critical }) => critical)
        .sort((a, b) => a[0] - b[0])
      const latencyUs = flows.latencies(request)
      let at = 0
      const expected = finder
        .edges(request)
        .map((edge) => {
          const from = at
          at += latencyUs[edge] as number
          return [from, at] as const
        })
        .filter(([from, to]) => to > from)
      expect(drawn).toHaveLength(expected.length)
      for (const [i, [from, to]] of drawn.entries()) {
        expect(from).toBeCloseTo(expected[i]?.[0] ?? Number.NaN, 4)
        expect(to).toBeCloseTo(expected[i]?.[1] ?? Number.NaN, 4)
      }
      expect(lengthUs(drawn)).toBeCloseTo(flows.responseTimeUs[request] as number, 4)
    }
  })

  test('lies in the calls whose work was waited for', () => {
    const calls = ganttCalls(buildFlows(small, { concurrency: 'observed' }), [0])
    expect(calls.map(({ name, critical }) => [name, critical])).toEqual([
      [
        'GET',
        [
          [0, 20],
          [80, 100],
        ],
      ],
      ['A', []],
      [
        'B',
        [
          [20, 30],
          [60, 80],
        ],
      ],
      ['C', [[30, 60]]],
    ])
  })
})

describe('calls in time', () => {
  test('work when nothing they called is under way', () => {
    const calls = ganttCalls(buildFlows(small, { concurrency: 'observed' }), [0])
    expect(calls.map(({ name, parent, depth, work }) => [name, parent, depth, work])).toEqual([
      [
        'GET',
        -1,
        0,
        [
          [0, 10],
          [80, 100],
        ],
      ],
      ['A', 0, 1, [[10, 40]]],
      [
        'B',
        0,
        1,
        [
          [20, 30],
          [60, 80],
        ],
      ],
      ['C', 2, 2, [[30, 60]]],
    ])
  })

  test('are those of the spans, in every request', () => {
    const traces = flows.periods[0]
    if (traces?.kind !== 'spans') throw new Error('not spans')
    for (let request = 0; request < 200; request++) {
      const trace = flows.traceOf[request] as number
      const calls = ganttCalls(flows, [request])
      const first = traces.spanOffsets[trace] as number
      const rows = calls.map((_, i) => first + i)
      expect(traces.spanOffsets[trace + 1]).toBe(first + calls.length)
      const recorded = rows.map((row) => traces.spans.durationUs[row] as number).sort(ascending)
      const drawn = calls.map(({ startUs, endUs }) => endUs - startUs).sort(ascending)
      for (const [i, us] of drawn.entries()) expect(us).toBeCloseTo(recorded[i] as number, 4)
    }
  })

  test('know what was recorded of them', () => {
    const calls = ganttCalls(flows, [large])
    const [root] = calls
    expect(Object.fromEntries(root?.facts ?? [])).toMatchObject({ kind: 'server' })
    for (const { name, facts } of calls.filter((call) => call.name.startsWith('SN '))) {
      expect([name, ['client', 'server'].includes(String(facts[0]?.[1]))]).toEqual([name, true])
    }
  })

  test('of trace points are pairs and steps', () => {
    const graphs = makeGraphs(chains(['m__t__R_CALL', 'm__t__X', 'm__t__R_REPLY'], [100]))
    const calls = ganttCalls(buildFlows(graphs), [0])
    expect(calls.map(({ name, startUs, endUs }) => [name, startUs, endUs])).toEqual([
      ['R', 0, 100],
      ['R_CALL → X', 0, 50],
      ['X → R_REPLY', 50, 100],
    ])
  })

  test('of a trace with two roots stand in one chart', () => {
    const traces = makeSpans([
      { id: '1', operation: 'one', startUs: 100, endUs: 200 },
      { id: '2', operation: 'two', startUs: 150, endUs: 400 },
      { id: '3', parent: '2', operation: 'three', startUs: 160, endUs: 170 },
    ])
    const { calls, lengthUs: length } = exploreTrace(traces, 't').data as GanttData
    expect(calls.map(({ name, parent, startUs }) => [name, parent, startUs])).toEqual([
      ['one', -1, 0],
      ['two', -1, 50],
      ['three', 1, 60],
    ])
    expect(length).toBe(300)
  })
})

describe('the parts', () => {
  const calls = ganttCalls(flows, [large])

  test('what is uncovered is what none of the others covers', () => {
    expect(uncovered([0, 10], [])).toEqual([[0, 10]])
    expect(
      uncovered(
        [0, 10],
        [
          [2, 4],
          [3, 5],
          [8, 12],
        ],
      ),
    ).toEqual([
      [0, 2],
      [5, 8],
    ])
    expect(uncovered([0, 10], [[-5, 20]])).toEqual([])
    expect(uncovered([5, 5], [])).toEqual([[5, 5]])
  })

  test('folding leaves as many rows as there is room for', () => {
    for (const rows of [1, 5, 12, 60, 1000]) {
      const left = visibleCalls(calls, foldedTo(calls, rows))
      expect(left.length).toBeLessThanOrEqual(rows)
    }
    expect(foldedTo(calls, 1000)).toEqual([])
    expect(visibleCalls(calls, foldedTo(calls, 1))).toEqual([0])
  })

  test('folding the uncritical hides no critical call', () => {
    const left = new Set(visibleCalls(calls, uncriticalCalls(calls)))
    for (const [number, { critical }] of calls.entries()) {
      if (critical.length > 0) expect(left.has(number)).toBe(true)
    }
    const own = ganttCalls(buildFlows(small, { concurrency: 'observed' }), [0])
    expect(visibleCalls(own, uncriticalCalls(own))).toEqual([0, 1, 2, 3])
  })

  test('code names what is not as usual', () => {
    const data = exploreTrace(comparison, largeId).data as GanttData
    expect(ganttCode(data, data.initial)).toBe(`exploreTrace(comparison, '${largeId}')`)
    expect(ganttCode(data, { collapsed: [], range: [1, 2.5], search: 'x' })).toBe(
      `exploreTrace(comparison, '${largeId}', { collapsed: [], range: [1, 2.5], search: 'x' })`,
    )
  })

  test('options and ids are checked', () => {
    expect(() => exploreTrace(comparison, 'none')).toThrow('Option traceId is "none".')
    expect(() => exploreTrace(comparison, largeId, { period: 'before' })).toThrow('traceId')
    expect(() => exploreTrace(small, 't', { period: 'before' })).toThrow('Option period')
    expect(() => exploreTrace(small, 't', { range: [5, 5] })).toThrow('Option range')
    expect(() => exploreTrace(small, 't', { collapsed: [4] })).toThrow('Option collapsed is 4.')
    expect(() => exploreTrace(small, 't', { rows: 4 } as never)).toThrow('no option rows')
  })
})

describe('without scripts', () => {
  test('it is a picture with every row and its legend', () => {
    const svg = exploreTrace(comparison, largeId).svg()
    expect(svg).toContain('on the critical path')
    expect(svg).toContain('mds prefetch +67')
    expect(svg).not.toMatch(/NaN|undefined|var\(/)
  })

  test('a trace that took no time can be shown', () => {
    const none = makeSpans([{ id: 'r', startUs: 5, endUs: 5 }])
    expect(exploreTrace(none, 't').svg()).not.toMatch(/NaN|Infinity/)
  })
})

const names = (page: Page) => page.locator('[role=treeitem] .fd-gantt-name').allInnerTexts()
const code = (page: Page) => page.locator('.fd-code code').innerText()

describeInBrowser('a trace in a page', (open) => {
  const widget = () => exploreTrace(comparison, largeId)

  test('folds and unfolds by click, keyboard and buttons', async () => {
    const { page, problems } = await open([widget()])
    const first = await names(page)
    await page.getByRole('button', { name: 'unfold 67 calls' }).click()
    expect(await names(page)).toHaveLength(first.length + 67)
    expect(await code(page)).toContain('collapsed: []')
    await page.locator('[role=treeitem]').first().focus()
    await page.keyboard.press('ArrowLeft')
    expect(await names(page)).toHaveLength(1)
    expect(await page.locator('[role=treeitem]').first().getAttribute('aria-expanded')).toBe(
      'false',
    )
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('End')
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-call'))
    expect(await focused()).toBe('78')
    await page.keyboard.press('ArrowLeft')
    expect(await focused()).not.toBe('78')
    await page.getByRole('button', { name: 'fold all', exact: true }).click()
    expect((await names(page)).length).toBeLessThan(first.length)
    expect(problems).toEqual([])
  })

  test('dragging along the axis goes into the time, Escape back out', async () => {
    const { page, problems } = await open([widget()])
    const axis = page.locator('.fd-gantt-axis')
    const box = (await axis.boundingBox()) as { x: number; y: number; width: number }
    await page.mouse.move(box.x + 0.25 * box.width, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 10)
    await page.mouse.move(box.x + 0.75 * box.width, box.y + 10)
    await page.mouse.up()
    const [, from, to] = /range: \[([\d.]+), ([\d.]+)\]/.exec(await code(page)) ?? []
    const took = flows.responseTimeUs[large] as number
    expect(Number(from) / took).toBeCloseTo(0.25, 2)
    expect(Number(to) / took).toBeCloseTo(0.75, 2)
    await page.locator('[role=treeitem]').nth(2).focus()
    await page.keyboard.press('z')
    const call = (widget().data as GanttData).calls[2] as GanttCall
    const tenth = (us: number) => Math.round(us * 10) / 10
    expect(await code(page)).toContain(`range: [${tenth(call.startUs)}, ${tenth(call.endUs)}]`)
    await page.keyboard.press('Escape')
    expect(await code(page)).toBe(`exploreTrace(comparison, '${largeId}')`)
    expect(problems).toEqual([])
  })

  test('a search finds names and parameters, and unfolds the way there', async () => {
    const { page, problems } = await open([widget()])
    const data = widget().data as GanttData
    await page.locator('input[type=search]').fill('prefetch')
    expect(await page.locator('.fd-found').count()).toBeGreaterThan(0)
    await page.locator('input[type=search]').fill('lock release')
    const matches = data.calls.filter(({ name }) => name === 'lock release').length
    expect(await page.getByText(`${matches} of 79 match`).count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    expect(await page.locator('.fd-gantt-details h3').innerText()).toBe('mds lock release')
    expect((await names(page)).length).toBe(79)
    expect(problems).toEqual([])
  })

  test('a row tells its times and parameters', async () => {
    const { page, problems } = await open([widget()])
    await page.locator('[role=treeitem]').first().hover()
    const rows = await page.locator('.fd-gantt-details tr').allInnerTexts()
    expect(rows).toContain('calls within\t78 calls')
    expect(rows).toContain('kind\tserver')
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show', async () => {
    const hostile = { service: HOSTILE, operation: HOSTILE, host: HOSTILE }
    const traces = makeSpans([
      { ...hostile, id: '1', trace: HOSTILE, startUs: 0, endUs: 100 },
      { ...hostile, id: '2', parent: '1', trace: HOSTILE, startUs: 10, endUs: 60 },
    ])
    const { page, problems } = await open([exploreTrace(traces, HOSTILE)], {
      dark: true,
      width: 500,
    })
    await page.locator('input[type=search]').fill('<img')
    await page.keyboard.press('Enter')
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect((await names(page))[0]).toContain('<img')
    expect(problems).toEqual([])
  })

  test('in a narrow page nothing sticks out; many rows come page by page', async () => {
    const wide = makeSpans([
      { id: 'r', startUs: 0, endUs: 10_000 },
      ...Array.from({ length: 700 }, (_, i) => ({
        ...{ id: `c${i}`, parent: 'r', startUs: 10 * i, endUs: 10 * i + 5 },
      })),
    ])
    const { page, problems } = await open([exploreTrace(wide, 't', { collapsed: [] })], {
      width: 500,
    })
    expect(await names(page)).toHaveLength(500)
    await page.getByRole('button', { name: /Show more of 201/ }).click()
    expect(await names(page)).toHaveLength(701)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
    expect(problems).toEqual([])
  })
})

test('the traces of one period are enough', () => {
  const widget = exploreTrace(shopPeriod({ requests: 3 }), 't1-0')
  expect(widget.description).toMatch(
    /^Trace t1-0 took 3\.89 ms in 5 calls\. The largest part of its critical path is pay CHARGE/,
  )
  expect(widget.svg()).toContain('pay CHARGE')
})
