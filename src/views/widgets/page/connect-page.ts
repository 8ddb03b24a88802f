import { closedLoader, drawChart } from '../../page/draw-chart.ts'
import { type ChartPage, runtimePromise } from '../../page/page-data.ts'
import { addTheme } from './theme.ts'

/**
 * Lets `toElement` draw in this page: stands in for `connect.ts` where the library is bundled for
 * browsers. Charts need the packages vega, vega-lite and vega-embed, which load with the first.
 */
export function connectNotebook(): void {
  if (typeof document === 'undefined') return
  addTheme()
  runtimePromise<ChartPage>('charts').ready({
    drawChart: async (...call) => {
      const [{ default: embed }, { loader }] = await Promise.all([
        import('vega-embed'),
        import('vega'),
      ])
      const options = { mode: 'vega-lite', renderer: 'svg', loader: closedLoader(loader) }
      return drawChart(embed, options, ...call)
    },
  })
}
