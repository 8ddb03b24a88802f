// Writes the formats of spans into the README's table, from the rows by which they are read: npm run docs.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SPAN_FORMATS } from '../src/traces/readers/span-formats.ts'

export const README = fileURLToPath(new URL('../README.md', import.meta.url))
const START = '<!-- span formats: npm run docs -->\n'
const END = '<!-- end -->'

/** Returns the README with the rows of the formats of spans. */
export function withFormats(readme: string): string {
  const rows = SPAN_FORMATS.map(({ name, by }) => `| \`${name}\` | ${by} |\n`).join('')
  const [before = '', rest = ''] = readme.split(START)
  const after = rest.slice(rest.indexOf(END))
  return `${before}${START}| spans in JSON or CSV | as written by |\n|---|---|\n${rows}${after}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(README, withFormats(readFileSync(README, 'utf8')))
}
