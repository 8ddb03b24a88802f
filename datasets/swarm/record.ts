import { stderr } from 'node:process'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError } from 'commander'
import type { InstanceLog, LogClass } from '../storage-service-logs/log-lines.ts'
import { writeLogDataset } from '../storage-service-logs/write-log-dataset.ts'
import { type Download, recordSwarm } from './record-swarm.ts'
import { planSwarms } from './swarm-plan.ts'
import { truth } from './truth.ts'

interface Options {
  readonly seed: number
  readonly perClass: number
  readonly downloaders: number
  readonly pieces: number
  readonly out: string
}

const PIECE: Omit<Download, 'pieces'> = { pieceBytes: 8192, bytesPerSecond: 40_960 }

const wholeNumber = (least: number) => (text: string) => {
  const value = Number(text)
  if (Number.isInteger(value) && value >= least) return value
  throw new InvalidArgumentError(`${text} is not a whole number from ${least}.`)
}

async function record({ seed, perClass, downloaders, pieces, out }: Options): Promise<void> {
  const logs: Record<LogClass, InstanceLog[]> = { good: [], bad: [] }
  const plans = planSwarms({ seed, perClass, downloaders })
  for (const [i, plan] of plans.entries()) {
    logs[plan.logClass].push(...(await recordSwarm(plan, { pieces, ...PIECE })))
    stderr.write(`swarm ${i + 1} of ${plans.length} (${plan.logClass})\n`)
  }
  const recording = { seed, swarmsPerClass: perClass, downloaders, pieces, ...PIECE }
  const sizes = await writeLogDataset(out, logs, { ...truth, recording })
  for (const [name, bytes] of sizes) stderr.write(`${name}  ${(bytes / 1000).toFixed(1)} kB\n`)
}

await new Command('record')
  .description('Records the logs of swarms whose peers tell peers apart by port, and do not.')
  .option('--seed <number>', 'for everything but the real timings', wholeNumber(0), 1)
  .option('--per-class <number>', 'swarms of each class', wholeNumber(1), 2)
  .option('--downloaders <number>', 'peers of a swarm, beside its seeders', wholeNumber(1), 18)
  .option('--pieces <number>', 'pieces of the file', wholeNumber(1), 40)
  .option('--out <directory>', 'where to write', fileURLToPath(new URL('.', import.meta.url)))
  .action(async (options: Options) => {
    try {
      await record(options)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      stderr.write(`\nNothing was recorded: ${why}\n`)
      process.exitCode = 1
    }
  })
  .parseAsync()
