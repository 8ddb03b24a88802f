import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { FlowdeltaError } from '../core/errors.ts'
import { addCompareCommand } from './compare-command.ts'
import { addExplosionCommand } from './explosion-command.ts'
import { addLogsCommand } from './logs-command.ts'
import { addReportCommand } from './report-command.ts'
import { addVarianceCommand } from './variance-command.ts'
import { addWhatifCommand } from './whatif-command.ts'

/** The command line. Exit codes: 0 done, 1 when --fail-on holds, 2 for wrong usage or unreadable input. */
async function main(): Promise<number> {
  const program = new Command('flowdelta')
    .description('Find out why a distributed system got slower.')
    .version(packageJson.version)
    .exitOverride()
    .showHelpAfterError('(add --help for the options)')
  addCompareCommand(program)
  addReportCommand(program)
  addVarianceCommand(program)
  addExplosionCommand(program)
  addLogsCommand(program)
  addWhatifCommand(program)
  try {
    await program.parseAsync()
    return Number(process.exitCode ?? 0)
  } catch (problem) {
    if (problem instanceof CommanderError) return problem.exitCode === 0 ? 0 : 2
    if (!(problem instanceof FlowdeltaError)) throw problem
    process.stderr.write(`flowdelta: ${problem.message}\n`)
    return 2
  }
}

// A reader that has seen enough, such as `head`, closes the pipe: no error, and --fail-on counts.
process.stdout.on('error', (problem: NodeJS.ErrnoException) => {
  if (problem.code === 'EPIPE') return
  process.stderr.write(`flowdelta: standard output cannot be written (${problem.code}).\n`)
  process.exit(2)
})
process.exitCode = await main()
