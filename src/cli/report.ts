import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { OptionError } from '../core/errors.ts'
import { defineOptions, flag, optionalText } from '../core/options.ts'
import { traceTemplate } from '../core/trace-links.ts'
import { counted } from '../core/words.ts'
import { connectCharts } from '../views/notebook/connect-charts.ts'
import { REPORT_OPTIONS, reportHtml, reportMarkdown } from '../views/report/report.ts'
import {
  addComparisonFlags,
  type ComparisonFlags,
  compareFiles,
  WHAT_IF_FLAG,
  whatIfOf,
} from './comparison-flags.ts'
import { addOptions, type FlagsOf } from './flags.ts'
import { proposedAlone } from './load-period.ts'
import { printText } from './printing.ts'

const REPORT_FLAGS = defineOptions({
  out: optionalText(
    "File to write, .html or .md; '-' for standard output, the default with --markdown",
    'out <file>',
  ),
  traceUrl: REPORT_OPTIONS.traceUrl,
  ...WHAT_IF_FLAG,
  markdown: flag({ default: false, sentence: 'Write Markdown, whatever the ending of --out' }),
})

const STANDARD_OUTPUT = '-'

export function addReport(command: Command, args: readonly string[]): void {
  addOptions(addComparisonFlags(command, args), REPORT_FLAGS).action(runReport)
}

async function runReport(
  files: string[],
  flags: ComparisonFlags & FlagsOf<typeof REPORT_FLAGS>,
): Promise<void> {
  const { traceUrl = null } = flags
  const before = [...files, ...flags.before.flat()]
  const after = flags.split === undefined ? (flags.after ?? []) : before
  const out = flags.out ?? (flags.markdown ? STANDARD_OUTPUT : undefined)
  // A wrong option is reported before minutes are spent on the traces.
  if (out === undefined) {
    throw new OptionError('out', out, "the HTML file to write, or '-' for standard output")
  }
  const format = flags.markdown ? 'markdown' : out === STANDARD_OUTPUT ? 'html' : formatOf(out)
  if (traceUrl !== null) traceTemplate(traceUrl)
  const inputs = [...before, ...after].map((file) => resolve(file))
  if (inputs.includes(resolve(out))) {
    throw new OptionError('out', out, 'a file other than the traces being read')
  }
  const comparison = await compareFiles({ ...flags, files })
  proposedAlone(flags, comparison.findings.findings.length)
  const options = {
    traceUrl,
    files: { before, after },
    whatIf: whatIfOf(comparison, flags),
    madeBy: MADE_BY,
  }
  connectCharts()
  const report = REPORT_FORMATS[format](comparison, options)
  if (out === STANDARD_OUTPUT) process.stdout.write(report)
  else {
    writeReport(out, report)
    const found = counted(comparison.findings.findings.length, 'finding')
    printText(`${out}: ${found} as ${FORMAT_NAMES[format]}`)
  }
}

export const MADE_BY = `flowdelta ${packageJson.version}`

export const REPORT_FORMATS = { html: reportHtml, markdown: reportMarkdown }
export const FORMAT_NAMES = { html: 'one HTML page', markdown: 'Markdown' }

/** Returns the format for the ending of a name; throws for any other ending. */
export function formatOf(out: string): keyof typeof REPORT_FORMATS {
  const ending = /\.(?:(html?)|md|markdown)$/i.exec(out)
  if (ending !== null) return ending[1] === undefined ? 'markdown' : 'html'
  throw new OptionError('out', out, `a name that ends with .html or .md`)
}

export function writeReport(out: string, report: string): void {
  try {
    writeFileSync(out, report)
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException
    throw new OptionError('out', out, `a file that can be written (${code ?? problem})`)
  }
}
