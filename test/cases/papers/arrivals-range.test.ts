import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { arrivalsChart } from '../../../src/views/charts/arrivals.ts'
import type { Chart } from '../../../src/views/charts/chart.ts'
import { makeSpans, requestsAt } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { dataOf, expectDrawable, type Row } from '../../views/charts/fixture.ts'

const arrivals = (rows: readonly Row[] = []) =>
  rows.reduce((sum, row) => sum + Number(row['arrivals']), 0)
const ends = (rows: readonly Row[] = []) => Math.max(...rows.map((row) => Number(row['toUs'])))
/** The bars of both periods. */
const panels = (chart: Chart) => [dataOf(chart)[0], dataOf(chart)[3]]

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
  test('with bars for all that arrive in it', () => {
    const { flows } = compare(steady(2000), steady(2000, 2e6))
    const chart = arrivalsChart(flows, { rangeUs: [1e6, 4e6] })
    const [before, after] = panels(chart)
    expect([arrivals(before), arrivals(after)]).toEqual([1501, 1001])
    expect([ends(before), ends(after)]).toEqual([4e6, 4e6])
    // The silence of after, and no other.
    expect(before?.length).toBe(100)
    expect(after?.length).toBe(68)
    expect(chart.description).toContain('Longest pause without requests: before 1 ms')
    expectDrawable(chart)
  })

  test('also where one period alone holds more, and where the range is all there is', () => {
    const { flows } = compare(steady(100_000), steady(20_000))
    const chart = arrivalsChart(flows, { rangeUs: [0, 1e7] })
    expect(panels(chart).map(arrivals)).toEqual([100, 500])
    expectDrawable(chart)
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
