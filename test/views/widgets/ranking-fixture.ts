import { type Comparison, compare } from '../../../src/compare/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'

connectCharts()

async function recorded(name: string): Promise<Comparison> {
  const folder = new URL(`../../../datasets/storage-service/${name}/`, import.meta.url).pathname
  const before = await loadTraces(`${folder}before.jsonl.gz`)
  return compare(before, await loadTraces(`${folder}after.jsonl.gz`))
}

/** A slower disk: response-time mutations. */
export const slower = await recorded('delay-1ms')

/** Prefetching: structural mutations with precursors. */
export const other = await recorded('mds-prefetch')

/** A broken replica: findings that concern some requests only. */
export const confined = await recorded('broken-replica')
