import * as vega from 'vega'
import embed, { type VisualizationSpec } from 'vega-embed'
import * as vegaLite from 'vega-lite'
import { closedLoader, drawChart, drawThemed } from '../page/draw-chart.ts'
import {
  type ChartPage,
  type PageData,
  RUNTIME_MARKS,
  readPageData,
  runtimePromise,
  waitForPlaces,
} from '../page/page-data.ts'
import { renderSvg } from './vega-renderer.ts'

interface OutputPage extends ChartPage {
  showChart(id: string, data: PageData): Promise<void>
}

const EMBED_OPTIONS = {
  mode: 'vega-lite',
  renderer: 'svg',
  actions: { export: true, source: false, compiled: false, editor: false },
  vega,
  vegaLite,
  loader: closedLoader(vega.loader),
} as const

async function showChart(id: string, data: PageData): Promise<void> {
  const spec = (await readPageData(data)) as VisualizationSpec
  for (const place of await waitForPlaces(RUNTIME_MARKS.charts, id))
    await replacePicture(place, spec)
}

/** Keeps the picture in place until the chart is drawn next to it, and for good if that fails. */
async function replacePicture(place: HTMLElement, given: VisualizationSpec): Promise<void> {
  const view = document.createElement('div')
  place.append(view)
  const spec = fitted(given, place.clientWidth)
  try {
    await drawThemed({ draw: embed, options: EMBED_OPTIONS, place: view }, spec)
    place.replaceChildren(view)
  } catch (error) {
    view.remove()
    throw error
  }
}

function fitted(spec: VisualizationSpec, room: number): VisualizationSpec {
  if (!('autosize' in spec && 'width' in spec && typeof spec.width === 'number')) return spec
  return { ...spec, width: Math.min(spec.width, room || spec.width) }
}

// Node has no page and draws its pictures with the same Vega.
if (typeof document === 'undefined') module.exports = { renderSvg }
else
  runtimePromise<OutputPage>('charts').ready({
    showChart,
    drawChart: (...call) => drawChart(embed, EMBED_OPTIONS, ...call),
  })
