import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { type ColumnMetaData, type PageHeader, parquetMetadata } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { type ColumnSource, parquetWriteFile } from 'hyparquet-writer'
import { beforeAll, expect, test } from 'vitest'
import { FlowdeltaError } from '../../../src/core/errors.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

const FOLDER = temporaryFolder()
const pathOf = (name: string) => join(FOLDER, `${name}.parquet`)
const load = async (path: string) => (await loadTraces(path)) as SpanTraces

const ROWS = 60
const each = <T>(value: (i: number) => T) => Array.from({ length: ROWS }, (_, i) => value(i))
const plain = { type: 'STRING' as const, encoding: 'PLAIN' as const }
const COLUMNS: ColumnSource[] = [
  { name: 'TraceId', data: each((i) => `trace ${i >> 1}`), ...plain },
  {
    name: 'SpanId',
    data: each((i) => `a span ${100 + i}`),
    type: 'STRING',
    encoding: 'DELTA_BYTE_ARRAY',
  },
  {
    name: 'ParentSpanId',
    data: each((i) => (i % 2 ? `a span ${99 + i}` : null)),
    nullable: true,
    ...plain,
  },
  {
    name: 'ServiceName',
    data: each((i) => (i % 2 ? 'back' : 'front')),
    type: 'STRING',
    encoding: 'RLE_DICTIONARY',
  },
  { name: 'SpanName', data: each(() => 'get'), ...plain },
  { name: 'Timestamp', data: each((i) => 1_790_000_000_000_000n + BigInt(i)), type: 'INT64' },
  {
    name: 'Duration',
    data: each((i) => 500 + ((i * i) % 97)),
    type: 'INT32',
    encoding: 'DELTA_BINARY_PACKED',
  },
]

beforeAll(async () => {
  parquetWriteFile({ filename: pathOf('V2'), codec: 'UNCOMPRESSED', columnData: COLUMNS })
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  for (const [name, compression] of [
    ['V1', 'uncompressed'],
    ['gzip', 'gzip'],
  ]) {
    await connection.run(
      `COPY '${pathOf('V2')}' TO '${pathOf(name!)}' (COMPRESSION ${compression}, PARQUET_VERSION V1)`,
    )
  }
})

/** The last page of a column, which holds its values: its header, and the bytes of both. */
function pageOf(file: Uint8Array, column: string) {
  const { row_groups } = parquetMetadata(file)
  const chunk = row_groups[0]!.columns.find(
    ({ meta_data }) => meta_data?.path_in_schema[0] === column,
  )!.meta_data as ColumnMetaData
  const reader = { view: new DataView(file.buffer), offset: Number(chunk.data_page_offset) }
  const start = reader.offset
  const header: PageHeader = parquetHeader(reader)
  const data = file.subarray(reader.offset, reader.offset + header.compressed_page_size)
  return { header, headerBytes: file.subarray(start, reader.offset), data }
}

type Damage = (page: ReturnType<typeof pageOf>, file: Uint8Array) => void
const DAMAGES: readonly (readonly [what: string, file: string, column: string, Damage])[] = [
  [
    'a page of more values than its column',
    'V1',
    'ParentSpanId',
    ({ headerBytes }) => headerBytes.set([2 * (ROWS + 3)], headerBytes.indexOf(2 * ROWS)),
  ],
  [
    'a page of fewer values than its column',
    'V2',
    'ParentSpanId',
    ({ headerBytes }) => headerBytes.set([2 * (ROWS - 3)], headerBytes.indexOf(2 * ROWS)),
  ],
  [
    'a page that is longer than its column',
    'gzip',
    'ServiceName',
    ({ header, headerBytes }) =>
      headerBytes.set([0x7e], headerBytes.indexOf(2 * header.compressed_page_size)),
  ],
  [
    'a page whose length is a fraction',
    'gzip',
    'ServiceName',
    ({ header, headerBytes }) =>
      headerBytes.set([0x17], headerBytes.indexOf(2 * header.compressed_page_size) - 1),
  ],
  [
    'a row group without its rows',
    'V2',
    'TraceId',
    (_, file) => file.set([0], file.lastIndexOf(2 * ROWS)),
  ],
]

test.each(DAMAGES)('%s are refused in words', async (_, name, column, damage) => {
  expect((await load(pathOf(name))).spans.parent).toHaveLength(ROWS)
  const file = Uint8Array.from(readFileSync(pathOf(name)))
  damage(pageOf(file, column), file)
  writeFileSync(pathOf('damaged'), file)
  const error = await load(pathOf('damaged')).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(FlowdeltaError)
  expect((error as Error).message).toMatch(/damaged\.parquet: The Parquet file is damaged \(/)
})

test('a saved file is refused where any one bit of what it keeps is another, and says so', async () => {
  const path = pathOf('saved')
  await (await load(pathOf('V2'))).save(path)
  const whole = readFileSync(path)
  const end = whole.length - 8 - whole.readUInt32LE(whole.length - 8)
  for (let at = 5; at < end; at += 41) {
    const damaged = Uint8Array.from(whole)
    damaged[at]! ^= 1 << (at % 8)
    writeFileSync(path, damaged)
    await expect(load(path), `byte ${at}`).rejects.toThrow(/The Parquet file is damaged/)
    await expect(load(`${path}?where=duration > 1us`), `byte ${at}`).rejects.toThrow(/damaged/)
  }
  writeFileSync(path, whole)
  expect((await load(path)).spans.parent).toHaveLength(ROWS)
})

test('a file that is no Parquet is told so, and an empty one too', async () => {
  for (const [text, told] of [
    ['{"resourceSpans":[]}', /no Parquet, though its name says so.*Name it by what it is/s],
    ['', /is empty/],
  ] as const) {
    writeFileSync(pathOf('other'), text)
    await expect(load(pathOf('other'))).rejects.toThrow(told)
  }
})
