import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { plainSpans } from '../read-traces.ts'
import { EDGES, EVENTS, event, load, outline, ROOT } from './event-table-fixture.ts'

describe('tables that cannot be read', () => {
  test('with other columns name the file, the line and the columns', async () => {
    const files = [
      { name: 'run/event.csv', bytes: 'TaskID,TID,Start\n' },
      { name: 'run/edge.csv', bytes: EDGES },
    ]
    await expect(loadTraces(files, { format: 'tracebench' })).rejects.toThrow(
      'run/event.csv:1: The header line of the table of events has no column OpName (operation), Agent (service), StartTime (start), EndTime (end), HostName (host), HostAddress (hostAddress), Description (text); it has TaskID, TID, Start. Name its columns: loadTraces(directory',
    )
  })

  test('that are empty say so', async () => {
    const files = [
      { name: 'run/event.csv', bytes: `${EVENTS}\n${event('A0 get 0 1 1')}` },
      { name: 'run/edge.csv', bytes: '' },
    ]
    await expect(loadTraces(files, { format: 'tracebench' })).rejects.toThrow(
      'run/edge.csv: The table of edges is empty: it has no header line. Copy or download it again',
    )
  })

  test('that are cut off within gzip say so', async () => {
    const zipped = gzipSync(`${EVENTS}\n${event('A0 get 0 1 1')}`)
    const files = [
      { name: 'run/event.csv.gz', bytes: zipped.subarray(0, zipped.length - 12) },
      { name: 'run/edge.csv', bytes: EDGES },
    ]
    await expect(loadTraces(files, { format: 'tracebench' })).rejects.toThrow(
      'run/event.csv.gz: The gzip file is truncated',
    )
  })

  test('given one by one as files of their own name the way', async () => {
    await expect(loadTraces({ name: 'event.csv', bytes: `${EVENTS}\n` })).rejects.toThrow(
      'event.csv: This is one of the tables of a TraceBench run, which mean something only together. Name the directory that holds event.csv and edge.csv',
    )
  })

  test('without an event say so', async () => {
    await expect(load([], [])).rejects.toThrow(
      'run/event.csv: The file, read as tracebench, has no usable traces',
    )
  })

  test('of which one is missing, or that have other names, are told', async () => {
    const events = { name: 'run/event.csv', bytes: EVENTS }
    await expect(loadTraces([events], { format: 'tracebench' })).rejects.toThrow(
      'In run there is no table of edges: neither edge.csv nor edge.csv.gz can be opened. Name the directory that holds edge.csv',
    )
    await expect(
      loadTraces([{ name: 'x.csv', bytes: EVENTS }], { format: 'tracebench' }),
    ).rejects.toThrow(
      'Option files is "x.csv". Give files named event.csv, edge.csv, trace.csv, or a directory of them.',
    )
    await expect(loadTraces('nowhere', { format: 'tracebench' })).rejects.toThrow(
      'In nowhere there is no table of events',
    )
  })
})

describe('a directory of tables', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-'))
  writeFileSync(join(folder, 'event.csv.gz'), gzipSync(`${EVENTS}\n${event('A0 get 0 9 1')}`))
  writeFileSync(join(folder, 'edge.csv'), `${EDGES}\n${ROOT}`)
  afterAll(() => rmSync(folder, { recursive: true }))

  test('is known as one without its format, compressed in part, and without a table of traces', async () => {
    for (const source of [folder, `${folder}/`, pathToFileURL(folder)]) {
      const set = await loadTraces(source)
      expect({ size: set.size, name: set.name }).toEqual({
        size: 1,
        name: expect.stringMatching(/event\.csv\.gz$/),
      })
    }
  })

  test('tells how much of all its files was read', async () => {
    const seen: number[] = []
    await loadTraces(folder, {
      onProgress: ({ bytesRead, bytesTotal }) => seen.push(bytesRead / bytesTotal),
    })
    expect(seen.at(-1)).toBe(1)
  })

  test('cannot be loaded twice in one period', async () => {
    await expect(loadTraces([folder, folder])).rejects.toThrow('in it twice')
  })
})

describe('a mapping of columns', () => {
  const tables = {
    events: {
      file: 'e.tsv',
      traceId: 'trace',
      group: 'id',
      operation: 'name',
      service: 'svc',
      start: 'from',
      end: 'till',
      attributes: ['size'],
    },
    edges: { file: 'd.tsv', traceId: 'trace', father: 'father', child: 'child' },
    timeUnit: 'ms',
    delimiter: '\t',
    rootIds: ['-'],
  } as const
  const files = [
    {
      name: 'e.tsv',
      bytes: 'size trace id name svc from till\n4096 t a get web 1.5 3\n t b read db 2 2.25',
    },
    { name: 'd.tsv', bytes: 'trace father child\nt - a\nt a b' },
  ].map(({ name, bytes }) => ({ name, bytes: bytes.replaceAll(' ', '\t') }))

  test('says columns, units, delimiter and roots; an event of its own id needs no start', async () => {
    const set = await loadTraces(files, { format: 'event-tables', tables })
    if (set.kind !== 'spans') throw new Error('not spans')
    expect(outline(set)).toEqual(['get<none 0+1500', 'read<get 500+250'])
    expect(plainSpans(set).map(({ attributes }) => attributes)).toEqual([{ size: 4096 }, {}])
  })

  test('must be given with its format, and the format with it', async () => {
    await expect(loadTraces(files, { format: 'event-tables' })).rejects.toThrow(
      'Option tables is null. Give { events:',
    )
    await expect(loadTraces(files, { format: 'csv', tables })).rejects.toThrow(
      `Option format is "csv". Give 'event-tables' where option tables is given.`,
    )
    const { group: _, ...others } = tables.events
    await expect(
      loadTraces(files, {
        format: 'event-tables',
        tables: { ...tables, events: others as typeof tables.events },
      }),
    ).rejects.toThrow(
      'Option tables.events.group is undefined. Give the name that it has in the data.',
    )
    await expect(
      loadTraces(files, { format: 'event-tables', tables: { ...tables, timeUnit: 'h' as 'ms' } }),
    ).rejects.toThrow('Option tables.timeUnit is "h". Give ns, us, ms or s.')
  })
})
