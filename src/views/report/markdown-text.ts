import { shortText } from '../../core/words.ts'

/** A break that nobody sees, and that stops GitHub from reading on. */
const BREAK = '&#8203;'

const MARKUP: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '@': `@${BREAK}`,
  '#': `#${BREAK}`,
  $: '<span>$</span>',
}

/** Escapes text for GitHub's Markdown: no markup, link, formula, mention or issue. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[&<>"@#$]/g, (character) => MARKUP[character] as string)
    .replace(/[\\`*_{}[\]|~!]/g, '\\$&')
    .replace(/:\/\//g, `:${BREAK}//`)
    .replace(/\b(www)\./gi, `$1${BREAK}.`)
    .replace(/\b(gh)-(?=\d)/gi, `$1-${BREAK}`)
}

export function written(text: string, longest: number): string {
  return escapeMarkdown(shortText(text, longest))
}

/** Escapes text for Markdown, but keeps plain expressions between backticks as code. */
export function markdownWithCode(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (/^`[\w.:'(){}, -]+`$/.test(part) ? part : escapeMarkdown(part)))
    .join('')
}

export function markdownId(id: string): string {
  return /^[\w.:-]+$/.test(id) ? `\`${id}\`` : escapeMarkdown(id)
}

export function markdownLink(text: string, url: string): string {
  const address = url.replace(
    /[\s()<>[\]|\\`"]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
  return `[${text}](${address})`
}

/** Returns a table; the cells are Markdown already, the first column to the left, the others as `align` says. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  align: readonly ('left' | 'right')[],
): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    line(head),
    line(align.map((side) => (side === 'left' ? '---' : '--:'))),
    ...rows.map(line),
  ]
}
