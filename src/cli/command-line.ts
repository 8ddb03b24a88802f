import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { adviceSentence, flagMessage, misspeltFlag } from './flags.ts'

/**
 * Returns the exit code: 0 done, 1 when --fail-on holds, 2 for wrong usage or unreadable input.
 * Only the command that is run is loaded, with its flags.
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = new Command('flowdelta')
    .description('Find out why a distributed system got slower.')
    .version(packageJson.version)
    .exitOverride()
    .showHelpAfterError('(add --help for the options)')
  const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word)
  const chosen = args.find(isCommand)
  const commands = Object.entries(COMMANDS).map(([name, description]) =>
    program.command(name).description(description),
  )
  const command = commands.find((each) => each.name() === chosen) ?? program
  try {
    if (chosen !== undefined) (await LOADERS[chosen]())(command, args)
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (problem) {
    if (problem instanceof CommanderError) {
      const isMissing = problem.code === 'commander.missingMandatoryOptionValue'
      if (isMissing) process.stderr.write(misspeltFlag(command, args))
      if (chosen === undefined && problem.code === 'commander.unknownOption')
        process.stderr.write(
          'Begin with a command, as in: flowdelta compare --before … --after …\n',
        )
      return problem.exitCode === 0 ? 0 : 2
    }
    if (!(problem instanceof FlowdeltaError)) throw problem
    const message = problem instanceof OptionError ? flagMessage(command, problem) : problem.message
    const flags = adviceSentence(command.options, problem.advice)
    const end = flags === '' || message.endsWith('.') ? '' : '.'
    process.stderr.write(`flowdelta: ${message}${end}${flags}\n`)
    return 2
  }
}

const COMMANDS = {
  demo: 'Compare the sample that comes with flowdelta, and open its report',
  compare: 'Find and rank what changed between the traces of two periods',
  report: 'Write what changed as one HTML page, or as Markdown for a pull request',
  fetch: 'Write the traces of a store, or of files of any format, to one file',
  variance: 'Rank kinds of request by the variance of their response times, and find its sources',
  explosion: 'Tell whether there are too many kinds of request to compare, why, and what helps',
  teach: 'Ask which kinds of request are the same to you, and keep answers and notes in a file',
  logs: 'Compare the logs of what went well with those of what did not',
  whatif: 'Find the single change that best explains a change of latency, or predict one',
  baseline: 'Add a summary of traces to a history of runs, or show where that changed',
  check: 'Check a run against a history: pass, warn or fail, for pipelines',
  mcp: 'Offer the results to agents, as tools of the Model Context Protocol (stdio)',
  schema: 'Print the JSON schema of the document that a command prints with --json',
} as const

type CommandName = keyof typeof COMMANDS

/** Adds a command's flags and its action; it may look at how the flags are given. */
type AddCommand = (command: Command, args: readonly string[]) => void

const LOADERS: Readonly<Record<CommandName, () => Promise<AddCommand>>> = {
  demo: async () => (await import('./demo.ts')).addDemo,
  compare: async () => (await import('./compare.ts')).addCompare,
  report: async () => (await import('./report.ts')).addReport,
  fetch: async () => (await import('./fetch.ts')).addFetch,
  variance: async () => (await import('./variance.ts')).addVariance,
  explosion: async () => (await import('./explosion.ts')).addExplosion,
  teach: async () => (await import('./teach.ts')).addTeach,
  logs: async () => (await import('./logs.ts')).addLogs,
  whatif: async () => (await import('./whatif.ts')).addWhatif,
  baseline: async () => (await import('./baseline.ts')).addBaseline,
  check: async () => (await import('./check.ts')).addCheck,
  mcp: async () => (await import('./mcp.ts')).addMcp,
  schema: async () => (await import('./schema.ts')).addSchema,
}
