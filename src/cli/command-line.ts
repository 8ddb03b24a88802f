import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { COMMANDS, type CommandName } from './commands.ts'
import { adviceSentence, flagMessage, misspeltFlag } from './flags.ts'

/**
 * Runs the command line and returns its exit code: 0 done, 1 when --fail-on holds, 2 for wrong usage
 * or unreadable input. Only the command that is run is loaded, with its flags.
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = new Command('flowdelta')
    .description('Find out why a distributed system got slower.')
    .version(packageJson.version)
    .exitOverride()
    .showHelpAfterError('(add --help for the options)')
  const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word)
  const chosen = args.find(isCommand)
  const commands = Object.entries(COMMANDS).map(([name, { description }]) =>
    program.command(name).description(description),
  )
  const command = commands.find((each) => each.name() === chosen) ?? program
  try {
    if (chosen !== undefined) (await COMMANDS[chosen].load())(command, args)
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (problem) {
    if (problem instanceof CommanderError) {
      const isMissing = problem.code === 'commander.missingMandatoryOptionValue'
      if (isMissing) process.stderr.write(misspeltFlag(command, args))
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
