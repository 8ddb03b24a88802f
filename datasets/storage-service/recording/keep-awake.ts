import { spawn } from 'node:child_process'
import { availableParallelism, constants, setPriority } from 'node:os'

// Ends by itself when the recorder is gone, even if it was killed.
const SPIN = `
const recorder = process.ppid
for (;;) {
  for (let i = 0; i < 1e7; i++);
  if (process.ppid !== recorder) process.exit()
}`

/**
 * Keeps the processors from falling asleep between requests, with a program of the lowest priority
 * on each: how long a processor takes to wake up depends on how long it slept, and that would be
 * the largest part of many a step's time. Returns the function that ends it.
 */
export function keepAwake(): () => void {
  const spinners = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', SPIN], { stdio: 'ignore' }),
  )
  for (const { pid } of spinners) {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW)
  }
  return () => {
    for (const spinner of spinners) spinner.kill('SIGKILL')
  }
}
