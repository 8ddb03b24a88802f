import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { arrivalsChart } from '../../../src/views/charts/arrivals.ts'
import type { Chart } from '../../../src/views/charts/chart.ts'
import { makeSpans, requestsAt } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { dataOf, expectDrawable, type Row } from '../../views/charts/fixture.ts'

const arrivals = (rows: readonly Row[] = []) =>
  rows.reduce((sum, row) => sum + Number(row['arrivals']), 0)
const ends = (rows: readonly Row[] = []) => Math.max(...rows.map((row) => Number(row['toUs'])))
/** The rows of the two panels that show the range, below the overviews. */
const panels = (chart: Chart) => dataOf(chart).slice(-2)

/** One request every `everyUs` for 10 s, but for a second without any. */
const steady = (everyUs: number, silentFromUs = Number.POSITIVE_INFINITY) =>
  makeSpans(
    requestsAt(
      Array.from({ length: 1e7 / everyUs }, (_, i) => i * everyUs).filter(
        (us) => us < silentFromUs || us >= silentFromUs + 1e6,
      ),
    ),
  )

describe('a range that was asked for is drawn whole', () => {
  test('as a density where it holds more requests than are drawn one by one', () => {
    const { flows } = compare(steady(2000), steady(2000, 2e6))
    const chart = arrivalsChart(flows, { rangeUs: [1e6, 4e6] })
    const [before, after] = panels(chart)
    expect([arrivals(before), arrivals(after)]).toEqual([1501, 1001])
    expect([ends(before), ends(after)]).toEqual([4e6, 4e6])
    // The silence of after, and no other.
    expect(before?.length).toBe(240)
    expect(after?.length).toBe(160)
    expect(chart.description).toContain('Each bar counts the requests that arrive within 12.5 ms')
    expect(chart.description).toContain('Drawn: 1 s to 4 s (framed in the overview)')
    expectDrawable(chart)
  })

  test('also where one period alone holds more, and where the range is all there is', () => {
    const { flows } = compare(steady(100_000), steady(20_000))
    const chart = arrivalsChart(flows, { rangeUs: [0, 1e7] })
    expect(panels(chart).map(arrivals)).toEqual([100, 500])
    expect(chart.description).toContain('more than 400 requests of a period')
    expect(chart.description).not.toContain('Drawn')
    expectDrawable(chart)
  })

  test('one by one where the limit allows', () => {
    const { flows } = compare(steady(2000), steady(2000))
    const chart = arrivalsChart(flows, { rangeUs: [0, 5e6], limit: 3000 })
    expect(panels(chart).map((rows) => rows.length)).toEqual([2501, 2501])
    expect(chart.description).toContain('Each rectangle is a request')
  })
})

describeWithShared('the recorded case arrivals-range', () => {
  test('its first 5 s are full of requests', async () => {
    const load = (name: string) =>
      loadTraces(sharedFile(`cases/papers/arrivals-range/${name}.dot.gz`) as string, { name })
    const { flows } = compare(await load('before'), await load('after'))
    const chart = arrivalsChart(flows, { rangeUs: [0, 5_000_000] })
    const [before, after] = panels(chart)
    expect([arrivals(before), arrivals(after)]).toEqual([1003, 1075])
    expect([ends(before), ends(after)]).toEqual([5e6, 5e6])
  })
})
