import { execFile } from 'node:child_process'
import { type Outcome, ROOT } from '../cli/run-cli.ts'

/** Runs what `npm run evaluate` runs. */
export function runEvaluate(...args: string[]): Promise<Outcome> {
  const command = ['--import', 'tsx', 'evaluation/main.ts', ...args]
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: ROOT, maxBuffer: 1 << 26 }, (problem, out, err) => {
      resolve({ code: problem === null ? 0 : Number(problem.code), out, err })
    })
  })
}
