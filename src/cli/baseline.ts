import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import {
  parseHistory,
  type RunSummary,
  runName,
  summarizeRun,
} from '../compare/baseline/run-summary.ts'
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { defineOptions, flag, optionalText } from '../core/options.ts'
import { counted, shortText } from '../core/words.ts'
import { historyText, MAX_RUN_LENGTH } from '../views/text/check-text.ts'
import { addOptions, choice, type Flags, type FlagsOf } from './flags.ts'
import { LOAD_FLAGS, loadPeriod, warnOf } from './load-period.ts'
import { printText } from './printing.ts'

/** Options for adding a run to a history: no two runs have the same name. */
export const RUN_FLAGS = defineOptions({
  name: optionalText(
    "Commit or version of the run; must be new in the history unless --replace is given (default: 'run 1', 'run 2', …)",
    'name <text>',
  ),
  replace: flag({
    default: false,
    sentence: 'Replace the run of the same --name',
  }),
})

const BASELINE_FLAGS = defineOptions({
  out: optionalText(
    'History to add the run to, created if missing; it has one summary a line',
    'out <file>',
  ),
  ...RUN_FLAGS,
})

export function addBaseline(command: Command): void {
  const actions = ['write', 'show']
  command.argument(
    '<action>',
    "'write' adds a summary of traces to a history; 'show' lists its runs and where they changed",
    (given: string) => choice(actions, given),
  )
  command.argument('<file...>', 'Traces of one run (write), or a history (show)')
  addOptions(command, BASELINE_FLAGS, LOAD_FLAGS).action(runBaseline)
}

async function runBaseline(
  action: string,
  files: string[],
  flags: FlagsOf<typeof BASELINE_FLAGS> & Flags,
): Promise<void> {
  const { out } = flags
  if (action === 'show') {
    const [file = '', another] = files
    if (another !== undefined) throw new InvalidArgumentError('Give one history to show.')
    printText(historyText(readHistory(file)))
    return
  }
  if (out === undefined) throw new OptionError('out', out, 'the history to add the run to')
  // Never adds to a file that is something else.
  const history = existsSync(out) ? readHistory(out) : []
  const name = runName(history, flags)
  const traces = await loadPeriod(undefined, files, flags)
  warnOf(traces, { selected: false })
  const run = summarizeRun(name, traces)
  const how = addRun(out, run)
  printText(`${out}: ${counted(run.types.length, 'request type')}, ${how}`)
}

export function readHistory(file: string): RunSummary[] {
  return parseHistory(
    atFile(file, () => readFileSync(file, 'utf8')),
    file,
  )
}

/** Adds a run, or puts it where one of its name stands; says which. */
export function addRun(file: string, run: RunSummary): string {
  const history = existsSync(file) ? readHistory(file) : []
  const at = history.findIndex(({ name }) => name === run.name)
  const name = shortText(run.name, MAX_RUN_LENGTH)
  return atFile(file, () => {
    if (at < 0) {
      const isCut = existsSync(file) && !/(^|\n)$/.test(readFileSync(file, 'utf8'))
      appendFileSync(file, `${isCut ? '\n' : ''}${JSON.stringify(run)}\n`)
      return `added as ${name}`
    }
    const others = history.filter((each) => each.name !== run.name)
    const runs = [...others.slice(0, at), run, ...others.slice(at)]
    writeFileSync(file, runs.map((each) => `${JSON.stringify(each)}\n`).join(''))
    const replaced = history.length - others.length
    return `replacing ${replaced === 1 ? 'the run' : `${replaced} runs`} called ${name}`
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
