import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { renderSvg, type VegaLiteSpec } from '../charts/chart.ts'
import { sizedSpec } from '../charts/chart-frame.ts'
import { useWidth } from '../drawing/controls.tsx'
import { MediumContext } from '../drawing/figure.tsx'
import {
  type ChartActs,
  type ChartPage,
  type DrawnChart,
  runtimePromise,
} from '../page/page-data.ts'

interface ChartProps extends ChartActs {
  readonly spec: VegaLiteSpec
}

/** Shows a Vega-Lite chart in a widget: by vega-embed in a page, as a picture in a still. */
export function VegaChart(props: ChartProps) {
  const { parts, isStill, width } = useContext(MediumContext)
  const { spec } = props
  // Charts that fit their place declare it.
  if (parts !== null)
    parts.push(stillChart('autosize' in spec ? sizedSpec(spec, width, width) : spec))
  return isStill ? null : <LiveChart {...props} />
}

/** A scrollbar that comes or goes is no reason to draw anew. */
const MIN_CHANGE = 24
/** Trial width beyond any title, so that only the content next to the plots adds to it. */
const TRIAL = 4000

/** Draws a chart as wide as its place: once to learn what its axes take, then in the room left. */
function LiveChart({ spec, ...acts }: ChartProps) {
  const [place, room] = useWidth<HTMLDivElement>()
  const { current: width } = useRef({ room })
  const now = useRef(acts)
  now.current = acts
  if (Math.abs(room - width.room) > MIN_CHANGE) width.room = room
  // Specs are made anew with every rendering; only another chart is drawn again.
  const text = JSON.stringify(spec)
  useLayoutEffect(() => {
    const element = place.current
    let drawn: DrawnChart | undefined
    let isGone = false
    const draw = async () => {
      const page = await runtimePromise<ChartPage>('charts')
      if (element === null || isGone) return
      const { onPick } = now.current
      const sized = (plot: number) => sizedSpec(JSON.parse(text), plot, width.room)
      const aside = document.createElement('div')
      const trial = await page.drawChart(aside, sized(TRIAL))
      const around = Number(aside.querySelector('svg')?.getAttribute('width')) - TRIAL
      trial.remove()
      if (isGone) return
      drawn = await page.drawChart(element, sized(width.room - around), {
        onPick: onPick && ((datum) => now.current.onPick?.(datum)),
      })
      if (isGone) drawn.remove()
    }
    void draw()
    return () => {
      isGone = true
      drawn?.remove()
    }
  }, [text, width.room])
  return <div ref={place} class="fd-chart" />
}

function stillChart(spec: VegaLiteSpec) {
  const svg = renderSvg(spec)
  const [, width = '0'] = /^<svg[^>]* width="([\d.]+)"/.exec(svg) ?? []
  const [, height = '0'] = /^<svg[^>]* height="([\d.]+)"/.exec(svg) ?? []
  return {
    width: Number(width),
    height: Number(height),
    children: <g dangerouslySetInnerHTML={{ __html: svg }} />,
  }
}
