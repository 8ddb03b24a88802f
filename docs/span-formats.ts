// npm run docs: writes the table of docs/formats.md from the rows by which formats are read.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SPAN_FORMATS } from '../src/traces/readers/span-formats.ts'

export const FORMATS_PAGE = fileURLToPath(new URL('./formats.md', import.meta.url))
const START = '<!-- span formats: npm run docs -->\n'
const END = '<!-- end -->'

/** Returns the page with one row for each format of spans. */
export function withFormats(page: string): string {
  const rows = SPAN_FORMATS.map(({ name, by }) => `| \`${name}\` | ${by} |\n`).join('')
  const [before = '', rest = ''] = page.split(START)
  const after = rest.slice(rest.indexOf(END))
  return `${before}${START}| format of spans in JSON or CSV | source |\n|---|---|\n${rows}${after}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(FORMATS_PAGE, withFormats(readFileSync(FORMATS_PAGE, 'utf8')))
}
