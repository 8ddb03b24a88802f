import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readTracebench } from '../../../datasets/tracebench/read-tracebench.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { plainSpans } from '../../traces/read-traces.ts'
import { EDGES, EVENTS, edge, event, load, ROOT } from './event-table-fixture.ts'

describe('tables that cannot be read', () => {
  const edges = { name: 'run/edge.csv', bytes: EDGES }
  const events = { name: 'run/event.csv', bytes: `${EVENTS}\n${event('A0 get 0 1 1')}` }

  test('with other columns name the file, the line and the columns', async () => {
    const others = { name: 'run/event.csv', bytes: 'TaskID,TID,Start\n' }
    await expect(readTracebench({ events: others, edges })).rejects.toThrow(
      'run/event.csv:1: The header line has no column OpName, Agent, StartTime, EndTime, HostName, HostAddress, Description; it has TaskID, TID, Start.',
    )
  })

  test('that are empty say so', async () => {
    const empty = { name: 'run/edge.csv', bytes: '' }
    await expect(readTracebench({ events, edges: empty })).rejects.toThrow(
      'run/edge.csv: The table is empty: it has no header line. Copy or download it again',
    )
  })

  test('that are cut off within gzip say so', async () => {
    const zipped = gzipSync(events.bytes)
    const cut = { name: 'run/event.csv.gz', bytes: zipped.subarray(0, zipped.length - 12) }
    await expect(readTracebench({ events: cut, edges })).rejects.toThrow(
      'run/event.csv.gz: The gzip file is truncated',
    )
  })

  test('given to flowdelta as they are name the way', async () => {
    await expect(loadTraces({ name: 'event.csv', bytes: `${EVENTS}\n` })).rejects.toThrow(
      'event.csv: This is one table of a TraceBench run, which needs the others. Convert the run',
    )
  })

  test('without an event say so', async () => {
    await expect(load([], [])).rejects.toThrow('run/event.csv: The run has no usable events')
  })

  test('of which one is missing are told', async () => {
    await expect(readTracebench('nowhere')).rejects.toThrow(
      'nowhere has neither event.csv nor event.csv.gz. Name the directory of a run',
    )
  })
})

test('a directory, compressed in part and without a table of traces, is converted to OTLP that says the same', async () => {
  const folder = temporaryFolder()
  const events = [
    event('A0 call 1000000 1100000 1'),
    event('B0 serve 7 40007 2', 'Success: 4 bytes'),
  ]
  writeFileSync(join(folder, 'event.csv.gz'), gzipSync([EVENTS, ...events].join('\n')))
  writeFileSync(join(folder, 'edge.csv'), [EDGES, ROOT, edge('A0', 1000000, 'B0')].join('\n'))
  const out = join(folder, 'run.jsonl.gz')
  const script = ['--import', 'tsx', 'datasets/tracebench/convert.ts', folder, out]
  const said = execFileSync(process.execPath, script, { encoding: 'utf8' })
  expect(said).toBe('1 traces, 2 spans\n')
  const [read, converted] = [await readTracebench(folder), (await loadTraces(out)) as SpanTraces]
  expect(plainSpans(converted)).toEqual(plainSpans(read))
  expect(plainSpans(read).map(({ attributes }) => attributes['bytes'])).toEqual([undefined, 4])
})
