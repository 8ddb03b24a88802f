import * as vega from 'vega'
import embed, { type VisualizationSpec } from 'vega-embed'
import * as vegaLite from 'vega-lite'
import { closedLoader } from './closed-loader.ts'

/** The little of a page that is used here; the library is compiled without DOM types. */
interface PageElement {
  setAttribute(name: string, value: string): void
  append(child: PageElement): void
  replaceChildren(...children: PageElement[]): void
  remove(): void
}
interface PageDocument {
  querySelectorAll(selector: string): Iterable<PageElement>
  createElement(tag: string): PageElement
}
interface PageGlobal {
  document: PageDocument
  flowdeltaPage: { ready(page: Page): void }
}

/** What the scripts of outputs may call once the runtime is in the page. */
interface Page {
  /** Replaces the pictures of one chart with its interactive view. */
  showChart(id: string, spec: object): Promise<void>
}

const page = globalThis as unknown as PageGlobal

const EMBED_OPTIONS = {
  mode: 'vega-lite',
  renderer: 'svg',
  tooltip: true,
  actions: { export: true, source: false, compiled: false, editor: false },
  vega,
  vegaLite,
  loader: closedLoader(),
} as const

async function showChart(id: string, spec: object): Promise<void> {
  for (const place of await waitForPlaces(id)) {
    place.setAttribute('data-flowdelta-live', '')
    await replacePicture(place, spec)
  }
}

/** The picture stays where it is until the chart is drawn beside it, and for good if it fails. */
async function replacePicture(place: PageElement, spec: object): Promise<void> {
  const view = page.document.createElement('div')
  place.append(view)
  try {
    await embed(view as never, spec as VisualizationSpec, EMBED_OPTIONS as never)
    place.replaceChildren(view)
  } catch (error) {
    view.remove()
    throw error
  }
}

/** Notebooks run a script before its output is attached; look again for a while. */
async function waitForPlaces(id: string): Promise<PageElement[]> {
  const selector = `[data-flowdelta-chart="${id}"]:not([data-flowdelta-live])`
  for (let attempt = 0; attempt < 50; attempt++) {
    const places = [...page.document.querySelectorAll(selector)]
    if (places.length > 0) return places
    await new Promise((later) => setTimeout(later, 100))
  }
  return []
}

page.flowdeltaPage.ready({ showChart })
