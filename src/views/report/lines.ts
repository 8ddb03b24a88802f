import { escapeHtml, escapeMarkdown, markdownLink } from '../../core/escape.ts'
import { shortText } from '../../core/words.ts'

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
    .split(/(`[^`]*`)/)
    .map((part) =>
      CODE.test(part.slice(1, -1)) && part.startsWith('`')
        ? looking('code', part.slice(1, -1))
        : part,
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
    const said =
      tag !== undefined
        ? `<${tag}>${plain}</${tag}>`
        : look === undefined
          ? plain
          : `<span class="${look}">${plain}</span>`
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
