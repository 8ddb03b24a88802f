import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { FlowdeltaError } from '../core/errors.ts'
import { tooltipText } from '../core/shown-text.ts'
import { compareSpreads } from '../explain/variance/compare-spreads.ts'
import { findVariance } from '../explain/variance/find-variance.ts'
import { parseVarianceMarks, type VarianceMark } from '../explain/variance/variance-marks.ts'
import {
  addOnePeriod,
  categorizeFiles,
  type OnePeriodFlags,
  type PeriodWarning,
} from './one-period.ts'
import { countFrom } from './option-values.ts'
import { type VarianceResults, varianceDocument } from './variance-document.ts'
import { varianceText } from './variance-text.ts'

interface VarianceFlags extends OnePeriodFlags {
  readonly after?: string[]
  readonly json: boolean
  readonly large: number
  readonly limit: number
  readonly marks?: string
}

/** `flowdelta variance`: which kinds of request are unpredictable, and where their variance is. */
export function addVarianceCommand(program: Command): void {
  const command = program
    .command('variance')
    .description(
      'rank kinds of request by the variance of their response times, and find its sources',
    )
  addOnePeriod(command)
    .option('--after <file...>', 'traces of a second period, to compare variances with')
    .option('--marks <file>', 'what edges are known to vary, as the explorer of variance saves it')
    .option('--json', 'print a JSON document instead of text', false)
    .option('--large <n>', 'only categories of more requests than this', countFrom(0), 10)
    .option('--limit <n>', 'list at most this many categories', countFrom(1), 1000)
    .action(runVariance)
}

async function runVariance(files: string[], flags: VarianceFlags): Promise<void> {
  const { json, large, limit, after } = flags
  const marks = flags.marks === undefined ? [] : await readMarks(flags.marks)
  const { categories, warnings } = await categorizeFiles(files, flags, after)
  const period = after === undefined ? 'before' : 'both'
  const variance = findVariance(categories, { large, period, marks })
  const results: VarianceResults = {
    ...{ variance, limit },
    spreads: after === undefined ? null : compareSpreads(categories, { large }),
    warnings: [...warnings, ...unusedMarks(variance.unused)],
  }
  process.stdout.write(
    json ? `${JSON.stringify(varianceDocument(results), null, 1)}\n` : `${varianceText(results)}\n`,
  )
}

async function readMarks(file: string): Promise<readonly VarianceMark[]> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new FlowdeltaError(
      `--marks ${file} cannot be read: ${String(error)}. Give a file of marks.`,
    )
  }
  return parseVarianceMarks(text, { file })
}

function unusedMarks(unused: readonly VarianceMark[]): PeriodWarning[] {
  return unused.map(({ from, to }) => ({
    code: 'unused-mark',
    message:
      `No category has the marked edge ${tooltipText(from)} → ${tooltipText(to)}. ` +
      'Take the labels as --json prints them, or remove the mark.',
  }))
}
