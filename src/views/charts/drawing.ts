import { base64OfText } from '../../core/base64.ts'
import { Displayable, type MimeBundle } from '../../core/display.ts'
import { escapeHtml } from '../../core/escape.ts'
import type { ChartText } from './chart.ts'

/** Puts the SVG itself where its picture is, so that the pointer finds the titles in it. */
const INLINE = `{const img=document.currentScript?.previousElementSibling;if(img)img.outerHTML=new TextDecoder().decode(Uint8Array.from(atob(img.src.split(',')[1]),(c)=>c.charCodeAt(0)))}`

/**
 * A node-link or tree drawing: an SVG that shows itself in a notebook, and as text anywhere else.
 *
 * @example
 * new Drawing(() => '<svg xmlns="http://www.w3.org/2000/svg"/>', {
 *   title: 'Nothing',
 *   description: 'An empty drawing.',
 * }).title // 'Nothing'
 */
export class Drawing extends Displayable {
  readonly title: string
  readonly description: string
  readonly #draw: () => string
  #svg: string | undefined

  /** @param draw gives the SVG document; called once, when it is first asked for */
  constructor(draw: () => string, { title, description }: ChartText) {
    super()
    this.title = title
    this.description = description
    this.#draw = draw
  }

  /** The drawing as an SVG document. */
  svg(): string {
    this.#svg ??= this.#draw()
    return this.#svg
  }

  displayText(): string {
    return `${this.title}\n${this.description}`
  }

  mimeBundle(): MimeBundle {
    const svg = this.svg()
    const alt = escapeHtml(`${this.title}. ${this.description}`)
    const picture = `<img src="data:image/svg+xml;base64,${base64OfText(svg)}" alt="${alt}" style="max-width:100%">`
    return {
      'text/plain': this.displayText(),
      'text/html': `<div style="overflow-x:auto">${picture}<script>${INLINE}</script></div>`,
      'image/svg+xml': svg,
    }
  }
}
