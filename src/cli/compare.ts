import type { Command } from 'commander'
import { errorRate, type Finding } from '../compare/findings/finding.ts'
import type { Comparison } from '../comparison/comparison.ts'
import { count, defineOptions, flag, optionalText } from '../core/options.ts'
import type { Terms } from '../core/result-conditions.ts'
import { explainCalled, findingCalled } from '../explain/listed-findings.ts'
import { comparisonText, findingText } from '../views/text/comparison-text.ts'
import { DOT_CHOICES, dotCalled } from '../views/to-dot.ts'
import { withinBudget } from './comparison-budget.ts'
import { COMPARISON_DOCUMENT, FINDING_DOCUMENT, sizesOf } from './comparison-document.ts'
import {
  addComparisonFlags,
  type ComparisonFlags,
  compareFiles,
  WHAT_IF_FLAG,
  whatIfOf,
} from './comparison-flags.ts'
import { conditions, failOn } from './conditions.ts'
import { addOptions, type FlagsOf } from './flags.ts'
import { isProposedAlone, proposedAlone, withFlags } from './load-period.ts'
import { JSON_FLAG, printJson, printResults, printText, textWidth } from './printing.ts'

/** Terms of `--fail-on`; only changes for the worse count. */
const TERMS: Terms<Finding, Comparison> = {
  things: ({ findings }) => findings.findings,
  nameOf: ({ rank, title }) => `#${rank} ${title}`,
  words: { any: ({ direction }) => direction === 'slower' },
  quantities: {
    // Contribution relative to the time that after would have taken before, and in total.
    contribution: {
      percent: ({ contributionUs }, { edges }) =>
        contributionUs > 0 ? (100 * contributionUs) / edges.usualUs : 0,
      us: ({ contributionUs }) => contributionUs,
    },
    shift: { us: ({ changedEdges }) => Math.max(0, ...changedEdges.map(({ shiftUs }) => shiftUs)) },
    errors: { percent: errorRate },
  },
  examples:
    "'contribution>5%', 'contribution>2s', 'shift>10ms', 'errors>1%' or 'any'; 'shift>5%' and 'missing' are judged by flowdelta check",
}

const COMPARE_FLAGS = defineOptions({
  ...WHAT_IF_FLAG,
  json: JSON_FLAG,
  verbose: flag({
    default: false,
    sentence: 'Print warnings in full, edges of findings, and every ranked mutation',
  }),
  budget: count({
    default: 32_000,
    min: 0,
    unit: 'bytes',
    sentence: 'Keep the JSON document within this size, most important parts first; 0 for no limit',
  }),
  finding: optionalText(
    'Print one finding in full, by rank or id: mutations, edges, steps, calls and example traces of 1, #1 or the stable id latency-1a2b3c4d',
    'finding <which>',
  ),
  dot: optionalText(`Print flows as DOT, for Graphviz, instead: ${DOT_CHOICES}`, 'dot <which>'),
  limit: count({ default: 1000, sentence: 'List at most this many categories and mutations' }),
  explain: optionalText(
    'Say which parameters set the requests of a finding apart, by rank or id: latency-1a2b3c4d, 1 or #1; a rank also explains the mutation of that rank in --verbose',
    'explain <which>',
  ),
  failOn: conditions(
    'fail-on',
    "End with exit code 1 when a finding exceeds it: 'contribution>5%' of the time all requests took before, 'shift>10ms' of one step, 'errors>1%' of the calls of a service of which more fail, or 'any'; only what became slower or fails more often counts",
    TERMS,
  ),
})

type CompareFlags = ComparisonFlags & FlagsOf<typeof COMPARE_FLAGS>

export function addCompare(command: Command, args: readonly string[]): void {
  addOptions(addComparisonFlags(command, args), COMPARE_FLAGS).action(runCompare)
}

async function runCompare(files: string[], flags: CompareFlags): Promise<void> {
  const { json, verbose, limit, budget } = flags
  const comparison = await compareFiles({ ...flags, files })
  const why = flags.explain === undefined ? null : explainCalled(comparison, flags.explain)
  const whatIf = whatIfOf(comparison, flags)?.explains(comparison.findings) ?? []
  const printed = { comparison, limit, budget, explained: why, whatIf }
  if (flags.dot !== undefined) process.stdout.write(dotCalled(comparison, flags.dot))
  else if (flags.finding !== undefined) {
    const whole = { comparison, finding: findingCalled(comparison, flags.finding), explained: why }
    printResults(whole, { json, document: FINDING_DOCUMENT, text: findingText })
  } else if (json) {
    const all = sizesOf(comparison)
    printJson(withinBudget(COMPARISON_DOCUMENT.write(printed), { budget, all }))
  } else {
    // What --propose alone chose, it has said.
    const isTold = isProposedAlone(flags)
    const told = comparison.warnings().filter(({ code }) => !isTold || code !== 'selected')
    const warnings = verbose ? withFlags(told) : told
    printText(comparisonText(printed, { verbose, warnings, width: textWidth() }))
  }
  proposedAlone(flags, comparison.findings.findings.length)
  failOn(comparison, flags.failOn, TERMS)
}
