import { escapeHtml } from '../../core/escape.ts'
import { traceLink } from '../../core/trace-links.ts'
import { shortText } from '../../core/words.ts'
import { bareSvg, type Picture } from '../charts/chart.ts'
import { REPORT_STYLE } from './report-style.ts'

/** Markup that is safe to stand in a page. Only {@link html} and {@link trusted} make it. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

export type HtmlValue = Html | string | number | readonly HtmlValue[]

/** Names from traces can be megabytes long. */
const MAX_TEXT_LENGTH = 2000

/** Returns markup with values in it: text is escaped and cut, so names from traces cannot be markup. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(
    parts.map((part, i) => part + (i < values.length ? markupOf(values[i] ?? '') : '')).join(''),
  )
}

export function trusted(markup: string): Html {
  return new Html(markup)
}

export function named(text: string, longest = 120): Html {
  return new Html(escapeHtml(shortText(text, longest)))
}

function markupOf(value: HtmlValue): string {
  if (value instanceof Html) return value.markup
  if (typeof value === 'object') return value.map(markupOf).join('')
  return escapeHtml(shortText(String(value), MAX_TEXT_LENGTH))
}

export interface Column {
  readonly title: string
  readonly amounts?: boolean
  readonly names?: boolean
}

export function amounts(...titles: readonly string[]): readonly Column[] {
  return titles.map((title) => ({ title, amounts: true }))
}

export function htmlTable(
  columns: readonly Column[],
  rows: readonly (readonly HtmlValue[])[],
  { foot = [] }: { readonly foot?: readonly (readonly HtmlValue[])[] } = {},
): Html {
  const cells = (row: readonly HtmlValue[]) =>
    row.map((value, i) => html`<td${classOf(columns[i])}>${value}</td>`)
  const lines = (each: readonly (readonly HtmlValue[])[]) =>
    each.map((row) => html`<tr>${cells(row)}</tr>`)
  return html`<div class="scroll"><table><thead><tr>${columns.map(
    (column) => html`<th scope="col"${classOf(column)}>${column.title}</th>`,
  )}</tr></thead><tbody>${lines(rows)}</tbody>${
    foot.length === 0 ? '' : html`<tfoot>${lines(foot)}</tfoot>`
  }</table></div>`
}

function classOf(column: Column | undefined): Html {
  if (column?.amounts === true) return trusted(' class="amount"')
  return trusted(column?.names === true ? ' class="name"' : '')
}

export function traceIds(ids: readonly string[], template: string | undefined): Html[] {
  return ids.map((id) =>
    template === undefined
      ? html`<code>${id}</code> `
      : html`<a href="${trusted(attribute(traceLink(template, id)))}" rel="noopener noreferrer"><code>${id}</code></a> `,
  )
}

/** Escapes an address for an attribute. It must not be cut like a name, and is otherwise percent-encoded. */
function attribute(url: string): string {
  return url.replace(/&/g, '&amp;').replace(/"/g, '%22').replace(/'/g, '%27').replace(/</g, '%3C')
}

export function figure(chart: Picture, howToRead: string): Html {
  return html`<figure><div class="chart" role="img" aria-label="${`${chart.title}. ${chart.description}`}">${trusted(
    // Text for readers who hear the page stands once, around the picture.
    bareSvg(chart.svg()).replace('<svg ', '<svg aria-hidden="true" focusable="false" '),
  )}</div><figcaption><b>How to read this.</b> ${howToRead}</figcaption></figure>`
}

/** Policy that runs and fetches nothing, even if an escape were missing. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'"

export function reportPage(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${title}</title>
<style>
${trusted(REPORT_STYLE)}
</style>
</head>
<body>
${content}
</body>
</html>
`.markup
}
