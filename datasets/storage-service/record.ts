import { constants } from 'node:os'
import { join } from 'node:path'
import { stderr } from 'node:process'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError } from 'commander'
import type { Case, Extent } from './cases/case.ts'
import { cases } from './cases/index.ts'
import { Constellation } from './recording/constellation.ts'
import { keepAwake } from './recording/keep-awake.ts'
import { showProgress } from './recording/progress.ts'
import { recordCase } from './recording/record-case.ts'
import { writeDataset } from './recording/write-dataset.ts'

interface Options extends Partial<Extent> {
  readonly seed: number
  readonly sample: number
  readonly out?: string
}

const USUAL_EXTENT: Extent = { requests: 5000, blocks: 10, warmUp: 100 }

const { signals } = constants
const HERE = fileURLToPath(new URL('.', import.meta.url))

const caseNamed = (name: string): Case => {
  const found = cases.find((known) => known.name === name)
  if (found !== undefined) return found
  const names = cases.map((known) => known.name).join(', ')
  throw new InvalidArgumentError(`${name} is not a case. Give one of: ${names}.`)
}

const wholeNumber = (least: number) => (text: string) => {
  const value = Number(text)
  if (Number.isInteger(value) && value >= least) return value
  throw new InvalidArgumentError(`${text} is not a whole number from ${least}.`)
}

const share = (text: string) => {
  const value = Number(text)
  if (value > 0 && value <= 1) return value
  throw new InvalidArgumentError(`${text} is not a share. Give a number above 0, at most 1.`)
}

async function record(recorded: Case, options: Options): Promise<void> {
  const { seed, sample, out = join(HERE, recorded.name), ...given } = options
  const provenance = { seed, ...USUAL_EXTENT, ...recorded.extent, ...given, sample }
  const letSleep = keepAwake()
  const { dataNodes, logs } = recorded
  const service = new Constellation({ seed: String(seed), sample, dataNodes, logs })
  let interrupted: NodeJS.Signals | undefined
  const interrupt = (signal: NodeJS.Signals) => {
    interrupted = signal
    void service.stop()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  try {
    await service.start()
    const recording = await recordCase(service, recorded, {
      ...provenance,
      onProgress: showProgress,
    })
    const sizes = await writeDataset(out, recording, recorded, provenance)
    stderr.write('\n')
    for (const [path, bytes] of sizes) stderr.write(`${path}  ${(bytes / 1e6).toFixed(2)} MB\n`)
  } catch (error) {
    const why = interrupted ?? (error instanceof Error ? error.message : String(error))
    stderr.write(`\nNothing was recorded: ${why}\n`)
    process.exitCode = interrupted === undefined ? 1 : 128 + signals[interrupted]
  } finally {
    letSleep()
    await service.stop()
  }
}

await new Command('record')
  .description('Records a before and an after period of the storage service.')
  .argument('<case>', `one of: ${cases.map(({ name }) => name).join(', ')}`, caseNamed)
  .option('--seed <number>', 'for everything but the real timings', wholeNumber(0), 1)
  .option('--requests <number>', 'requests per period', wholeNumber(1))
  .option('--sample <share>', 'share of requests traced, such as 0.1 or 1', share, 1)
  .option('--blocks <number>', 'times the service is filled anew', wholeNumber(1))
  .option('--warm-up <number>', 'untraced requests at the start of a block', wholeNumber(0))
  .option('--out <directory>', 'where to write; by default the folder of the case')
  .action(record)
  .parseAsync()
