import { scriptJson } from '../../core/escape.ts'

export type Compressor = (text: string) => string

let compressor: Compressor | undefined

/** Makes `next` compress what pages carry; the notebook layer registers Node's. */
export function setCompressor(next: Compressor | undefined): void {
  compressor = next
}

export type PageData = { readonly json: unknown } | { readonly gzip: string }

/** Shorter data is not worth compressing. */
const SHORTEST = 2000

export function pageData(value: unknown): string {
  const json = scriptJson(value)
  if (compressor === undefined || json.length < SHORTEST) return `{"json":${json}}`
  return `{"gzip":"${compressor(JSON.stringify(value))}"}`
}

export async function readPageData(data: PageData): Promise<unknown> {
  if ('json' in data) return data.json
  const bytes = Uint8Array.from(atob(data.gzip), (character) => character.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(stream).json()
}

export type RuntimeName = 'charts' | 'widgets'

const GLOBALS: Readonly<Record<RuntimeName, string>> = {
  charts: 'flowdeltaCharts',
  widgets: 'flowdeltaWidgets',
}

/**
 * Returns an expression for a promise in the page that the runtime fulfills by `.ready(runtime)`, whichever comes
 * first. Without runtime, outputs keep their picture.
 */
export function pagePromise(runtime: RuntimeName): string {
  const name = GLOBALS[runtime]
  return `(globalThis.${name}??=(()=>{let ready;const page=new Promise((done)=>{ready=done});page.ready=ready;return page})())`
}

export interface RuntimePromise<T> extends Promise<T> {
  ready(page: T): void
}

export function runtimePromise<T>(runtime: RuntimeName): RuntimePromise<T> {
  const page = globalThis as unknown as Record<string, RuntimePromise<T> | undefined>
  const name = GLOBALS[runtime]
  const known = page[name]
  if (known !== undefined) return known
  let ready: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => {
    ready = done
  })
  const made = Object.assign(promise, { ready: (value: T) => ready(value) })
  page[name] = made
  return made
}

export interface DrawnChart {
  remove(): void
}

/** Events of a chart in a page when readers use it. */
export interface ChartActs {
  /** Gets the datum of the mark that is clicked. */
  readonly onPick?: ((datum: Readonly<Record<string, unknown>>) => void) | undefined
}

export interface ChartPage {
  drawChart(element: HTMLElement, spec: object, acts?: ChartActs): Promise<DrawnChart>
}

export const RUNTIME_MARKS: Readonly<Record<RuntimeName, string>> = {
  charts: 'data-flowdelta-chart',
  widgets: 'data-flowdelta-widget',
}

/** Returns the places of an output, each given away once; looks again, as scripts may run before them. */
export async function waitForPlaces(mark: string, id: string): Promise<HTMLElement[]> {
  const selector = `[${mark}="${id}"]:not([data-flowdelta-live])`
  for (let attempt = 0; attempt < 50; attempt++) {
    const places = [...document.querySelectorAll<HTMLElement>(selector)]
    for (const place of places) place.setAttribute('data-flowdelta-live', '')
    if (places.length > 0) return places
    await new Promise((later) => setTimeout(later, 100))
  }
  return []
}
