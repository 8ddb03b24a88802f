import type { Command } from 'commander'
import type { Categories } from '../compare/categories/categories.ts'
import { proposePeriods } from '../compare/onset/propose-periods.ts'
import {
  CATEGORIZED_BY,
  COMPARISON_OPTIONS,
  categorizeTraces,
} from '../comparison/comparison-options.ts'
import {
  type ComparisonWarning,
  type PrintedWarning,
  warning,
  warningLines,
} from '../comparison/fairness/comparison-warning.ts'
import { dataQuality } from '../comparison/fairness/trace-problems.ts'
import { FlowdeltaError, show, visibleText } from '../core/errors.ts'
import { defineOptions, flag, optionalText } from '../core/options.ts'
import { counted, grouped } from '../core/words.ts'
import { narrowedText, proposedText } from '../explain/proposed-text.ts'
import { FLOW_OPTIONS } from '../flows/flow-set.ts'
import { loadTraces } from '../logs/traced/load-traces.ts'
import { LOAD_OPTIONS } from '../traces/load-options.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { addOptions, type Flags, flagsOf, inFlags, optionsFrom, rarely } from './flags.ts'

export interface BesideTraces {
  readonly parameters?: readonly string[]
  readonly logs?: readonly string[]
}

/** Loads a period; rejects one without traces, which would pass for nothing having happened. */
export async function loadPeriod(
  name: string | undefined,
  files: readonly string[],
  flags: Flags,
  beside: BesideTraces = {},
): Promise<TraceSet> {
  const traces = await loadTraces(files, {
    ...optionsFrom(LOAD_OPTIONS, flags),
    ...(name !== undefined && { name }),
    ...beside,
  })
  if (traces.size > 0) return traces
  const [issue] = traces.quality().issues
  throw new FlowdeltaError(
    `No request of the ${traces.name} period could be used${issue === undefined ? '' : `: ${issue.message}`}. ` +
      'Give files with whole traces.',
  )
}

/** Loads the period before, and after if there is one, or divides one recording. Of several errors, the first is thrown. */
export async function loadPeriods(
  flags: SplitFlags & Flags,
  [before, after]: readonly [readonly string[], (readonly string[] | undefined)?],
  nameAlone?: string,
): Promise<[before: TraceSet, after?: TraceSet]> {
  if (flags.split !== undefined) return loadSplit(flags, [before, after])
  if (after === undefined) return [await loadPeriod(nameAlone, before, flags)]
  return bothPeriods(loadPeriod('before', before, flags), loadPeriod('after', after, flags))
}

/** Waits for periods that load at the same time; of several errors, the first period's is thrown. */
export async function bothPeriods<Before, After>(
  before: Promise<Before>,
  after: After,
): Promise<[before: Before, after: Awaited<After>]> {
  await Promise.allSettled([before, after])
  return Promise.all([before, after])
}

export const SPLIT_FLAGS = defineOptions({
  split: optionalText(
    "Divide one recording into before and after instead: 'duration > 500ms', 'version = 1.42 | 1.43', a time, two stretches '10:00Z..10:30Z | 11:00Z..11:30Z', or an attribute of two values; see `traces.split`",
    'split <how>',
  ),
})

const PROPOSE_FLAGS = defineOptions({
  propose: flag({
    default: false,
    sentence:
      'Divide one recording into before and after where it most clearly changed, and say which periods these are',
  }),
})

export interface SplitFlags {
  /** Empty where the time is to be found. */
  readonly split?: string
  readonly files?: readonly string[]
}

export function isSplit(args: readonly string[]): boolean {
  return args.some((arg) => /^--(split(=|$)|propose$)/.test(arg))
}

export function addSplit(command: Command): Command {
  command.argument('[file...]', 'Traces of one recording, for --split or --propose')
  return addOptions(command, SPLIT_FLAGS, PROPOSE_FLAGS).hook('preAction', (_, action) => {
    if (action.getOptionValue('propose') === true) action.setOptionValue('split', '')
  })
}

/** Loads one recording, of `--files` or one period's files, and divides it in two groups. */
export async function loadSplit(
  { split = '', files = [], ...flags }: SplitFlags & Flags,
  [before = [], after = []]: readonly (readonly string[] | undefined)[],
  beside: BesideTraces = {},
): Promise<[before: TraceSet, after: TraceSet]> {
  const source = [...files, ...before]
  const given = split === '' ? '--propose' : `--split ${show(split)}`
  if (source.length === 0 || after.length > 0) {
    throw new FlowdeltaError(
      `${given.split(' ')[0]} divides one recording, not two periods. Give its files alone: ${given} FILE…`,
    )
  }
  const traces = await loadPeriod(undefined, source, flags, beside)
  const groups: readonly TraceSet[] = split === '' ? propose(traces, flags) : traces.split(split)
  const [first, second] = groups
  if (first !== undefined && second !== undefined && groups.length === 2) return [first, second]
  const names = groups.slice(0, 4).map(({ name, size }) => `${name} (${grouped(size)})`)
  throw new FlowdeltaError(
    `${given} gives ${counted(groups.length, 'group')}: ${names.join(', ')}. ` +
      "Give two, as 'region = eu | us'.",
  )
}

/** Divides a recording where it changed, and says where; throws for one of one level. */
function propose(traces: TraceSet, flags: Flags): readonly TraceSet[] {
  const options = optionsFrom(FLOW_OPTIONS, flags)
  const proposed = proposePeriods(traces, options)
  if (proposed === null) {
    throw new FlowdeltaError(
      '--propose finds no point where the recording changes level or starts to grow. Give --split with a time, or --before and --after.',
    )
  }
  const { split } = proposed
  tellProposed(`${proposedText(proposed)}; the same as --split '${split}'`)
  const periods: readonly TraceSet[] = traces.split(split)
  const narrowed = narrowedText(
    split,
    periods.map((period) => proposePeriods(period, options)),
  )
  if (narrowed !== null) tellProposed(narrowed)
  return periods
}

function tellProposed(text: string): void {
  process.stderr.write(`flowdelta: --propose: ${text}\n`)
}

/** Whether `--propose` chose the requests, and nothing else did. */
export function isProposedAlone({
  split,
  where,
  between,
}: SplitFlags & { readonly where?: unknown; readonly between?: unknown }): boolean {
  return split === '' && where === undefined && between === undefined
}

/** Explains a change that `--propose` found and the comparison of the periods does not show. */
export function proposedAlone({ split }: SplitFlags, findings: number): void {
  if (split !== '' || findings > 0) return
  tellProposed(
    'the comparison does not confirm that change. It corrects for its many tests, so a change of this size needs more requests.',
  )
}

export function withFlags(warnings: readonly ComparisonWarning[]): ComparisonWarning[] {
  const flags = flagsOf(COMPARISON_OPTIONS, LOAD_OPTIONS)
  return warnings.flatMap(({ code, finding, effect, answer, advice }) =>
    warning(code, {
      finding: inFlags(flags, finding),
      effect: inFlags(flags, effect),
      answer: inFlags(flags, answer, advice),
      advice,
    }),
  )
}

export const LOAD_FLAGS = rarely(LOAD_OPTIONS, 'format', 'where', 'between')

/** Prints on standard error the problems with traces, and unless `selected` is false also the selection. */
export function warnOf(traces: TraceSet, { selected = true } = {}): void {
  const found = dataQuality(traces, []).filter(({ code }) => selected || code !== 'selected')
  const lines = warningLines(withFlags(found))
  for (const line of lines) process.stderr.write(`${visibleText(line)}\n`)
}

export function addOnePeriod(command: Command): Command {
  return addOptions(
    command.argument('<file...>', 'Traces of one period'),
    rarely(CATEGORIZED_BY, 'measure', 'labelBy', 'fold'),
    LOAD_FLAGS,
  )
}

/** Loads and categorizes files, perhaps with a second period; warns of doubtful data. */
export async function categorizeFiles(
  files: readonly string[],
  flags: SplitFlags & Flags,
  after?: readonly string[],
): Promise<{ categories: Categories; warnings: readonly PrintedWarning[] }> {
  const [first, second] = await loadPeriods(flags, [files, after])
  const periods = second === undefined ? [first] : [first, second]
  const categories = categorizeTraces([first, second], optionsFrom(CATEGORIZED_BY, flags))
  const warnings = withFlags(periods.flatMap((traces) => dataQuality(traces, [])))
  return { categories, warnings }
}
