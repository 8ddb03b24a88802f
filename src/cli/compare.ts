import type { Command } from 'commander'
import type { Comparison } from '../compare/comparison.ts'
import type { Finding } from '../compare/findings/finding.ts'
import { FlowdeltaError } from '../core/errors.ts'
import { count, defineOptions, flag, optionalCount, optionalText } from '../core/options.ts'
import { counted } from '../core/words.ts'
import { explain, explainMutation } from '../explain/parameters/explain.ts'
import { withinBudget } from './comparison-budget.ts'
import { COMPARISON_DOCUMENT, type ExplainedRank, FINDING_DOCUMENT } from './comparison-document.ts'
import {
  addComparisonFlags,
  type ComparisonFlags,
  compareFiles,
  WHAT_IF_FLAG,
  whatIfOf,
} from './comparison-flags.ts'
import { comparisonText, findingText } from './comparison-text.ts'
import { type Condition, conditionOption, failOn, type Terms } from './conditions.ts'
import { findingWithId, type PrintedFinding } from './finding-document.ts'
import { addOptions, type FlagsOf } from './flags.ts'
import { JSON_FLAG, printJson, printText } from './printing.ts'

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
    'Print one finding in full: its mutations, edges, steps, calls and example traces',
    'finding <id>',
  ),
  limit: count({ default: 1000, sentence: 'List at most this many categories and mutations' }),
  explain: optionalCount(
    'Explain the finding and the mutation of this rank by the parameters of requests',
    'rank',
  ),
})

type CompareFlags = ComparisonFlags &
  FlagsOf<typeof COMPARE_FLAGS> & { readonly failOn?: readonly Condition<Finding, Comparison>[] }

export function addCompare(command: Command, args: readonly string[]): void {
  addOptions(addComparisonFlags(command, args), COMPARE_FLAGS)
    .addOption(
      conditionOption(
        'fail-on',
        "End with exit code 1 when a finding exceeds it: 'contribution>5%' of the time all requests " +
          "took before, 'shift>10ms' of one step, 'errors>1%' of the calls of a service of which more " +
          "fail, or 'any'; only what became slower or fails more often counts",
        TERMS,
      ),
    )
    .action(runCompare)
}

async function runCompare(files: string[], flags: CompareFlags): Promise<void> {
  const { json, verbose, limit, budget, explain: rank } = flags
  const comparison = await compareFiles({ ...flags, files })
  const explained = rank === undefined ? null : explainRank(comparison, rank)
  const whatIf = whatIfOf(comparison, flags)?.explains(comparison.findings) ?? []
  const printed = { comparison, limit, budget, explained, whatIf }
  const all = {
    categories: comparison.categories.size,
    mutations: comparison.ranking.mutations.length,
  }
  if (flags.finding !== undefined) {
    const whole = { comparison, finding: findingOf(comparison, flags.finding) }
    if (json) printJson(FINDING_DOCUMENT.write(whole))
    else printText(findingText(whole))
  } else if (json) printJson(withinBudget(COMPARISON_DOCUMENT.write(printed), { budget, all }))
  else printText(comparisonText(printed, { verbose }))
  failOn(comparison, flags.failOn, TERMS)
}

/** `null` if nothing was found to explain; throws if neither finding nor mutation has the rank. */
function explainRank(comparison: Comparison, rank: number): ExplainedRank | null {
  const { findings } = comparison.findings
  const { mutations } = comparison.ranking
  if (findings.length + mutations.length === 0) return null
  const finding = findings[rank - 1]
  const mutation = mutations[rank - 1]
  if (finding === undefined && mutation === undefined) {
    throw new FlowdeltaError(
      `--explain ${rank}: there are ${counted(findings.length, 'finding')} and ` +
        `${counted(mutations.length, 'mutation')}. ` +
        `Give a rank from 1 to ${Math.max(findings.length, mutations.length)}.`,
    )
  }
  return {
    rank,
    finding: finding === undefined ? null : explain(comparison, finding),
    mutation: mutation === undefined ? null : explainMutation(comparison, mutation),
  }
}

function findingOf(comparison: Comparison, id: string): PrintedFinding {
  if (comparison.findings.findings.length > 0) return findingWithId(comparison, id)
  throw new FlowdeltaError(`--finding ${id}: this comparison has no findings.`)
}

/** Calls after that fail, in per cent, where a finding says that more do; else 0. */
function errorRate({ kind, direction, size, segment, calls: [call] }: Finding): number {
  if (kind !== 'errors' || direction !== 'slower') return 0
  if (call !== undefined) return (100 * call.made[1]) / call.chances[1]
  return 100 * (segment?.inside.afterMean ?? size.value)
}

/** What `--fail-on` goes by; only what is worse counts. */
const TERMS: Terms<Finding, Comparison> = {
  things: ({ findings }) => findings.findings,
  nameOf: ({ rank, title }) => `#${rank} ${title}`,
  words: { any: ({ direction }) => direction === 'slower' },
  quantities: {
    // Of what after would have taken before, and in all.
    contribution: {
      percent: ({ contributionUs }, { edges }) =>
        contributionUs > 0 ? (100 * contributionUs) / edges.usualUs : 0,
      us: ({ contributionUs }) => contributionUs,
    },
    shift: { us: ({ changedEdges }) => Math.max(0, ...changedEdges.map(({ shiftUs }) => shiftUs)) },
    errors: { percent: errorRate },
  },
  examples: "'contribution>5%', 'contribution>2s', 'shift>10ms', 'errors>1%' or 'any'",
}
