import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Comparison } from '../../../src/comparison/comparison.ts'
import { AFTER, BEFORE, FlowSet, type Period } from '../../../src/flows/flow-set.ts'
import { explore } from '../../../src/views/explore.ts'
import {
  numberCode,
  rangeBetween,
  rateText,
  summarizeRange,
  timelineCode,
  timelineModel,
  withEnd,
} from '../../../src/views/widgets/timeline/timeline-model.tsx'
import { densityPaths, timeBins } from '../../../src/views/widgets/timeline/timeline-widget.tsx'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { comparison, dataOf, pasted } from './timeline-fixture.ts'

/** Requests of category 0 with a start and a response time each. */
const arrivals = (times: readonly (readonly [startUs: number, timeUs: number])[]) =>
  times.map(([startUs, timeUs]) => ({ startUs, timeUs, category: 0 }))

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

  test('keep their ends in order', () => {
    expect(withEnd(span, [20, 40], { end: 0, timeUs: 90 })).toEqual([35, 40])
    expect(withEnd(span, null, { end: 1, timeUs: 60 })).toEqual([0, 60])
  })
})

describe('code', () => {
  const data = dataOf(comparison)

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
    expect(timelineCode(data, {}, 'comparison')).toBe('comparison.flows')
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
      timelineCode(
        data,
        { beforeUs: ranges[0], afterUs: ranges[1], category: largest },
        'comparison',
      ),
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
    const root = pasted(timelineCode(data, { root: 1 }, 'comparison'))
    expect(new Set(root.table().array('root'))).toEqual(new Set([data.roots[1]]))
    expect(root.size).toBeGreaterThan(0)
  })

  test.each([HOSTILE, 'a\u202eb', "it's\\", 'long '.repeat(100)])(
    'works for the name %j',
    (name) => {
      const shops = compareShops({}, {})
      const hostile = shops.with({ label: ({ operation }) => operation + name })
      const code = timelineCode(dataOf(hostile), { root: 0 }, 'comparison')
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
        timelineCode(dataOf(comparison), { beforeUs: range, afterUs: range }, 'comparison'),
      )
      const found = summarizeRange(model.requests[0], range, model.requests[0])
      expect(found.requests).toBe(selected.count(BEFORE))
      const times = selected.responseTimeUs.slice(0, found.requests)
      const mean = times.reduce((sum, time) => sum + time, 0) / times.length
      expect(Math.abs(found.meanUs / mean - 1)).toBeLessThan(1e-4)
    }
  })

  test('rates count only time in which there were requests', () => {
    const requests = arrivals([
      [0, 3],
      [1e6, 1],
      [2e6, 2],
    ])
    expect(summarizeRange(requests, [1e6, 9e6], requests)).toEqual({
      requests: 2,
      all: 3,
      perSecond: 2,
      meanUs: 1.5,
      medianUs: 1.5,
    })
    const none = summarizeRange(requests, [5e6, 9e6], requests)
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
  const requests = arrivals([
    [0, 0],
    [10, 50],
    [10, 50],
    [95, 100],
  ])

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
    const bins = timeBins(requests, { spanUs: [0, 96], binUs: 20 })
    expect(bins.map(({ length }) => length)).toEqual([3, 0, 0, 0, 1])
  })
})

describe('what goes into a page', () => {
  test('20,000 requests take less than 600 kB, with those that it compares anew and its picture', () => {
    const { flows } = comparison
    expect(flows.size).toBe(20_000)
    const widget = explore(comparison, 'timeline')
    const packed = (gzipSync(JSON.stringify(widget.data)).length * 4) / 3
    expect(packed + (widget.svg().length * 4) / 3).toBeLessThan(600_000)
  })

  test('requests whose times are no numbers are left out', () => {
    const { flows: recorded, runs, after, options } = compareShops({}, { stockUs: 3000 })
    const { ids, shapes, startUs } = recorded
    const flows = new FlowSet(
      { ...recorded, startUs: startUs.with(0, Number.NaN), ids, shapes },
      recorded.options,
      recorded.report,
    )
    const broken = new Comparison({ runs, after }, options, { flows })
    expect(timelineModel(dataOf(broken)).requests[0].length).toBe(299)
  })

  test('the picture says what is selected', () => {
    const svg = explore(comparison, 'timeline', { afterUs: [0, 2e6], category: 3 }).svg()
    expect(svg).toContain('from 0 to 2 s')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('options are checked', () => {
    expect(() => explore(comparison, 'timeline', { beforeUs: [2, 1] })).toThrow(
      'beforeUs is [2, 1]',
    )
    expect(() =>
      explore(comparison, 'timeline', { afterUs: [0, Number.POSITIVE_INFINITY] }),
    ).toThrow('finite')
    expect(() => explore(comparison, 'timeline', { category: 1e6 })).toThrow('category')
    expect(() => explore(comparison, 'timeline', { range: 3 } as never)).toThrow('range')
  })
})
