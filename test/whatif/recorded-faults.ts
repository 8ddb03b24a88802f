import { loadTraces } from '../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { sharedFile } from '../shared.ts'

export const OB = 'data/nezha-onlineboutique'
export const TT = 'data/nezha-trainticket'

/** One period of a recorded fault. */
export async function period(folder: string, file: string): Promise<SpanTraces> {
  const path = sharedFile(`${folder}/${file}_trace.csv.gz`)
  if (path === undefined) throw new Error(`no ${file} traces in ${folder}`)
  const traces = await loadTraces(path)
  if (traces.kind !== 'spans') throw new Error(`${path} has no spans`)
  return traces
}
