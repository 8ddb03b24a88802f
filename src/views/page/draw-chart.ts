import type { Loader, loader } from 'vega'
import type { EmbedOptions, default as embed, Result, VisualizationSpec } from 'vega-embed'
import { schemeOf, watchScheme } from './color-scheme.ts'
import type { ChartPage, DrawnChart } from './page-data.ts'
import { themedSpec } from './palette.ts'

export async function drawChart(
  draw: typeof embed,
  options: object,
  ...[element, spec, { onPick } = {}]: Parameters<ChartPage['drawChart']>
): Promise<DrawnChart> {
  const place = document.createElement('div')
  element.append(place)
  const own = { draw, options: { ...options, actions: false }, place }
  const remove = await drawThemed(own, spec as VisualizationSpec, (view) => {
    view.addEventListener('click', (_, item) => {
      if (item?.datum !== undefined) onPick?.(item.datum)
    })
  })
  return {
    remove: () => {
      remove()
      place.remove()
    },
  }
}

interface ChartPlace {
  readonly draw: typeof embed
  readonly options: object
  readonly place: HTMLElement
}

/** Draws a chart in the colors of its page, anew whenever these change; the answer lets go of it. */
export async function drawThemed(
  { draw, options, place }: ChartPlace,
  spec: VisualizationSpec,
  onView: (view: Result['view']) => void = () => {},
): Promise<() => void> {
  const embedded = async () => {
    const theme = schemeOf(place)
    const themed = themedSpec(spec, theme) as VisualizationSpec
    const result = await draw(place, themed, { ...options, tooltip: { theme } } as EmbedOptions)
    onView(result.view)
    return result
  }
  let isGone = false
  let drawing = embedded()
  await drawing
  const stop = watchScheme(place, () => {
    drawing = drawing.then(async (known) => {
      if (isGone) return known
      known.finalize()
      return embedded()
    })
  })
  return () => {
    isGone = true
    stop()
    void drawing.then(({ finalize }) => finalize())
  }
}

/** Charts carry their data; nothing in one may reach for a file or the network. */
export function closedLoader(makeLoader: typeof loader): Loader {
  const closed = makeLoader()
  closed.load = (uri) => Promise.reject(new Error(`A chart may not load ${uri}`))
  return closed
}
