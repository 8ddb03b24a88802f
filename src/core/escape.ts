const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * `text` as it may stand in HTML text and in quoted attributes.
 *
 * @example
 * escapeHtml('a < b') // 'a &lt; b'
 */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => HTML_ENTITIES[character] ?? character)
}

/**
 * `value` as JSON that may stand inside an HTML `<script>`: it cannot close the element, open a
 * comment, or end a line of JavaScript.
 *
 * @example
 * scriptJson('</script>') // '"\\u003c/script\\u003e"'
 */
export function scriptJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
