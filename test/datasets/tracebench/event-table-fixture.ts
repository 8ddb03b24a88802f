import { readTracebench } from '../../../datasets/tracebench/read-tracebench.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { plainSpans } from '../../traces/read-traces.ts'

export const EVENTS = 'TaskID,TID,OpName,StartTime,EndTime,HostAddress,HostName,Agent,Description'
export const EDGES = 'TaskID,FatherTID,FatherStartTime,ChildTID'
const TRACES = 'TaskID,Title,NumReports,NumEdges,FirstSeen,LastUpdated,StartTime,EndTime'
export const ROOT = 'T,0000000000000000,0,A0'

/** `TID op start end host text` (ns), of task T; host `h` has address 10.0.0.h. */
export function event(text: string, words = 'Success:'): string {
  const [tid, op, start, end, host] = text.split(' ')
  return `T,${tid},${op},${start},${end},10.0.0.${host},host${host},Agent,${words}`
}

export const edge = (father: string, start: number, child: string) =>
  `T,${father},${start},${child}`

export async function load(
  events: readonly string[],
  edges: readonly string[],
  { traces, strict = false }: { traces?: readonly string[]; strict?: boolean } = {},
): Promise<SpanTraces> {
  const table = (name: string, header: string, rows: readonly string[]) => ({
    name: `run/${name}`,
    bytes: `${[header, ...rows].join('\n')}\n`,
  })
  const run = {
    events: table('event.csv', EVENTS, events),
    edges: table('edge.csv', EDGES, edges),
    traces: traces && table('trace.csv', TRACES, traces),
  }
  return readTracebench(run, { strict })
}

/** `operation<parent start+duration`, starts since the first, all in µs. */
export function outline(set: SpanTraces): string[] {
  return plainSpans(set).map(({ operation, parent, durationUs, startNs }) => {
    const startUs = Number(startNs - set.epochNs) / 1e3
    return `${operation}<${parent} ${startUs}+${durationUs}`
  })
}
