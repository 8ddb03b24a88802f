import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { historyChanges } from '../compare/baseline/check-run.ts'
import { parseHistory, type RunSummary, summarizeRun } from '../compare/baseline/run-summary.ts'
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { defineOptions, optionalText, text } from '../core/options.ts'
import { counted, formatDuration, pValue, shortText } from '../core/words.ts'
import { addOptions, choice, type Flags, type FlagsOf } from './flags.ts'
import { LOAD_FLAGS, loadPeriod } from './load-period.ts'
import { printText } from './printing.ts'

export const RUN_NAME = text({
  default: 'run',
  flag: 'name <text>',
  sentence: 'Commit or version of the run, as the history is to call it',
})

const BASELINE_FLAGS = defineOptions({
  out: optionalText(
    'History to add the run to, one summary a line; it is created where it is not there',
    'out <file>',
  ),
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
  addOptions(command, BASELINE_FLAGS, LOAD_FLAGS).action(runBaseline)
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
    printText(historyText(readHistory(file)))
    return
  }
  if (out === undefined) throw new OptionError('out', out, 'the history to add the run to')
  // Nothing is added to a file that is something else.
  if (existsSync(out)) readHistory(out)
  const run = summarizeRun(name, await loadPeriod(undefined, files, flags))
  appendRun(out, run)
  process.stdout.write(`${out}: ${counted(run.types.length, 'request type')}\n`)
}

export function readHistory(file: string): RunSummary[] {
  return parseHistory(
    atFile(file, () => readFileSync(file, 'utf8')),
    file,
  )
}

export function appendRun(file: string, run: RunSummary): void {
  atFile(file, () => {
    const isCut = existsSync(file) && !/(^|\n)$/.test(readFileSync(file, 'utf8'))
    appendFileSync(file, `${isCut ? '\n' : ''}${JSON.stringify(run)}\n`)
  })
}

function atFile<T>(file: string, use: () => T): T {
  try {
    return use()
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException
    throw new FlowdeltaError(
      `${file} cannot be opened (${code ?? problem}). Give a history that 'flowdelta baseline write' writes.`,
    )
  }
}

const MAX_NAME_LENGTH = 90

function historyText(runs: readonly RunSummary[]): string {
  const lines = historyChanges(runs).flatMap(({ run, types }) => [
    `Changed with ${shortText(run, MAX_NAME_LENGTH)}:`,
    ...types.map(({ name, levelsUs, p }) => {
      const levels = levelsUs.map(formatDuration).join(' → ')
      return `  ${shortText(name, MAX_NAME_LENGTH)}: typically ${levels} (${pValue(p)})`
    }),
  ])
  if (lines.length === 0) lines.push('Response times never changed level.')
  return [counted(runs.length, 'run'), ...lines].join('\n')
}
