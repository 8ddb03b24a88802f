// Writes docs/options.md from the option tables of src: npm run docs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { codeText } from '../src/core/code-literals.ts'
import type { OptionTable } from '../src/core/options.ts'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))
export const OPTIONS_PAGE = fileURLToPath(new URL('./options.md', import.meta.url))

/** A table, and the docstring above it. */
const TABLE =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export const ([A-Z_]+_OPTIONS) = defineOptions\(/g

/** Returns the page that documents every option, room by room. */
export async function optionsPage(): Promise<string> {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .sort()
  const sections: string[] = []
  for (const file of files) {
    for (const [, comment, name] of readFileSync(SRC + file, 'utf8').matchAll(TABLE)) {
      const module = (await import(SRC + file)) as Record<string, OptionTable>
      sections.push(section(file, comment ?? '', name as string, module[name as string] ?? {}))
    }
  }
  return `# Options

Options of the stages and of most widgets, with what each takes, its default and its meaning; an editor completes those of charts. This page is made from the tables in the code by \`npm run docs\`. On the command line an option is a flag in kebab case, such as \`--sm-p-threshold\`; \`--help\` lists the flags of a command.

${sections.join('\n')}`
}

function section(file: string, comment: string, name: string, table: OptionTable): string {
  const sentence = comment
    .replace(/^ *\* ?/gm, '')
    .trim()
    .split('\n')
    .join(' ')
  const rows = Object.entries(table).map(
    ([option, { expected, default: value, sentence: meaning }]) =>
      `| \`${option}\` | ${cell(expected)} | ${defaultText(codeText(value))} | ${cell(meaning)} |`,
  )
  return `## ${name}

${sentence} [\`src/${file}\`](../src/${file})

| option | takes | default | meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

/** A default as code; what holds a function is said in the code alone. */
function defaultText(code: string): string {
  return code.includes('=>') ? 'in the code' : `\`${cell(code)}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(OPTIONS_PAGE, await optionsPage())
}
