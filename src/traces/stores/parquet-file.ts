import { crc32 } from 'node:zlib'
import type {
  AsyncBuffer,
  ColumnChunk,
  ColumnMetaData,
  FileMetaData,
  RowGroup,
  SchemaElement,
} from 'hyparquet'
import { FlowdeltaError, TraceFormatError } from '../../core/errors.ts'
import { namesWithin, openSlices } from '../readers/open-file.ts'

/** Key of the JSON metadata in files that flowdelta wrote. */
export const SAVED_KEY = 'flowdelta'
/** The number of bytes before the footer, and their CRC-32: pages that others write have none of their own. */
export const CHECKSUM_KEY = 'flowdelta-crc32'

/** Returns the CRC-32 of bytes, in hex digits. */
export async function checksumOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let crc = 0
  for await (const bytes of chunks) crc = crc32(bytes, crc)
  return crc.toString(16).padStart(8, '0')
}

/** Text, the bytes of an id, or whatever a caller makes of bytes, once for each distinct value. */
export type FromBytes = (bytes: Uint8Array) => unknown

/** A column that holds values itself; those around it only group columns. */
export interface Leaf {
  /** Names from the outermost group to the column. */
  readonly path: readonly string[]
  readonly element: SchemaElement
  /** Whether each level around a value repeats, the outermost first; required levels are left out. */
  readonly levels: readonly ('OPTIONAL' | 'REPEATED')[]
}

/** One Parquet file, read by column and row group: nothing is decoded that is not asked for. */
export interface ParquetFile {
  readonly name: string
  readonly bytes: number
  readonly metadata: FileMetaData
  readonly leaves: readonly Leaf[]
  /** Values of a column in a row group, one a row, arrays below what repeats; times as stored. */
  read(group: RowGroup, leaf: Leaf, fromBytes?: FromBytes): Promise<ArrayLike<unknown>>
  /** Returns the file's metadata under a key, as it was written. */
  said(key: string): string | undefined
  /** @throws TraceFormatError for a file with a checksum that has other bytes now */
  requireIntact(): Promise<void>
  close(): Promise<void>
}

const decoder = new TextDecoder()

/** Bytes in hex digits. */
export const asHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Text in UTF-8. */
export const asText: FromBytes = (bytes) => decoder.decode(bytes)

/** Opens a Parquet file, or those of a folder; throws if there are none, or one is damaged. */
export async function openParquet(location: string): Promise<ParquetFile[]> {
  const paths = await parquetPaths(location)
  if (paths.length === 0) {
    throw new FlowdeltaError(`${location} is a folder without Parquet files. Name the files.`)
  }
  const files = await Promise.allSettled(
    paths.map(async (path) => opened(path, await readAhead(await openSlices(path)))),
  )
  const good = files.flatMap((file) => (file.status === 'fulfilled' ? [file.value] : []))
  const bad = files.find((file) => file.status === 'rejected')
  if (bad === undefined) return good
  for (const file of good) await file.close()
  throw bad.reason
}

/** Files up to this size are read at once: many small reads take longer. */
const MAX_BYTES_AT_ONCE = 64e6

async function readAhead<File extends AsyncBuffer>(file: File): Promise<File> {
  if (file.byteLength > MAX_BYTES_AT_ONCE) return file
  const bytes = await file.slice(0, file.byteLength)
  return { ...file, slice: (start, end) => bytes.slice(start, end) }
}

async function parquetPaths(path: string, depth = 2): Promise<string[]> {
  const names = await namesWithin(path)
  if (names === undefined) return depth === 2 || path.endsWith('.parquet') ? [path] : []
  if (depth === 0) return []
  const within = names.map((name) => `${path.replace(/[\\/]+$/, '')}/${name}`)
  return (await Promise.all(within.map((each) => parquetPaths(each, depth - 1)))).flat()
}

export function damagedParquet(file: string, error: unknown): TraceFormatError {
  const said = error instanceof Error ? error.message : String(error)
  return new TraceFormatError(`The Parquet file is damaged (${said})`, { file }, 'Copy it again')
}

/** Columns of geometries are marked in a loop that a negative number of children never leaves. */
const WITHOUT_GEO = { geoparquet: false }

const CHECKED_BYTES = 1 << 20

async function* firstBytes(file: AsyncBuffer, end: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < end; start += CHECKED_BYTES) {
    yield new Uint8Array(await file.slice(start, Math.min(end, start + CHECKED_BYTES)))
  }
}

interface ChunkOfColumn extends ColumnChunk {
  meta_data: ColumnMetaData
}

async function opened(
  name: string,
  file: AsyncBuffer & { close(): Promise<void> },
): Promise<ParquetFile> {
  const { parquetMetadataAsync, parquetRead } = await import('hyparquet')
  const { compressors } = await import('hyparquet-compressors')
  const damaged = (error: unknown) => damagedParquet(name, error)
  const start = await file.slice(0, Math.min(4, file.byteLength))
  if (asText(new Uint8Array(start)) !== 'PAR1') {
    await file.close()
    throw new TraceFormatError(
      file.byteLength === 0
        ? 'The file is empty'
        : 'The file is no Parquet, though its name says so: it does not begin with PAR1',
      { file: name },
      file.byteLength === 0
        ? 'Copy it again'
        : 'Name it by what it is, such as .jsonl or .jsonl.gz',
    )
  }
  const { metadata, leaves } = await parquetMetadataAsync(file, WITHOUT_GEO)
    .then((read) => ({ metadata: withAllRows(read), leaves: leavesOf(read.schema) }))
    .catch(async (error) => {
      await file.close()
      throw damaged(error)
    })
  const schema = metadata.schema.map(asStored)
  const chunkOf = ({ columns }: RowGroup, { path }: Leaf): ChunkOfColumn => {
    const key = path.join('\0')
    const chunk = columns.find(({ meta_data }) => meta_data?.path_in_schema.join('\0') === key)
    if (chunk?.meta_data === undefined) throw damaged(`it has no ${path.join('.')} in a row group`)
    return { ...chunk, meta_data: chunk.meta_data }
  }
  const bytesOf = async ({ meta_data }: ChunkOfColumn) => {
    const { data_page_offset, dictionary_page_offset, total_compressed_size } = meta_data
    const start = Number(dictionary_page_offset || data_page_offset)
    const end = start + Number(total_compressed_size)
    if (start > end || end > file.byteLength) throw new Error(`it ends before byte ${end}`)
    return await file.slice(start, end)
  }
  const valuesOf = async (group: RowGroup, chunk: ChunkOfColumn, stringFromBytes: FromBytes) => {
    const pages: ArrayLike<unknown>[] = []
    try {
      const bytes = await bytesOf(chunk)
      await parquetRead({
        file: { byteLength: file.byteLength, slice: () => bytes },
        compressors,
        metadata: { ...metadata, schema, row_groups: [{ ...group, columns: [chunk] }] },
        parsers: { stringFromBytes, timestampFromNanoseconds: (nanos) => nanos },
        onPage: ({ columnData }) => pages.push(columnData),
      })
      const values = pages.length === 1 ? (pages[0] as ArrayLike<unknown>) : joined(pages)
      if (values.length === Number(group.num_rows)) return values
      throw new Error(`it has ${values.length} rows in a row group of ${group.num_rows}`)
    } catch (error) {
      throw damaged(error)
    }
  }
  const said = (wanted: string) =>
    metadata.key_value_metadata?.find(({ key }) => key === wanted)?.value
  return {
    name,
    metadata,
    bytes: file.byteLength,
    leaves,
    async read(group, leaf, fromBytes = asText) {
      const values = await valuesOf(group, chunkOf(group, leaf), fromBytes)
      return leaf.levels.includes('OPTIONAL')
        ? Array.from(values, (value) => bare(value, leaf.levels))
        : values
    },
    said,
    async requireIntact() {
      const [bytes, kept] = said(CHECKSUM_KEY)?.split(' ') ?? []
      if (kept === undefined) return
      const own = await checksumOf(firstBytes(file, Math.min(Number(bytes), file.byteLength)))
      if (own !== kept) throw damaged(`its checksum is ${own}, not ${kept}`)
    },
    close: () => file.close(),
  }
}

/** Returns the row groups in which rows are missing would be passed over. */
function withAllRows(metadata: FileMetaData): FileMetaData {
  const rows = metadata.row_groups.reduce((sum, { num_rows }) => sum + num_rows, 0n)
  if (rows === metadata.num_rows) return metadata
  throw new Error(`its row groups have ${rows} rows, not ${metadata.num_rows}`)
}

function joined(pages: readonly ArrayLike<unknown>[]): unknown[] {
  const all: unknown[] = []
  for (const page of pages) for (let i = 0; i < page.length; i++) all.push(page[i])
  return all
}

/** Removes the arrays that stand for optional values. */
function bare(value: unknown, levels: readonly string[], depth = 0): unknown {
  if (depth === levels.length || !Array.isArray(value)) return value
  if (levels[depth] === 'OPTIONAL')
    return value.length === 0 ? [] : bare(value[0], levels, depth + 1)
  return value.map((each) => bare(each, levels, depth + 1))
}

/** Keeps numbers and times as stored: a `Date` for each would lose the nanoseconds. */
function asStored(element: SchemaElement): SchemaElement {
  if (element.type === undefined || element.type === 'BYTE_ARRAY') return element
  const { logical_type: _, converted_type: __, ...stored } = element
  return stored
}

function leavesOf(schema: readonly SchemaElement[]): Leaf[] {
  const leaves: Leaf[] = []
  let at = 1
  const visit = (path: readonly string[], levels: Leaf['levels']) => {
    const element = schema[at++]
    if (element === undefined) throw new Error('its schema has fewer columns than it says')
    const { name, num_children = 0, repetition_type = 'REQUIRED' } = element
    const own = [...path, name]
    if (num_children === 0) leaves.push({ path: own, element, levels })
    const within = repetition_type === 'REQUIRED' ? levels : [...levels, repetition_type]
    for (let child = 0; child < num_children; child++) visit(own, within)
  }
  for (let column = schema[0]?.num_children ?? 0; column > 0; column--) visit([], [])
  return leaves
}
