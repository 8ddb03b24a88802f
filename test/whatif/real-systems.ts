import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import type { TraceSet } from '../../src/traces/trace-set.ts'
import { loadRecording } from '../load-recording.ts'
import { recordedCase } from '../recorded.ts'
import { sharedFile } from '../shared.ts'

const RECORDED = fileURLToPath(new URL('../../datasets/storage-service/', import.meta.url))

/** Where the spans of real systems are: folders and files below the shared folder's `data`. */
export const SYSTEMS: readonly string[] = [
  ...['nezha-onlineboutique', 'nezha-trainticket'].flatMap((set) => periods(set, '_trace.csv.gz')),
  ...periods('traceweaver-jaeger', '.json.gz'),
  ...['normal', 'faulty'].map((period) => `trastrainer-trainticket-extra/${period}_trace.csv.gz`),
  ...casesOf('tracebench-hdfs'),
].filter((path) => sharedFile(`data/${path}`) !== undefined)

/** The cases in the repository. */
export const CASES: readonly string[] = readdirSync(RECORDED)
  .filter((name) => existsSync(`${RECORDED}${name}/before.jsonl.gz`))
  .sort()

function casesOf(set: string): string[] {
  const folder = sharedFile(`data/${set}`)
  if (folder === undefined) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${set}/${entry.name}`)
}

function periods(set: string, ending: string): string[] {
  return casesOf(set).flatMap((path) => [`${path}/normal${ending}`, `${path}/faulty${ending}`])
}

export async function loadSystem(path: string): Promise<SpanTraces> {
  return spansOf(await loadRecording(sharedFile(`data/${path}`) as string))
}

export async function loadCase(name: string, period: 'before' | 'after'): Promise<SpanTraces> {
  return spansOf((await recordedCase(name))[period])
}

function spansOf(traces: TraceSet): SpanTraces {
  if (traces.kind !== 'spans') throw new Error(`${traces.name} has no spans`)
  return traces
}
