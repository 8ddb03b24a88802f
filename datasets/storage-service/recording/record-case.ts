import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Case } from '../cases/case.ts'
import { type Block, type Period, planBlocks } from './block-plan.ts'
import type { Constellation } from './constellation.ts'

export interface RecordOptions {
  /** Requests per period. */
  readonly requests: number
  /** Blocks per period. */
  readonly blocks: number
  readonly seed: number
  /** Untraced requests at the start of every block. */
  readonly warmUp: number
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  /** `undefined` while the processes are warmed up before the first block. */
  readonly block: number | undefined
  readonly blocks: number
  readonly period: Period
  readonly requests: number
  readonly of: number
}

/** The files of OTLP JSON lines, one per period. */
export type Recording = Readonly<Record<Period, string>>

/** Records both periods of a case on a started service, block by block. */
export async function recordCase(
  service: Constellation,
  recorded: Case,
  { requests, blocks: pairs, seed, warmUp, onProgress = () => {} }: RecordOptions,
): Promise<Recording> {
  const files = {
    before: join(service.directory, 'before.jsonl'),
    after: join(service.directory, 'after.jsonl'),
  }
  const unwanted = join(service.directory, 'unwanted.jsonl')
  const blocks = planBlocks(pairs, requests)

  const runBlock = async (block: Block, position: number | undefined, path: string) => {
    const { service: configuration, workload } = recorded[block.period]
    const state = { block: position, blocks: blocks.length, period: block.period }
    onProgress({ ...state, requests: 0, of: block.requests })
    await service.configure(configuration)
    await service.prepare({ workload, seed: `${seed}/pair-${block.pair}` })
    await service.send({ requests: warmUp, traced: false })
    await service.send({ requests: block.requests, traced: true }, (done) =>
      onProgress({ ...state, requests: done, of: block.requests }),
    )
    await service.collect(path)
  }

  // The first blocks of a fresh process run code that is not compiled yet: run one pair for nothing.
  for (const block of planBlocks(1, warmUp)) await runBlock(block, undefined, unwanted)
  await rm(unwanted, { force: true })
  for (const [i, block] of blocks.entries()) await runBlock(block, i + 1, files[block.period])
  return files
}
