import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { OptionError } from '../core/errors.ts'
import { defineOptions, flag, optionalText } from '../core/options.ts'
import { traceTemplate } from '../core/trace-links.ts'
import { connectCharts } from '../views/notebook/connect-charts.ts'
import { REPORT_OPTIONS, reportHtml } from '../views/report/report-html.ts'
import { reportMarkdown } from '../views/report/report-markdown.ts'
import {
  addComparisonFlags,
  type ComparisonFlags,
  compareFiles,
  WHAT_IF_FLAG,
  whatIfOf,
} from './comparison-flags.ts'
import { addOptions, type FlagsOf } from './flags.ts'

const REPORT_FLAGS = defineOptions({
  out: optionalText(
    "File to write; '-' for standard output, the default with --markdown",
    'out <file>',
  ),
  traceUrl: REPORT_OPTIONS.traceUrl,
  ...WHAT_IF_FLAG,
  markdown: flag({ default: false, sentence: 'Write GitHub-flavored Markdown instead of HTML' }),
})

const STANDARD_OUTPUT = '-'

export function addReport(command: Command, args: readonly string[]): void {
  addOptions(addComparisonFlags(command, args), REPORT_FLAGS).action(runReport)
}

async function runReport(
  files: string[],
  flags: ComparisonFlags & FlagsOf<typeof REPORT_FLAGS>,
): Promise<void> {
  const { markdown, traceUrl = null } = flags
  const before = [...files, ...flags.before.flat()]
  const after = flags.split === undefined ? (flags.after ?? []) : before
  const out = flags.out ?? (markdown ? STANDARD_OUTPUT : undefined)
  // A wrong option is reported before minutes are spent on the traces.
  if (out === undefined) {
    throw new OptionError('out', out, "the HTML file to write, or '-' for standard output")
  }
  if (traceUrl !== null) traceTemplate(traceUrl)
  const inputs = [...before, ...after].map((file) => resolve(file))
  if (inputs.includes(resolve(out))) {
    throw new OptionError('out', out, 'another file than the traces that are read')
  }
  const comparison = await compareFiles({ ...flags, files })
  const options = {
    traceUrl,
    files: { before, after },
    whatIf: whatIfOf(comparison, flags),
    madeBy: `flowdelta ${packageJson.version}`,
  }
  connectCharts()
  const report = markdown ? reportMarkdown(comparison, options) : reportHtml(comparison, options)
  if (out === STANDARD_OUTPUT) process.stdout.write(report)
  else writeReport(out, report)
}

export function writeReport(out: string, report: string): void {
  try {
    writeFileSync(out, report)
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException
    throw new OptionError('out', out, `a file that can be written (${code ?? problem})`)
  }
}
