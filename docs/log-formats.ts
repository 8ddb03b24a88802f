// npm run docs: writes docs/log-formats.md from the samples that tests read.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type FormatSample, SAMPLE_GROUPS } from '../test/logs/formats/corpus.ts'

export const FORMATS_PAGE = fileURLToPath(new URL('./log-formats.md', import.meta.url))
const MAX_LENGTH = 110

const TITLES = {
  ENVELOPES: 'Envelopes around other formats',
  RECORDS: 'Records with fields',
  TEXTS: 'Lines of text',
  HEADS: 'Parts before and after a message, in any order',
} as const

/** Returns the page that lists every format of the corpus, with the beginning of its sample. */
export function formatsPage(): string {
  const sections = Object.entries(SAMPLE_GROUPS).map(
    ([group, samples]) => `## ${TITLES[group as keyof typeof TITLES]}

| format | written by | sample |
|---|---|---|
${samples.map(row).join('\n')}
`,
  )
  return `# Log formats

\`loadLogs\` and \`flowdelta logs\` read these formats with time, level, message and fields. An envelope may contain any other format, even several levels deep, and one file may mix formats.

A ✓ marks samples that the program itself wrote; the others follow its documentation. \`npm run docs\` writes this page from the tests (\`test/logs/formats\`).

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
