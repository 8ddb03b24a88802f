import { escapeHtml, escapeMarkdown, markdownLink } from '../../core/escape.ts'
import { shortText, spoken } from '../../core/words.ts'
import { bareSvg, type Picture } from '../charts/chart.ts'

/** Part of a line that is cut at a length, has a look or leads to an address. */
export interface Phrase {
  readonly text: string
  /** Most characters. */
  readonly longest?: number
  /** `strong`, `em`, `code`, or a class of the page's style. */
  readonly look?: string
  /** Address of a page, or `#id` of a block of the same report. */
  readonly href?: string
}

/** A line of text; names from traces may stand in it, because formats escape all text. */
export type Line = string | number | Phrase | readonly Line[]

export function named(text: string, longest = 120): Phrase {
  return { text, longest }
}

export function looking(look: string, text: string): Phrase {
  return { text, look }
}

/** Text that may stand between backticks in Markdown. */
const CODE = /^[\w.:'(){}, =-]+$/

/** Returns text whose expressions between backticks are code. */
export function withCode(text: string): Line {
  return text
    .split(/`([^`]*)`/)
    .map((part, i) =>
      i % 2 === 0 ? part : CODE.test(part) ? looking('code', part) : `\`${part}\``,
    )
}

/** Returns lines as one, with a text between them. */
export function joined(lines: readonly Line[], separator: string): Line {
  return lines.map((line, i) => (i === 0 ? line : [separator, line]))
}

/** Names from traces can be megabytes long. */
const MAX_TEXT_LENGTH = 2000

/** Writes each phrase of a line; spaces at the ends of its text stay. */
function written(line: Line, write: (text: string, phrase: Phrase) => string): string {
  if (typeof line === 'number') return String(line)
  const phrase = typeof line === 'string' ? { text: line } : line
  if (!('text' in phrase)) return phrase.map((part) => written(part, write)).join('')
  const { text, longest = MAX_TEXT_LENGTH } = phrase
  const [before, after] = [text.startsWith(' '), text.trimEnd() !== text]
  const short = shortText(text, longest)
  return write(
    short === '' ? text.slice(0, 1) : `${before ? ' ' : ''}${short}${after ? ' ' : ''}`,
    phrase,
  )
}

/** Writes a line for a page. Text is escaped, so that names from traces cannot be markup. */
export function lineHtml(line: Line): string {
  return written(line, (text, { look, href }) => {
    const tag = { strong: 'strong', code: 'code', em: 'i' }[look ?? '']
    const plain = escapeHtml(text)
    const marked = look === undefined ? plain : `<span class="${look}">${plain}</span>`
    const said = tag === undefined ? marked : `<${tag}>${plain}</${tag}>`
    if (href === undefined) return said
    const rel = href.startsWith('#') ? '' : ' rel="noopener noreferrer"'
    return `<a href="${attribute(href)}"${rel}>${said}</a>`
  })
}

/** Escapes an address for an attribute. It must not be cut like a name, and is otherwise percent-encoded. */
function attribute(url: string): string {
  return url.replace(/&/g, '&amp;').replace(/"/g, '%22').replace(/'/g, '%27').replace(/</g, '%3C')
}

/** Writes a line for GitHub's Markdown. No name from a trace can mention anybody, refer to an issue or be markup. */
export function lineMarkdown(line: Line): string {
  return written(line, (text, { look, href = '#' }) => {
    const mark = { strong: '**', em: '*' }[look ?? ''] ?? ''
    const isCode = look === 'code' && CODE.test(text)
    const said = isCode ? `\`${text}\`` : `${mark}${escapeMarkdown(text)}${mark}`
    return href.startsWith('#') ? said : markdownLink(said, href)
  })
}

/** Part of a report, and how each format writes it. */
export interface Block {
  readonly html: string
  readonly markdown: string
}

/** Blocks in their order; conditions that do not hold leave `false` among them. */
export type Blocks = readonly (Block | Blocks | false)[]

function flat(blocks: Blocks): Block[] {
  return blocks.flatMap((block) => (block === false ? [] : 'html' in block ? block : flat(block)))
}

export function htmlOf(blocks: Blocks): string {
  return flat(blocks)
    .map(({ html }) => html)
    .join('\n')
}

export function markdownOf(blocks: Blocks): string {
  return spoken(flat(blocks).map(({ markdown }) => markdown)).join('\n\n')
}

/** Block of pages alone: comments are brief. */
function ofPage(html: string): Block {
  return { html, markdown: '' }
}

export function heading(level: 1 | 3 | 4, line: Line): Block {
  return ofPage(`<h${level}>${lineHtml(line)}</h${level}>`)
}

export function text(line: Line, look?: string): Block {
  return { html: `<p${classed(look)}>${lineHtml(line)}</p>`, markdown: lineMarkdown(line) }
}

/** Says how to read the block before it. */
export function reading(line: Line): Block {
  const html = `<p class="soft"><b>How to read this.</b> ${lineHtml(line)}</p>`
  return { html, markdown: lineMarkdown(line) }
}

/** Bar whose length is a share of the longest one in its column. */
interface Bar {
  readonly share: number
  /** Class of the page's style. */
  readonly bar: string
}

type Cell = Line | Bar

/** Title of a column; names may be broken anywhere, amounts stand to the right, bars are of pages alone. */
export interface Column {
  readonly title: string
  readonly of?: 'name' | 'amount' | 'bar'
}

export function names(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title, of: 'name' }))
}

export function amounts(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title, of: 'amount' }))
}

/** Table; the rows of `foot` add up the others. A column that is given as a string has text. */
export function table(
  head: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  foot: readonly (readonly Cell[])[] = [],
): Block {
  const columns = head.map((each): Column => (typeof each === 'string' ? { title: each } : each))
  const classOf = (at: number) => {
    const of = columns[at]?.of
    return classed(of === 'bar' ? undefined : of)
  }
  const td = (cell: Cell, at: number) => {
    const html = isBar(cell)
      ? `<span class="bar ${cell.bar}" style="width:${Math.round(100 * cell.share)}px"></span>`
      : lineHtml(cell)
    return `<td${classOf(at)}>${html}</td>`
  }
  const trs = (each: typeof rows) => each.map((row) => `<tr>${row.map(td).join('')}</tr>`).join('')
  const ths = columns.map(
    ({ title }, at) => `<th scope="col"${classOf(at)}>${lineHtml(title)}</th>`,
  )
  const tfoot = foot.length === 0 ? '' : `<tfoot>${trs(foot)}</tfoot>`
  const row = (cells: readonly string[]) =>
    `| ${cells.filter((_, at) => columns[at]?.of !== 'bar').join(' | ')} |`
  return {
    html: `<div class="scroll"><table><thead><tr>${ths.join('')}</tr></thead><tbody>${trs(rows)}</tbody>${tfoot}</table></div>`,
    markdown: [
      row(columns.map(({ title }) => lineMarkdown(title))),
      row(columns.map(({ of }) => (of === 'amount' ? '--:' : '---'))),
      ...[...rows, ...foot].map((cells) =>
        row(cells.map((cell) => (isBar(cell) ? '' : lineMarkdown(cell)))),
      ),
    ].join('\n'),
  }
}

function isBar(cell: Cell): cell is Bar {
  return typeof cell === 'object' && 'bar' in cell
}

interface ListOptions {
  readonly isOrdered?: boolean
  /** Spaces before the entries of a comment that belong below others. */
  readonly indents?: readonly string[]
}

export function list(items: readonly Line[], { isOrdered, indents = [] }: ListOptions = {}): Block {
  const lis = items.map((item) => `<li>${lineHtml(item)}</li>`).join('')
  const lines = items.map(
    (item, i) => `${indents[i] ?? ''}${isOrdered ? `${i + 1}.` : '-'} ${lineMarkdown(item)}`,
  )
  return { html: isOrdered ? `<ol>${lis}</ol>` : `<ul>${lis}</ul>`, markdown: lines.join('\n') }
}

/** Says of both periods what is known. */
export function periods(lines: Readonly<Partial<Record<'before' | 'after', string>>>): Block {
  const terms = Object.entries(lines).map(
    ([name, line]) => `<dt class="${name}">${name}</dt><dd>${lineHtml(line)}</dd>`,
  )
  return ofPage(`<dl class="periods">${terms.join('')}</dl>`)
}

interface WarningItem {
  readonly code: string
  readonly finding: string
  /** Its effect, and what to do. */
  readonly detail?: string
}

const MAX_WARNING_LENGTH = 600

/** Warnings, with their details folded; `left` more are not among them. */
export function warnings(items: readonly WarningItem[], left = 0): Block {
  const title = 'Is this comparison fair?'
  const lis = items.map(({ code, finding, detail }): string => {
    const [said, coded] = [lineHtml(withCode(finding)), `<span class="soft">(${code})</span>`]
    if (detail === undefined) return `<li>${said} ${coded}</li>`
    return `<li><details><summary>${said}</summary>${lineHtml(withCode(detail))} ${coded}</details></li>`
  })
  const brief = (said: string) => withCode(shortText(said, MAX_WARNING_LENGTH))
  const meanings = items.flatMap(({ code, detail }): Line[] =>
    detail === undefined ? [] : [[looking('strong', code), ': ', brief(detail)]],
  )
  const quoted = [
    '[!WARNING]',
    `**${title}**`,
    ...items.map(({ finding }) => `- ${lineMarkdown(brief(finding))}`),
    ...(left > 0 ? [`- … and ${left} more`] : []),
  ].map((line) => `> ${line}`)
  const none = '<p>No warnings: nothing suggests an unfair comparison.</p>'
  return {
    html: `<section><h2>${title}</h2>${items.length === 0 ? none : `<ul class="warnings">${lis.join('')}</ul>`}</section>`,
    markdown: markdownOf([
      { html: '', markdown: quoted.join('\n') },
      meanings.length > 0 && fold('What the warnings mean', [list(meanings)]),
    ]),
  }
}

/** Picture for pages, drawn when one is written. */
export function picture(of: Picture, howToRead: string): Block {
  return {
    get html() {
      const label = lineHtml(`${of.title}. ${of.description}`)
      // Text for readers who hear the page stands once, around the picture.
      const svg = bareSvg(of.svg()).replace('<svg ', '<svg aria-hidden="true" focusable="false" ')
      return `<figure><div class="chart" role="img" aria-label="${label}">${svg}</div><figcaption><b>How to read this.</b> ${lineHtml(howToRead)}</figcaption></figure>`
    },
    markdown: '',
  }
}

/** Lines of characters of one width, for comments, which show no pictures. */
export function drawn(lines: readonly string[]): Block {
  // Breaks mentions and references, which some hosts find even within code.
  const unbroken = lines.map((line) => line.replace(/[@#](?=\w)/g, '$&\u200b'))
  return { html: '', markdown: ['```', ...unbroken, '```'].join('\n') }
}

/** Blocks that a reader opens; nothing where there are none. */
export function fold(title: string, blocks: Blocks): Block | false {
  if (flat(blocks).length === 0) return false
  return {
    html: `<details><summary>${lineHtml(title)}</summary>${htmlOf(blocks)}</details>`,
    markdown: `<details><summary>${lineMarkdown(title)}</summary>\n\n${markdownOf(blocks)}\n\n</details>`,
  }
}

/** Blocks below a title; nothing where there are none. */
export function section(title: string, blocks: Blocks, id?: string): Block | false {
  if (flat(blocks).length === 0) return false
  return ofPage(`<section${identified(id)}><h2>${lineHtml(title)}</h2>${htmlOf(blocks)}</section>`)
}

/** Blocks about one thing that others refer to. */
export function article(id: string, look: string, blocks: Blocks): Block {
  return ofPage(`<article class="${look}"${identified(id)}>\n${htmlOf(blocks)}\n</article>`)
}

function classed(name: string | undefined): string {
  return name === undefined ? '' : ` class="${name}"`
}

function identified(id: string | undefined): string {
  return id === undefined ? '' : ` id="${id}"`
}
