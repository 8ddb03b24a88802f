import * as vega from 'vega'
import embed, { type VisualizationSpec } from 'vega-embed'
import * as vegaLite from 'vega-lite'
import type { PageData } from '../page/page-data.ts'
import {
  type ChartPage,
  type DrawnChart,
  type Frame,
  RUNTIME_MARKS,
  runtimePromise,
} from '../page/page-promise.ts'
import { readPageData } from '../page/read-page-data.ts'
import { waitForPlaces } from '../page/wait-for-places.ts'
import { closedLoader } from './closed-loader.ts'
import { renderSvg } from './vega-renderer.ts'

interface OutputPage extends ChartPage {
  showChart(id: string, data: PageData): Promise<void>
}

const EMBED_OPTIONS = {
  mode: 'vega-lite',
  renderer: 'svg',
  tooltip: true,
  actions: { export: true, source: false, compiled: false, editor: false },
  vega,
  vegaLite,
  loader: closedLoader(),
} as const

async function showChart(id: string, data: PageData): Promise<void> {
  const spec = (await readPageData(data)) as VisualizationSpec
  for (const place of await waitForPlaces(RUNTIME_MARKS.charts, id))
    await replacePicture(place, spec)
}

/** The picture stays where it is until the chart is drawn beside it, and for good if it fails. */
async function replacePicture(place: HTMLElement, spec: VisualizationSpec): Promise<void> {
  const view = document.createElement('div')
  place.append(view)
  try {
    await embed(view, spec, EMBED_OPTIONS as never)
    place.replaceChildren(view)
  } catch (error) {
    view.remove()
    throw error
  }
}

async function drawChart(
  element: HTMLElement,
  spec: object,
  onFrame?: (frame: Frame) => void,
): Promise<DrawnChart> {
  const place = document.createElement('div')
  element.append(place)
  const options = { ...EMBED_OPTIONS, actions: false }
  const { finalize, view } = await embed(place, spec as VisualizationSpec, options as never)
  if (onFrame !== undefined) view.addSignalListener('frame', (_, frame) => onFrame(frame as Frame))
  return {
    remove: () => {
      finalize()
      place.remove()
    },
  }
}

// Node has no page and draws its pictures with the same Vega.
if (typeof document === 'undefined') module.exports = { renderSvg }
else runtimePromise<OutputPage>('charts').ready({ showChart, drawChart })
