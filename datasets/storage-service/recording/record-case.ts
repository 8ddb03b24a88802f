import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Case, Extent } from '../cases/case.ts'
import { logFile } from '../control/collect-spans.ts'
import { PERIODS, type Period } from '../volumes/period.ts'
import type { Constellation } from './constellation.ts'
import { shares } from './shares.ts'

export interface RecordOptions extends Extent {
  readonly seed: number
  /** Requests of each period that are traced and thrown away first. */
  readonly rehearsal?: number
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  /** `undefined` while the processes are warmed up before the first block. */
  readonly block: number | undefined
  readonly blocks: number
  /** Sent so far in this block, of both periods together. */
  readonly requests: number
  readonly of: number
}

/** The files of OTLP JSON lines, one per period. */
export type Recording = Readonly<Record<Period, string>>

/** Records both periods of a case on a started service. */
export async function recordCase(
  service: Constellation,
  recorded: Case,
  { requests, blocks, seed, warmUp, rehearsal = 1500, onProgress = () => {} }: RecordOptions,
): Promise<Recording> {
  const files = {
    before: join(service.directory, 'before.jsonl'),
    after: join(service.directory, 'after.jsonl'),
  }
  const unwanted = join(service.directory, 'unwanted.jsonl')
  const { requestsBetween, order = 'in turns', changesAtBlock = 0 } = recorded
  const periods: readonly Period[] = requestsBetween === undefined ? PERIODS : ['before']

  const setUp = async (block: number | 'rehearsal') => {
    for (const period of periods) {
      const isLater = typeof block === 'number' && block < changesAtBlock
      const { service: configuration, workload } = recorded[isLater ? 'before' : period]
      await service.configure(period, configuration)
      await service.prepare({ period, workload, seed: `${seed}/block-${block}` })
    }
    await service.send({ periods, order, requests: warmUp, traced: false })
  }
  const sendTraced = async (count: number, block: number | undefined, of: number) => {
    const state = { block, blocks: of, of: count * periods.length }
    onProgress({ ...state, requests: 0 })
    await service.send({ periods, order, requests: count, traced: true }, (done) =>
      onProgress({ ...state, requests: done }),
    )
  }

  // The first requests of a fresh process run code that is not compiled yet: send some for nothing.
  await setUp('rehearsal')
  await sendTraced(rehearsal, undefined, blocks)
  for (const period of periods) await service.collect({ period, path: unwanted })
  await rm(unwanted, { force: true })
  await rm(logFile(unwanted), { force: true })

  if (requestsBetween !== undefined) {
    await setUp(0)
    await sendTraced(requests, 1, 2)
    await service.collect({ period: 'before', path: files.before })
    await service.send({ periods, order, requests: requestsBetween, traced: false })
    await sendTraced(requests, 2, 2)
    await service.collect({ period: 'before', path: files.after })
    return files
  }
  for (const [block, share] of shares(requests, blocks).entries()) {
    await setUp(block)
    await sendTraced(share, block + 1, blocks)
    for (const period of periods) await service.collect({ period, path: files[period] })
  }
  return files
}
