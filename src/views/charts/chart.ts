import { base64OfText } from '../../core/base64.ts'
import { Displayable, type MimeBundle } from '../../core/display.ts'
import { FlowdeltaError, requireFields } from '../../core/errors.ts'
import { escapeHtml } from '../../core/escape.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { THEME_ATTRIBUTES } from '../page/color-scheme.ts'
import { pageData, pagePromise, RUNTIME_MARKS } from '../page/page-data.ts'
import { DARK_COLORS } from '../page/palette.ts'

/**
 * A Vega-Lite specification. Deliberately loose: flowdelta's own charts are validated against
 * Vega-Lite's schema in tests, and a cell must be able to change any part of one.
 */
export interface VegaLiteSpec {
  $schema?: string
  [property: string]: unknown
}

export type SvgRenderer = (spec: VegaLiteSpec) => string

let renderer: SvgRenderer | undefined

export function setSvgRenderer(next: SvgRenderer | undefined): void {
  renderer = next
}

export function renderSvg(spec: VegaLiteSpec): string {
  if (renderer === undefined) {
    throw new FlowdeltaError(
      'No SVG renderer is loaded. Import flowdelta by its main entry under Node, or give Chart.spec to a Vega-Lite viewer.',
    )
  }
  return renderer(spec)
}

/** The words of a picture, for readers who cannot see it and for text outputs. */
export interface ChartText {
  readonly title: string
  /** Says in one sentence what there is to see. */
  readonly description: string
}

/** A picture with its words: shows itself in a notebook, and as text anywhere else. */
export abstract class Picture extends Displayable {
  readonly title: string
  readonly description: string
  readonly #draw: () => string
  #svg: string | undefined

  /** @param draw gives the SVG document; called once, when it is first asked for */
  constructor(draw: () => string, text: ChartText) {
    super()
    requireFields('new Chart(spec, text)', text, 'title', 'description')
    const { title, description } = text
    this.title = title
    this.description = description
    this.#draw = draw
  }

  /** Draws the picture as an SVG document. */
  svg(): string {
    this.#svg ??= this.#draw()
    return this.#svg
  }

  displayText(): string {
    return `${this.title}\n${this.description}`
  }

  /** Puts an SVG into HTML as an image that is described by the words of the picture. */
  protected image(svg: string): string {
    const alt = escapeHtml(`${this.title}. ${this.description}`)
    return `<img src="data:image/svg+xml;base64,${base64OfText(svg)}" alt="${alt}" style="max-width:100%">`
  }
}

/**
 * A Vega-Lite specification that shows itself: in a notebook as an interactive chart over a static
 * SVG, anywhere else as text.
 *
 * @example
 * new Chart(
 *   { data: { values: [{ a: 1 }] }, mark: 'bar', encoding: { x: { field: 'a', type: 'quantitative' } } },
 *   { title: 'One bar', description: 'A bar of length 1.' },
 * ).title // 'One bar'
 */
export class Chart extends Picture {
  /** The plain Vega-Lite specification, to be copied or changed. */
  readonly spec: VegaLiteSpec

  /** The SVG needs a renderer, which the Node entry point registers. */
  constructor(spec: VegaLiteSpec, text: ChartText) {
    super(() => renderSvg({ description: text.description, ...spec }), text)
    this.spec = spec
  }

  mimeBundle(): MimeBundle {
    const spec = { description: this.description, ...this.spec }
    const svg = this.svg()
    const data = pageData(spec)
    const id = fingerprint(data)
    // The picture needs no script; the script replaces it once the page has the runtime.
    const upgrade = `${pagePromise('charts')}.then((page)=>page.showChart("${id}",${data}))`
    return {
      'text/plain': this.displayText(),
      'text/html': `<div ${RUNTIME_MARKS.charts}="${id}" style="overflow-x:auto">${this.image(bareSvg(svg))}</div><script type="module">${upgrade}</script>`,
      'image/svg+xml': svg,
      'application/vnd.vegalite.v5+json': spec,
    }
  }
}

/**
 * Puts the SVG itself where its picture is, so that the pointer finds the titles in it, in the colors of
 * the page behind it, as `schemeOf` tells them; needs no runtime. The classic Notebook runs scripts
 * elsewhere than they stand: there the picture stays.
 */
const INLINE = `{
const img=document.currentScript?.previousElementSibling
const dark=${JSON.stringify(Object.fromEntries(DARK_COLORS))}
const isDark=(e)=>{
for(;e;e=e.parentElement){const[r,g,b,a=1]=getComputedStyle(e).backgroundColor.match(/[\\d.]+/g)??[0,0,0,0];if(a>.5)return +r+ +g+ +b<383}
return getComputedStyle(document.documentElement).colorScheme.includes('dark')&&matchMedia('(prefers-color-scheme: dark)').matches}
if(img?.matches('img[src^="data:"]')){
const place=img.parentElement,svg=new TextDecoder().decode(Uint8Array.from(atob(img.src.split(',')[1]),(c)=>c.charCodeAt(0)))
const draw=()=>{place.innerHTML=isDark(place)?svg.replace(/#[\\dA-F]{6}/g,(c)=>dark[c]??c):svg}
draw()
matchMedia('(prefers-color-scheme: dark)').addEventListener('change',draw)
const themes=new MutationObserver(draw)
for(const e of [document.documentElement,document.body])themes.observe(e,{attributeFilter:${JSON.stringify(THEME_ATTRIBUTES)}})
}}`

/**
 * A node-link or tree drawing: an SVG that shows itself in a notebook, and as text anywhere else.
 *
 * @example
 * new Drawing(() => '<svg xmlns="http://www.w3.org/2000/svg"/>', {
 *   title: 'Nothing',
 *   description: 'An empty drawing.',
 * }).title // 'Nothing'
 */
export class Drawing extends Picture {
  mimeBundle(): MimeBundle {
    const svg = this.svg()
    return {
      'text/plain': this.displayText(),
      'text/html': `<div style="overflow-x:auto">${this.image(svg)}<script>${INLINE}</script></div>`,
      'image/svg+xml': svg,
    }
  }
}

const GEOMETRY = /( (?:d|transform|x|y|x1|x2|y1|y2|width|height)=")([^"]*)/g

/** Returns an SVG without words for readers of each mark, and with places to a hundredth of a pixel. */
export function bareSvg(svg: string): string {
  return svg
    .replace(/ (?:aria-[a-z]+|role)="[^"]*"/g, '')
    .replace(
      GEOMETRY,
      (_, name: string, value: string) => name + value.replace(/(\.\d\d)\d+/g, '$1'),
    )
}
