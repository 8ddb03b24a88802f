const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => HTML_ENTITIES[character] ?? character)
}

/** Returns JSON for an HTML `<script>`: it cannot close the element, open a comment or end a line. */
export function scriptJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(/[<>&\u2028\u2029]/g, unicodeEscape)
}

/** Returns a character, or one half of it, as code writes it: `\u001b`. */
export function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** A break that nobody sees, and that stops GitHub from reading on. */
const BREAK = '&#8203;'

const MARKUP: Readonly<Record<string, string>> = {
  ...HTML_ENTITIES,
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

export function markdownLink(text: string, url: string): string {
  const address = url.replace(
    /[\s()<>[\]|\\`"]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
  return `[${text}](${address})`
}
