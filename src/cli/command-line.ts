import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { listed } from '../core/words.ts'
import {
  addHelpAll,
  flagMessage,
  HELP_ALL,
  inFlags,
  misspeltFlag,
  unflaggedFile,
  withPeriods,
} from './flags.ts'
import { MIN_HELP_WIDTH, textWidth } from './printing.ts'

/**
 * Returns the exit code: 0 done, 1 when --fail-on holds, 2 for wrong usage or unreadable input, 3
 * where flowdelta itself is broken.
 * Only the command that is run is loaded, with its flags.
 */
export async function runCommandLine(given: readonly string[]): Promise<number> {
  const program = new Command('flowdelta')
    .description('Find out why a distributed system got slower.')
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({ getOutHelpWidth: textWidth })
    .configureHelp({ minWidthToWrap: MIN_HELP_WIDTH })
    .showHelpAfterError('(add --help for the options)')
  const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word)
  const chosen = given.find(isCommand)
  const args = chosen !== undefined && PAIRED.has(chosen) ? withPeriods(given) : given
  const commands = Object.entries<LazyCommand>(COMMANDS).map(([name, { description, example }]) => {
    const said = example === undefined ? '' : `\nExample:\n  flowdelta ${name} ${example}`
    return program.command(name).description(description).addHelpText('after', said)
  })
  const command = commands.find((each) => each.name() === chosen) ?? program
  try {
    if (chosen !== undefined) (await COMMANDS[chosen].load())(command, args)
    addHelpAll(command, args)
    const asked = args.map((arg) => (arg === HELP_ALL ? '--help' : arg))
    await program.parseAsync(asked, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (problem) {
    if (problem instanceof CommanderError) {
      const isMissing = problem.code === 'commander.missingMandatoryOptionValue'
      if (isMissing)
        process.stderr.write(misspeltFlag(command, args) || unflaggedFile(command, args))
      if (chosen === undefined && problem.code === 'commander.unknownOption')
        process.stderr.write(
          'Begin with a command, as in: flowdelta compare --before … --after …\n',
        )
      const [, unknown] = /^error: unknown option '(--[^'=]+)/.exec(problem.message) ?? []
      if (unknown !== undefined) process.stderr.write(await commandsWith(unknown))
      return problem.exitCode === 0 ? 0 : 2
    }
    // A problem of the system, such as a file that cannot be written or a lost connection.
    if (problem instanceof Error && 'syscall' in problem) {
      process.stderr.write(`flowdelta: ${problem.message}.\n`)
      return 2
    }
    if (!(problem instanceof FlowdeltaError)) return broken(problem)
    const message = problem instanceof OptionError ? flagMessage(command, problem) : problem.message
    process.stderr.write(`flowdelta: ${inFlags(command.options, message, problem.advice)}\n`)
    return 2
  }
}

/** Tells what must not happen; returns an exit code that --fail-on never has. */
export function broken(problem: unknown): number {
  const trace = problem instanceof Error ? problem.stack : String(problem)
  process.stderr.write(
    `${trace}\nflowdelta: this is a bug in flowdelta, not in your input. Please report it with the lines above, the command and, if possible, the input.\n`,
  )
  return 3
}

/** Says which commands take a flag that another one does not; `''` if none does. */
async function commandsWith(flag: string): Promise<string> {
  const names: string[] = []
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const command = new Command(name)
    const add = await load()
    add(command, [])
    if (command.options.some(({ long }) => long === flag)) names.push(`flowdelta ${name}`)
  }
  return names.length === 0 ? '' : `(${flag} belongs to ${listed(names)}.)\n`
}

interface LazyCommand {
  readonly description: string
  /** Arguments of a usual call. */
  readonly example?: string
  /** Loads what adds the command's flags and its action; it may look at how the flags are given. */
  readonly load: () => Promise<(command: Command, args: readonly string[]) => void>
}

const COMMANDS = {
  demo: {
    description: 'Compare the built-in sample, and open its report',
    load: async () => (await import('./demo.ts')).addDemo,
  },
  compare: {
    description: 'Find and rank what changed between the traces of two periods',
    example: 'good.json bad.json',
    load: async () => (await import('./compare.ts')).addCompare,
  },
  report: {
    description: 'Write what changed as one HTML page, or as Markdown for a pull request',
    example: 'good.json bad.json --out report.html',
    load: async () => (await import('./report.ts')).addReport,
  },
  fetch: {
    description: 'Write the traces of a store, or of files of any format, to one file',
    example: '--from export.json --out good.jsonl.gz',
    load: async () => (await import('./fetch.ts')).addFetch,
  },
  variance: {
    description:
      'Rank categories of requests by the variance of response times, and find its sources',
    example: 'good.json',
    load: async () => (await import('./variance.ts')).addVariance,
  },
  explosion: {
    description: 'Check whether there are too many categories to compare, why, and what helps',
    example: 'good.json',
    load: async () => (await import('./explosion.ts')).addExplosion,
  },
  teach: {
    description: 'Teach flowdelta which categories are the same to you',
    example: 'good.json bad.json --same 3,7 --out known.json',
    load: async () => (await import('./teach.ts')).addTeach,
  },
  logs: {
    description: 'Compare the logs of good and bad runs',
    example: "good.log bad.log --metric 'job finished'",
    load: async () => (await import('./logs.ts')).addLogs,
  },
  whatif: {
    description:
      'Find the single change that best explains a latency change, or predict its effect',
    example: 'good.json bad.json',
    load: async () => (await import('./whatif.ts')).addWhatif,
  },
  baseline: {
    description: 'Add a run to a history, or show where the history changed',
    example: 'write good.json --out history.jsonl',
    load: async () => (await import('./baseline.ts')).addBaseline,
  },
  check: {
    description: 'Check a run against a history: pass, warn or fail, for pipelines',
    example: 'new.json --baseline history.jsonl',
    load: async () => (await import('./check.ts')).addCheck,
  },
  mcp: {
    description: 'Serve results to agents over the Model Context Protocol (stdio)',
    load: async () => (await import('./mcp.ts')).addMcp,
  },
  schema: {
    description: 'Print the JSON schema of what a command prints with --json',
    example: 'compare',
    load: async () => (await import('./schema.ts')).addSchema,
  },
} satisfies Readonly<Record<string, LazyCommand>>

type CommandName = keyof typeof COMMANDS

/** Commands that take two periods. */
const PAIRED: ReadonlySet<CommandName> = new Set(['compare', 'report', 'teach', 'whatif', 'logs'])
