import type { Case, Side } from './case.ts'
import { sfsService } from './sfs-service.ts'
import { sfsWorkload } from './sfs-workload.ts'

/** Mean pause of each of the sixteen workers at the usual load, in ms. */
const THINK_MS = 48

/** Both periods drive the same processes at the same time: together they are one recording. */
function atLoad(factor: number): Case {
  const side: Side = {
    service: sfsService,
    workload: { ...sfsWorkload, workers: 8, thinkMs: THINK_MS / factor },
  }
  return {
    name: `load-${factor}`,
    description: `Requests come ${factor} times as fast as usual. Read both files as one period.`,
    before: side,
    after: side,
    truth: { kind: 'none', cause: null, affected: null, relevant: { none: true } },
    order: 'together',
    extent: { requests: 1500, blocks: 1, warmUp: 200 },
  }
}

export const loads: readonly Case[] = [1, 1.5, 2].map(atLoad)
