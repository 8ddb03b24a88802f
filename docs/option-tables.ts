// Writes docs/options.md from the option tables of src: npm run docs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { codeText } from '../src/core/code-literals.ts'
import type { OptionTable } from '../src/core/options.ts'
import { EXPLORED } from '../src/views/explore.ts'
import { PLOTTED } from '../src/views/plot.ts'
import { REPORT_OPTIONS } from '../src/views/report/report.ts'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))
export const OPTIONS_PAGE = fileURLToPath(new URL('./options.md', import.meta.url))

/** A table, and the docstring above it. */
const TABLE =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export const ([A-Z_]+_OPTIONS) = defineOptions\(/g

/** Returns the page that documents every option: of stages room by room, then of pictures and widgets. */
export async function optionsPage(): Promise<string> {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('views/'))
    .sort()
  const stages: string[] = []
  for (const file of files) {
    for (const [, comment, name] of readFileSync(SRC + file, 'utf8').matchAll(TABLE)) {
      const module = (await import(SRC + file)) as Record<string, OptionTable>
      const sentence = (comment ?? '')
        .replace(/^ *\* ?/gm, '')
        .trim()
        .split('\n')
        .join(' ')
      const source = `[\`src/${file}\`](../src/${file})`
      stages.push(
        section(name as string, `${sentence} ${source}`.trim(), module[name as string] ?? {}),
      )
    }
  }
  return `# Options

What each option takes, its default and its meaning: of stages, of pictures (\`plot\`) and of widgets (\`explore\`). This page is made from the tables in the code by \`npm run docs\`. On the command line an option is a flag in kebab case, such as \`--sm-p-threshold\`; \`--help-all\` lists the flags of a command.

${stages.join('\n')}
${pictures().join('\n')}
${widgets().join('\n')}
${section('reportHtml and reportMarkdown', 'Options of a report, beside those of `compare`.', REPORT_OPTIONS)}`
}

/** Pictures by kind; one that several stages have stands once. */
function pictures(): string[] {
  const stagesOf = new Map<OptionTable, Map<string, string[]>>()
  for (const [stage, kinds] of PLOTTED) {
    for (const [kind, { options }] of Object.entries<{ options: OptionTable }>(kinds)) {
      const named = stagesOf.get(options) ?? new Map<string, string[]>()
      named.set(kind, [...(named.get(kind) ?? []), `\`${stage.name}\``])
      stagesOf.set(options, named)
    }
  }
  return Array.from(stagesOf, ([options, kinds]) =>
    Array.from(kinds, ([kind, stages]) =>
      section(`plot(stage, '${kind}')`, `Of ${stages.join(', ')}.`, options),
    ),
  ).flat()
}

function widgets(): string[] {
  return EXPLORED.flatMap(([, stage, kinds]) =>
    Object.entries<{ options: OptionTable }>(kinds).map(([kind, { options }]) =>
      section(`explore(${stage}, '${kind}')`, '', options),
    ),
  )
}

function section(title: string, sentence: string, table: OptionTable): string {
  const rows = Object.entries(table).map(
    ([option, { expected, default: value, sentence: meaning }]) =>
      `| \`${option}\` | ${cell(expected)} | ${defaultText(codeText(value))} | ${cell(meaning)} |`,
  )
  const listed = ['| option | takes | default | meaning |', '|---|---|---|---|', ...rows]
  const text = [sentence, rows.length === 0 ? 'It takes no options.' : listed.join('\n')]
  return `## ${title}\n\n${text.filter((one) => one !== '').join('\n\n')}\n`
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
