import { broken, runCommandLine } from './command-line.ts'

// A reader that has seen enough, such as `head`, closes the pipe: no error, and --fail-on counts.
process.stdout.on('error', (problem: NodeJS.ErrnoException) => {
  if (problem.code === 'EPIPE') return
  process.stderr.write(`flowdelta: standard output cannot be written (${problem.code}).\n`)
  process.exit(2)
})
process.on('uncaughtException', (problem) => process.exit(broken(problem)))
process.exitCode = await runCommandLine(process.argv.slice(2))
