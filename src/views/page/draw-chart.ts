import type { Loader, loader } from 'vega'
import type { EmbedOptions, default as embed, VisualizationSpec } from 'vega-embed'
import type { ChartPage, DrawnChart, Frame } from './page-promise.ts'

export async function drawChart(
  draw: typeof embed,
  options: object,
  ...[element, spec, onFrame]: Parameters<ChartPage['drawChart']>
): Promise<DrawnChart> {
  const place = document.createElement('div')
  element.append(place)
  const own = { ...options, actions: false } as EmbedOptions
  const { finalize, view } = await draw(place, spec as VisualizationSpec, own)
  if (onFrame !== undefined) view.addSignalListener('frame', (_, frame) => onFrame(frame as Frame))
  return {
    remove: () => {
      finalize()
      place.remove()
    },
  }
}

/** Charts carry their data; nothing in one may reach for a file or the network. */
export function closedLoader(makeLoader: typeof loader): Loader {
  const closed = makeLoader()
  closed.load = (uri) => Promise.reject(new Error(`A chart may not load ${uri}`))
  return closed
}
