import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { historyChanges } from '../compare/baseline/check-run.ts'
import { parseHistory, type RunSummary, summarizeRun } from '../compare/baseline/run-summary.ts'
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { defineOptions, text } from '../core/options.ts'
import { counted, formatDuration, pValue, shortText } from '../core/words.ts'
import { LOAD_OPTIONS } from '../traces/load-traces.ts'
import { addOptions, choice, type Flags, type FlagsOf } from './flags.ts'
import { loadPeriod } from './load-period.ts'
import { print } from './printing.ts'

/** The name that a run has in a history. */
export const RUN_NAME = text({
  default: 'run',
  flag: 'name <text>',
  sentence: 'Commit or version of the run, as the history is to call it',
})

const BASELINE_FLAGS = defineOptions({
  out: text({
    default: null,
    or: null,
    flag: 'out <file>',
    sentence: 'History to add the run to, one summary a line; it is created where it is not there',
  }),
  name: RUN_NAME,
})

export function addBaseline(command: Command): void {
  const actions = ['write', 'show']
  command.argument(
    '<action>',
    "'write' adds a summary of traces to a history; 'show' lists its runs and where they changed",
    (given: string) => choice(actions, given),
  )
  command.argument('<file...>', 'Traces of one run, to write; a history, to show')
  addOptions(addOptions(command, BASELINE_FLAGS), LOAD_OPTIONS).action(runBaseline)
}

async function runBaseline(
  action: string,
  files: string[],
  flags: FlagsOf<typeof BASELINE_FLAGS> & Flags,
): Promise<void> {
  const { out, name } = flags
  if (action === 'show') {
    const [file = '', another] = files
    if (another !== undefined) throw new InvalidArgumentError('Give one history to show.')
    print(
      false,
      () => null,
      () => historyText(readHistory(file)),
    )
    return
  }
  if (out === undefined) throw new OptionError('out', out, 'the history to add the run to')
  // Nothing is added to a file that is something else.
  if (existsSync(out)) readHistory(out)
  const run = summarizeRun(name, await loadPeriod(undefined, files, flags))
  appendRun(out, run)
  process.stdout.write(`${out}: ${counted(run.types.length, 'type')} of requests\n`)
}

export function readHistory(file: string): RunSummary[] {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (problem) {
    throw new FlowdeltaError(
      `${file} cannot be read (${(problem as NodeJS.ErrnoException).code}). Give a history that 'flowdelta baseline write' wrote.`,
    )
  }
  return parseHistory(content, file)
}

export function appendRun(file: string, run: RunSummary): void {
  try {
    appendFileSync(file, `${JSON.stringify(run)}\n`)
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException
    throw new OptionError('out', file, `a file that can be written (${code ?? problem})`)
  }
}

const MAX_NAME_LENGTH = 90

function historyText(runs: readonly RunSummary[]): string {
  const changes = historyChanges(runs)
  const lines = changes.flatMap(({ run, types }) => [
    `Changed with ${shortText(run, MAX_NAME_LENGTH)}:`,
    ...types.map(
      ({ name, beforeUs, afterUs, p }) =>
        `  ${shortText(name, MAX_NAME_LENGTH)}: typically ${formatDuration(beforeUs)} → ${formatDuration(afterUs)} (${pValue(p)})`,
    ),
  ])
  const none = 'No run from which on response times are at another level.'
  return [counted(runs.length, 'run'), ...(changes.length === 0 ? [none] : lines)].join('\n')
}
