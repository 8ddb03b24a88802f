import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { stderr } from 'node:process'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError } from 'commander'
import { scratchDirectory } from '../storage-service/recording/scratch-directory.ts'
import type { InstanceLog, LogClass } from './log-lines.ts'
import { planNodes } from './node-plan.ts'
import { recordNode } from './record-node.ts'
import { truth } from './truth.ts'
import { writeLogDataset } from './write-log-dataset.ts'

interface Options {
  readonly seed: number
  readonly perClass: number
  readonly blocks: number
  readonly out: string
}

const wholeNumber = (least: number) => (text: string) => {
  const value = Number(text)
  if (Number.isInteger(value) && value >= least) return value
  throw new InvalidArgumentError(`${text} is not a whole number from ${least}.`)
}

async function record({ seed, perClass, blocks, out }: Options): Promise<void> {
  const directory = await mkdtemp(join(scratchDirectory(), 'storage-service-logs-'))
  try {
    const logs: Record<LogClass, InstanceLog[]> = { good: [], bad: [] }
    let repeats = 0
    let longestStallUs = 0
    const plans = planNodes({ seed, perClass, blocks })
    for (const plan of plans) {
      const { log, attempts, stallUs } = await recordNode(plan, directory)
      logs[plan.logClass].push(log)
      repeats += attempts - 1
      longestStallUs = Math.max(longestStallUs, stallUs)
      stderr.write(`\r${plan.instance} of ${plans.length} (${plan.logClass})   `)
    }
    const recording = { seed, instancesPerClass: perClass, blocks, repeats, longestStallUs }
    const sizes = await writeLogDataset(out, logs, { ...truth, recording })
    stderr.write('\n')
    for (const [name, bytes] of sizes) stderr.write(`${name}  ${(bytes / 1000).toFixed(1)} kB\n`)
  } catch (error) {
    stderr.write(
      `\nNothing was recorded: ${error instanceof Error ? error.message : String(error)}\n`,
    )
    process.exitCode = 1
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

await new Command('record')
  .description('Records the logs of storage nodes whose write cache works, and is all but off.')
  .option('--seed <number>', 'for everything but the real timings', wholeNumber(0), 1)
  .option('--per-class <number>', 'nodes of each class', wholeNumber(1), 34)
  .option('--blocks <number>', 'blocks each node is sent', wholeNumber(1), 96)
  .option('--out <directory>', 'where to write', fileURLToPath(new URL('.', import.meta.url)))
  .action(record)
  .parseAsync()
