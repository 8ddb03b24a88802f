import { escapeHtml } from '../../core/escape.ts'
import { shortText } from '../../core/shown-text.ts'

/** Markup that is safe to stand in a page. Only {@link html} and {@link trusted} make it. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

/** What {@link html} takes between its parts. */
export type HtmlValue = Html | string | number | readonly HtmlValue[]

/** Names from traces can be megabytes long. */
const LONGEST_TEXT = 2000

/**
 * Markup with values in it. Text is escaped and cut, so that no name from a trace can become
 * markup; lists are put one after the other.
 *
 * @example
 * html`<b>${'a < b'}</b>`.markup // '<b>a &lt; b</b>'
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(
    parts.map((part, i) => part + (i < values.length ? markupOf(values[i] ?? '') : '')).join(''),
  )
}

/** Markup made elsewhere of which the same is known: a chart's SVG. */
export function trusted(markup: string): Html {
  return new Html(markup)
}

/** A name from a trace on one line, at most so long; its middle goes first. */
export function named(text: string, longest = 120): Html {
  return new Html(escapeHtml(shortText(text, longest)))
}

function markupOf(value: HtmlValue): string {
  if (value instanceof Html) return value.markup
  if (typeof value === 'object') return value.map(markupOf).join('')
  return escapeHtml(shortText(String(value), LONGEST_TEXT))
}
