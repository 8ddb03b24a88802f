// Writes docs/log-formats.md from the samples that tests read: npm run docs.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type FormatSample, SAMPLE_GROUPS } from '../test/logs/formats/corpus.ts'

export const FORMATS_PAGE = fileURLToPath(new URL('./log-formats.md', import.meta.url))
const MAX_LENGTH = 110

const TITLES = {
  ENVELOPES: 'What carries lines of others',
  RECORDS: 'Records with fields',
  TEXTS: 'Lines of text',
  HEADS: 'What stands before a message in any order, and behind it',
} as const

/** Returns the page that lists every format of the corpus, with the beginning of its sample. */
export function formatsPage(): string {
  const sections = Object.entries(SAMPLE_GROUPS).map(
    ([group, samples]) => `## ${TITLES[group as keyof typeof TITLES]}

| format | written by | begins |
|---|---|---|
${samples.map(row).join('\n')}
`,
  )
  return `# Log formats

The formats that \`loadLogs\` and \`flowdelta logs\` are tested to read, each with time, level, message and fields (\`test/logs/formats\`). Envelopes may carry any of the others, also several deep; one file may have several formats. Samples of programs with a ✓ were written by them, the others after their documentation. This page is made by \`npm run docs\`.

${sections.join('\n')}`
}

function row({ name, by, isReal = false, text }: FormatSample): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/[^\P{C}\s]/gu, '')
    .replaceAll('`', "'")
    .replaceAll('|', '\\|')
  const shown = line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line
  return `| ${name} | ${by}${isReal ? ' ✓' : ''} | \`${shown}\` |`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FORMATS_PAGE, formatsPage())
