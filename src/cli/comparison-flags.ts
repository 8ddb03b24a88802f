import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Comparison, compare } from '../comparison/comparison.ts'
import { COMPARISON_OPTIONS } from '../comparison/comparison-options.ts'
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { defineOptions, flag } from '../core/options.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { diagnoseLatency } from '../whatif/diagnosis/diagnose-latency.ts'
import type { LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import {
  addOptions,
  type Flags,
  type FlagsOf,
  optionsFrom,
  paths,
  rarely,
  required,
} from './flags.ts'
import {
  addSplit,
  type BesideTraces,
  bothPeriods,
  isSplit,
  LOAD_FLAGS,
  loadPeriod,
  loadSplit,
  type SplitFlags,
} from './load-period.ts'

const PERIOD_FLAGS = defineOptions({
  before: paths(
    'before <file...>',
    'Traces of the good period; repeat it for several runs: changes are then tested against the differences between runs',
  ),
  after: paths('after <file...>', 'Traces of the bad period'),
})

const BESIDE_FLAGS = defineOptions({
  ...rarely({
    beforeParameters: paths(
      'before-parameters <file...>',
      'Tables of low-level parameters of the good period: CSV with columns spanId (and traceId) or node',
    ),
    afterParameters: paths('after-parameters <file...>', 'The same for the bad period'),
  }),
  beforeLogs: paths(
    'before-logs <file...>',
    'Logs of the good period (of all its runs; of the recording, with --split) whose records name their trace: OTLP, JSON, CSV or text, as docs/log-formats.md lists; needs --after-logs',
  ),
  afterLogs: paths('after-logs <file...>', 'The same for the bad period'),
})

export interface ComparisonFlags
  extends SplitFlags,
    Omit<FlagsOf<typeof PERIOD_FLAGS & typeof BESIDE_FLAGS>, 'before'> {
  /** Files of each run. */
  readonly before: readonly (readonly string[])[]
}

/** Adds the periods and every option; `args` tells which files stand behind which `--before`. */
export function addComparisonFlags(command: Command, args: readonly string[]): Command {
  addSplit(command).hook('preAction', (_, action) => {
    action.setOptionValue('before', filesOfRuns(args, action.getOptionValue('before') ?? []))
  })
  return addOptions(
    command,
    isSplit(args) ? PERIOD_FLAGS : required(PERIOD_FLAGS),
    rarely(COMPARISON_OPTIONS, 'measure', 'events', 'labelBy', 'knowledge'),
    LOAD_FLAGS,
    BESIDE_FLAGS,
  )
}

function filesOfRuns(args: readonly string[], files: readonly string[]): string[][] {
  const counts: number[] = []
  let isRun = false
  for (const arg of args) {
    const isNamed = arg === BEFORE || arg.startsWith(`${BEFORE}=`)
    if (isNamed) counts.push(arg === BEFORE ? 0 : 1)
    else if (isRun && !arg.startsWith('-')) counts.push((counts.pop() ?? 0) + 1)
    if (isNamed || arg.startsWith('-')) isRun = arg === BEFORE
  }
  const ends = counts.map((_, run) => counts.slice(0, run + 1).reduce((sum, n) => sum + n, 0))
  return ends.map((end, run) => files.slice(end - (counts[run] as number), end))
}

const BEFORE = '--before'

export async function compareFiles(flags: ComparisonFlags & Flags): Promise<Comparison> {
  const { beforeParameters = [], afterParameters = [], beforeLogs = [], afterLogs = [] } = flags
  requireOnce(flags.before)
  const isOneOnly = beforeLogs.length > 0 !== afterLogs.length > 0
  if (flags.split === undefined && isOneOnly) {
    const [given, missing] = beforeLogs.length > 0 ? ['before', 'after'] : ['after', 'before']
    throw new FlowdeltaError(
      `--${given}-logs needs logs to compare with. Give --${missing}-logs as well.`,
    )
  }
  const besideBefore = { parameters: beforeParameters, logs: beforeLogs }
  const [before, after] =
    flags.split === undefined
      ? await bothPeriods(
          loadRuns(flags, besideBefore),
          loadPeriod('after', flags.after ?? [], flags, {
            parameters: afterParameters,
            logs: afterLogs,
          }),
        )
      : await loadSplit(flags, [flags.before.flat(), flags.after], besideBefore)
  return compare(before, after, optionsFrom(COMPARISON_OPTIONS, flags))
}

async function loadRuns(flags: ComparisonFlags & Flags, beside: BesideTraces): Promise<TraceSet[]> {
  const runs: TraceSet[] = []
  for (const files of flags.before) runs.push(await loadPeriod('before', files, flags, beside))
  return runs
}

function requireOnce(runs: readonly (readonly string[])[]): void {
  const names = runs.flatMap((files) => [...new Set(files)])
  const resolved = names.map((name) => resolve(name))
  const twice = names.find((_, i) => resolved.indexOf(resolved[i] as string) < i)
  if (twice !== undefined) throw new OptionError('before', twice, 'each run its own files')
}

export const WHAT_IF_FLAG = defineOptions({
  whatIf: flag({
    default: false,
    sentence:
      'Also find the single change that explains each finding, as flowdelta whatif does; doubles the time',
  }),
})

export function whatIfOf(
  { flows: { periods } }: Comparison,
  { whatIf }: FlagsOf<typeof WHAT_IF_FLAG>,
): LatencyDiagnosis | null {
  if (!whatIf) return null
  const [before, after, ...others] = periods
  if (before === undefined || after === undefined || others.length > 0) {
    throw new FlowdeltaError(
      `--what-if compares one run before with one after, but --before has ${periods.length - 1} runs. Give one --before.`,
    )
  }
  return diagnoseLatency(before, after)
}
