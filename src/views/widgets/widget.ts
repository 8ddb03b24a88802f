import { base64OfText } from '../../core/base64.ts'
import { Displayable, type MimeBundle } from '../../core/display.ts'
import { escapeHtml } from '../../core/escape.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { pageData } from '../page/page-data.ts'
import { pagePromise, RUNTIME_MARKS } from '../page/page-promise.ts'

/** What a widget is made of. */
export interface WidgetParts {
  /** Which of the runtime's views shows it. */
  readonly view: string
  readonly title: string
  /** What there is to see and to do, in one sentence. */
  readonly description: string
  /** All that the view needs, as JSON. */
  readonly data: unknown
  /** The widget as it stands where no script runs: an SVG document. */
  readonly picture: () => string
}

/**
 * Something to explore: in a notebook or in a page it answers to the mouse and the keyboard,
 * without a kernel and without the network; where scripts do not run it is a picture, and anywhere
 * else text.
 */
export class Widget extends Displayable {
  readonly view: string
  readonly title: string
  readonly description: string
  readonly data: unknown
  readonly #picture: () => string
  #svg: string | undefined

  constructor({ view, title, description, data, picture }: WidgetParts) {
    super()
    this.view = view
    this.title = title
    this.description = description
    this.data = data
    this.#picture = picture
  }

  /** The widget in its first state as an SVG document. */
  svg(): string {
    this.#svg ??= this.#picture()
    return this.#svg
  }

  displayText(): string {
    return `${this.title}\n${this.description}`
  }

  mimeBundle(): MimeBundle {
    const svg = this.svg()
    return {
      'text/plain': this.displayText(),
      'text/html': widgetHtml(this, svg),
      'image/svg+xml': svg,
    }
  }
}

/** A picture that needs no script, and a script that replaces it once the runtime is there. */
function widgetHtml({ view, title, description, data }: Widget, svg: string): string {
  const packed = pageData(data)
  const id = fingerprint(view + packed)
  const alt = escapeHtml(`${title}. ${description}`)
  const picture = `<img src="data:image/svg+xml;base64,${base64OfText(svg)}" alt="${alt}" style="max-width:100%">`
  const upgrade = `${pagePromise('widgets')}.then((page)=>page.showWidget("${id}","${view}",${packed}))`
  return `<div ${RUNTIME_MARKS.widgets}="${id}">${picture}</div><script type="module">${upgrade}</script>`
}
