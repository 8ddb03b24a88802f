import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs the built command line. */
export function flowdelta(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [`${ROOT}dist/cli.js`, ...args],
      { maxBuffer: 1 << 26 },
      (problem, out, err) => {
        resolve({ code: problem === null ? 0 : Number(problem.code), out, err })
      },
    )
  })
}
