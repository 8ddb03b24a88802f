import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { categorize } from '../../src/categories/categorize.ts'
import { type Comparison, compare } from '../../src/comparison.ts'
import { AFTER, BEFORE, FlowSet, type Period } from '../../src/flows/flow-set.ts'
import { requestsBetween } from '../../src/flows/requests-between.ts'
import { selectRequests } from '../../src/flows/select-requests.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { formatDuration } from '../../src/units.ts'
import { exploreTimeline } from '../../src/widgets/timeline/explore-timeline.ts'
import { numberCode, timelineCode } from '../../src/widgets/timeline/timeline-code.ts'
import { arrivalBins, densityPaths } from '../../src/widgets/timeline/timeline-density.ts'
import {
  type TimelineData,
  type TimelineFilter,
  timelineModel,
} from '../../src/widgets/timeline/timeline-model.ts'
import { movedRange, rangeBetween, withEnd } from '../../src/widgets/timeline/timeline-range.ts'
import { rateText, summarizeRange } from '../../src/widgets/timeline/timeline-summary.ts'
import { grouped } from '../../src/wording.ts'
import { compareShops } from '../findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

const FOLDER = new URL('../../datasets/storage-service/delay-1ms/', import.meta.url).pathname
const comparison = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)
const dataOf = (of: Comparison): TimelineData => exploreTimeline(of).data as TimelineData

/** What code from the widget gives when it is pasted. */
function pasted(code: string, of: Comparison = comparison): FlowSet {
  const run = new Function('comparison', 'selectRequests', 'requestsBetween', `return ${code}`)
  return run(of, selectRequests, requestsBetween)
}

describe('ranges', () => {
  const span = { spanUs: [0, 100], stepUs: 5 } as const

  test('begin and end at steps, whichever way they were dragged', () => {
    expect(rangeBetween(span, 38, 11)).toEqual([10, 40])
  })

  test('stay within the time there is, and hold at least a step', () => {
    expect(rangeBetween(span, -20, 11)).toEqual([0, 10])
    expect(rangeBetween(span, 100, 100)).toEqual([95, 100])
  })

  test('that hold everything are none', () => {
    expect(rangeBetween(span, -1, 101)).toBe(null)
  })

  test('move without growing or shrinking', () => {
    expect(movedRange(span, [20, 40], 1000)).toEqual([80, 100])
    expect(movedRange(span, [20, 40], -12)).toEqual([10, 30])
  })

  test('keep their ends in order', () => {
    expect(withEnd(span, [20, 40], { end: 0, timeUs: 90 })).toEqual([35, 40])
    expect(withEnd(span, null, { end: 1, timeUs: 60 })).toEqual([0, 60])
  })
})

describe('code', () => {
  const data = dataOf(comparison)
  const all: TimelineFilter = { kind: 'all' }

  test('is as short as the numbers allow', () => {
    expect([0, 9999, 12_300_000, 250_500, 12_345_678, -5e6].map(numberCode)).toEqual([
      '0',
      '9999',
      '12.3e6',
      '250.5e3',
      '12_345_678',
      '-5e6',
    ])
  })

  test('names the flows alone when everything is selected', () => {
    expect(timelineCode(data, { ranges: [null, null], filter: all })).toBe('comparison.flows')
  })

  test('gives the requests that are shown, in ranges and filtered', () => {
    const { categories, flows } = comparison
    const sizes = Array.from({ length: categories.size }, (_, of) => categories.count(of, BEFORE))
    const largest = sizes.indexOf(Math.max(...sizes))
    const ranges = [
      [10e6, 20e6],
      [12_345_678, 30_000_001],
    ] as const
    const category = pasted(
      timelineCode(data, { ranges, filter: { kind: 'category', of: largest } }),
    )
    const expected = (period: Period) =>
      Array.from(categories.members(largest, period)).filter((row) => {
        const start = flows.startUs[row] as number
        return start >= ranges[period][0] && start < ranges[period][1]
      }).length
    expect(expected(BEFORE)).toBeGreaterThan(0)
    expect([category.count(BEFORE), category.count(AFTER)]).toEqual([
      expected(BEFORE),
      expected(AFTER),
    ])
    const root = pasted(
      timelineCode(data, { ranges: [null, null], filter: { kind: 'root', of: 1 } }),
    )
    expect(new Set(root.table().array('root'))).toEqual(new Set([data.roots[1]]))
    expect(root.size).toBeGreaterThan(0)
  })

  test.each([HOSTILE, 'a\u202eb', "it's\\", 'long '.repeat(100)])(
    'works for the name %j',
    (name) => {
      const shops = compareShops({}, {})
      const hostile = shops.with({ label: ({ operation }) => operation + name })
      const code = timelineCode(dataOf(hostile), {
        ranges: [null, null],
        filter: { kind: 'root', of: 0 },
      })
      expect(pasted(code, hostile).size).toBe(hostile.flows.size)
      expect(code).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u)
      expect(code.length).toBeLessThan(300)
    },
  )
})

describe('summaries', () => {
  const model = timelineModel(dataOf(comparison))

  test('are of the requests that the code selects, at every step', () => {
    for (const fromUs of [0, 3.3e6, 17e6, 60.1e6]) {
      const range = [fromUs, fromUs + 9_100_000] as const
      const selected = pasted(
        timelineCode(dataOf(comparison), { ranges: [range, range], filter: { kind: 'all' } }),
      )
      const found = summarizeRange(model.requests[0], range, [0, 90e6])
      expect(found.requests).toBe(selected.count(BEFORE))
      const times = selected.responseTimeUs.slice(0, found.requests)
      const mean = times.reduce((sum, time) => sum + time, 0) / times.length
      expect(Math.abs(found.meanUs / mean - 1)).toBeLessThan(1e-4)
    }
  })

  test('rates count only time in which there were requests', () => {
    const requests = {
      startUs: Float64Array.of(0, 1e6, 2e6),
      responseTimeUs: Float64Array.of(3, 1, 2),
      categories: Uint32Array.of(0, 0, 0),
    }
    expect(summarizeRange(requests, [1e6, 9e6], [0, 2e6])).toEqual({
      ...{ requests: 2, all: 3, perSecond: 2, meanUs: 1.5, medianUs: 1.5 },
    })
    const none = summarizeRange(requests, [5e6, 9e6], [0, 2e6])
    expect([none.requests, none.perSecond, none.meanUs]).toEqual([0, Number.NaN, Number.NaN])
  })

  test('rates are said per second, minute or hour', () => {
    expect([118.4, 0.5, 0.001, 0, Number.NaN].map(rateText)).toEqual([
      '118 a second',
      '30 a minute',
      '3.6 an hour',
      '0 a second',
      '–',
    ])
  })
})

describe('the drawing', () => {
  const requests = {
    startUs: Float64Array.of(0, 10, 10, 95),
    responseTimeUs: Float64Array.of(0, 50, 50, 100),
    categories: Uint32Array.of(0, 0, 0, 0),
  }

  test('puts a run of cells into the path of its darkness', () => {
    const even = {
      ticks: [],
      share: (value: number) => value / 100,
      value: (share: number) => share,
    }
    const paths = densityPaths(requests, { x: even, y: even }, { width: 100, height: 20, cell: 10 })
    expect(paths).toEqual(['M90 5h10M0 15h10', 'M10 15h10', '', ''])
  })

  test('counts arrivals in equal parts of the time', () => {
    expect(arrivalBins(requests, { spanUs: [0, 96], binUs: 20 })).toEqual([3, 0, 0, 0, 1])
  })
})

describe('what goes into a page', () => {
  test('20,000 requests take less than 250 kB, picture included', () => {
    const { flows } = comparison
    expect(flows.size).toBe(20_000)
    const widget = exploreTimeline(comparison)
    const packed = (gzipSync(JSON.stringify(widget.data)).length * 4) / 3
    expect(packed + (widget.svg().length * 4) / 3).toBeLessThan(250_000)
  })

  test('requests whose times are no numbers are left out', () => {
    const flows = new FlowSet(
      {
        ...comparison.flows,
        startUs: comparison.flows.startUs.with(0, Number.NaN),
        ids: comparison.flows.ids,
        shapes: comparison.flows.shapes,
      },
      comparison.flows.options,
      comparison.flows.report,
    )
    const broken = { flows, categories: categorize(flows, comparison.options) } as Comparison
    expect(timelineModel(dataOf(broken)).requests[0].startUs.length).toBe(9999)
  })

  test('the picture says what is selected', () => {
    const svg = exploreTimeline(comparison, { afterUs: [0, 2e6], category: 3 }).svg()
    expect(svg).toContain('from 0 to 2 s')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('options are checked', () => {
    expect(() => exploreTimeline(comparison, { beforeUs: [2, 1] })).toThrow('beforeUs is 2,1')
    expect(() => exploreTimeline(comparison, { afterUs: [0, Number.POSITIVE_INFINITY] })).toThrow(
      'finite',
    )
    expect(() => exploreTimeline(comparison, { category: 1e6 })).toThrow('category')
    expect(() => exploreTimeline(comparison, { range: 3 } as never)).toThrow('range')
  })
})

const codeOf = (page: Page) => page.locator('.fd-code code').innerText()
const requestsOf = async (page: Page): Promise<string[]> =>
  (await page.locator('tbody tr').all()).length === 3
    ? Promise.all(
        [0, 1].map((row) => page.locator('tbody tr').nth(row).locator('td').nth(1).innerText()),
      )
    : []

async function drag(
  page: Page,
  period: 'before' | 'after',
  from: number,
  to: number,
): Promise<void> {
  const area = page.locator(`.fd-brush-area[data-period=${period}]`)
  const box = await area.boundingBox()
  if (box === null) throw new Error('nothing to drag on')
  await page.mouse.move(box.x + box.width * from, box.y + 90)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * ((from + to) / 2), box.y + 100)
  await page.mouse.move(box.x + box.width * to, box.y + 100)
  await page.mouse.up()
}

/** What the table is to say when the code that is shown is pasted. */
async function expectAgreement(page: Page): Promise<FlowSet> {
  const flows = pasted(await codeOf(page))
  const shown = await requestsOf(page)
  expect(shown.map((text) => text.split(' ')[0])).toEqual([
    grouped(flows.count(BEFORE)),
    grouped(flows.count(AFTER)),
  ])
  return flows
}

describeInBrowser('the timeline in a page', (open) => {
  test('begins with everything', async () => {
    const { page, problems } = await open([exploreTimeline(comparison)])
    expect(await codeOf(page)).toBe('comparison.flows')
    expect(await requestsOf(page)).toEqual(['10,000', '10,000'])
    expect(problems).toEqual([])
  })

  test('dragging selects a range of each period, and the code gives its requests', async () => {
    const { page, problems } = await open([exploreTimeline(comparison)])
    await drag(page, 'before', 0.2, 0.5)
    expect(await codeOf(page)).toMatch(/^selectRequests\(comparison\.flows, .*beforeUs: \[/)
    await expectAgreement(page)
    await drag(page, 'after', 0.9, 0.4)
    const flows = await expectAgreement(page)
    const times = flows.responseTimeUs.slice(0, flows.count(BEFORE))
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length
    expect(await page.locator('tbody tr').first().innerText()).toContain(formatDuration(mean))
    expect(problems).toEqual([])
  })

  test('a range can be dragged along, and by its ends', async () => {
    const { page, problems } = await open([exploreTimeline(comparison)])
    await drag(page, 'before', 0.2, 0.4)
    const first = await codeOf(page)
    await drag(page, 'before', 0.3, 0.5)
    const moved = await codeOf(page)
    expect(moved).not.toBe(first)
    await drag(page, 'before', 0.6, 0.8)
    const span = Number(await page.getByLabel('before, to').getAttribute('aria-valuemax'))
    const end = Number(await page.getByLabel('before, to').getAttribute('aria-valuenow'))
    expect(Math.abs(end / span - 0.8)).toBeLessThan(0.01)
    await drag(page, 'before', 0.8, 0.95)
    expect(
      Number(await page.getByLabel('before, to').getAttribute('aria-valuenow')) / span,
    ).toBeCloseTo(0.95, 2)
    await expectAgreement(page)
    expect(problems).toEqual([])
  })

  test('the arrow keys move the ends, Escape selects everything', async () => {
    const { page, problems } = await open([exploreTimeline(comparison)])
    const end = page.getByLabel('after, to')
    const step = timelineModel(dataOf(comparison)).stepUs
    await end.focus()
    const last = Number(await end.getAttribute('aria-valuenow'))
    for (const key of ['ArrowLeft', 'ArrowLeft', 'Shift+ArrowLeft', 'ArrowRight']) {
      await page.keyboard.press(key)
    }
    expect(Number(await end.getAttribute('aria-valuenow'))).toBe(last - 21 * step)
    await expectAgreement(page)
    await page.keyboard.press('Escape')
    expect(await codeOf(page)).toBe('comparison.flows')
    await page.keyboard.press('Tab')
    expect(problems).toEqual([])
  })

  test('filters by where requests begin and by category', async () => {
    const { page, problems } = await open([exploreTimeline(comparison)])
    await drag(page, 'before', 0.2, 0.5)
    for (const group of ['that begin with', 'of a category']) {
      const value = await page
        .locator(`optgroup[label="${group}"] option`)
        .nth(1)
        .getAttribute('value')
      await page.locator('select').selectOption(value)
      expect((await expectAgreement(page)).size).toBeGreaterThan(0)
    }
    expect(problems).toEqual([])
  })

  test('selects the same range in both periods, if asked to', async () => {
    const { page, problems } = await open([exploreTimeline(comparison)])
    await page.getByLabel('same range').check()
    await drag(page, 'after', 0.1, 0.3)
    const [, before, after] =
      /beforeUs: (\[.*?\]), afterUs: (\[.*?\])/.exec(await codeOf(page)) ?? []
    expect(before).toBe(after)
    await expectAgreement(page)
    await page.getByRole('button', { name: 'Select everything' }).click()
    expect(await codeOf(page)).toBe('comparison.flows')
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show, in the dark and where it is narrow', async () => {
    const shops = compareShops({}, { payUs: 2600 })
    const hostile = shops.with({ label: ({ operation }) => `${operation} ${HOSTILE}` })
    const { page, problems } = await open([exploreTimeline(hostile)], { dark: true, width: 500 })
    await page.locator('select').selectOption('root 0')
    expect(pasted(await codeOf(page), hostile).size).toBe(hostile.flows.size)
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('option').nth(1).textContent()).toContain('<img')
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide).toBeLessThanOrEqual(500)
    expect(problems).toEqual([])
  })
})
