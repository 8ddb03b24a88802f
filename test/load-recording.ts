import { statSync } from 'node:fs'
import { readTracebench } from '../datasets/tracebench/read-tracebench.ts'
import { loadTraces } from '../src/traces/load-traces.ts'
import type { TraceSet } from '../src/traces/trace-set.ts'

/** Loads a file of traces, or a folder of `../shared` that is a run of TraceBench. */
export async function loadRecording(path: string): Promise<TraceSet> {
  return statSync(path).isDirectory() ? readTracebench(path) : loadTraces(path)
}
