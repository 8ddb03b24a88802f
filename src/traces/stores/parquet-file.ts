import type { AsyncBuffer, FileMetaData, RowGroup, SchemaElement, SchemaTree } from 'hyparquet'
import { FlowdeltaError, TraceFormatError } from '../../core/errors.ts'
import { nodeFiles } from '../trace-source.ts'
import { CHECKSUM_KEY, checksumOf } from './saved-parquet.ts'

/** Text, the bytes of an id, or whatever a caller makes of bytes, once for each distinct value. */
export type FromBytes = (bytes: Uint8Array) => unknown

/** A column that holds values, or a map. */
export interface Column {
  /** Names from the outermost group to the column, without those of levels of lists and maps. */
  readonly path: readonly string[]
  readonly element: SchemaElement
}

/** One Parquet file, read by column and row group: nothing is decoded that is not asked for. */
export interface ParquetFile {
  readonly name: string
  readonly bytes: number
  readonly metadata: FileMetaData
  readonly columns: readonly Column[]
  /** Values of a column in a row group, one a row; times as stored, maps as lists of `{ key, value }`. */
  read(group: RowGroup, column: Column, fromBytes?: FromBytes): Promise<ArrayLike<unknown>>
  /** Returns the file's metadata under a key, as it was written. */
  said(key: string): string | undefined
  /** @throws TraceFormatError for a file with a checksum that has other bytes now */
  requireIntact(): Promise<void>
  close(): Promise<void>
}

const decoder = new TextDecoder()

/** Text in UTF-8. */
export const asText: FromBytes = (bytes) => decoder.decode(bytes)

/** Opens a Parquet file, or those of a folder; throws if there are none, or one is damaged. */
export async function openParquet(location: string): Promise<ParquetFile[]> {
  const { openSlices } = await nodeFiles()
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
  const { namesWithin } = await nodeFiles()
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

async function opened(
  name: string,
  file: AsyncBuffer & { close(): Promise<void> },
): Promise<ParquetFile> {
  const { parquetMetadataAsync, parquetRead, parquetSchema } = await import('hyparquet')
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
  const { metadata, columns } = await parquetMetadataAsync(file, WITHOUT_GEO)
    .then((read) => ({ metadata: withAllRows(read), columns: columnsIn(parquetSchema(read)) }))
    .catch(async (error) => {
      await file.close()
      throw damaged(error)
    })
  const schema = metadata.schema.map(asStored)
  const said = (wanted: string) =>
    metadata.key_value_metadata?.find(({ key }) => key === wanted)?.value
  return {
    name,
    metadata,
    bytes: file.byteLength,
    columns,
    async read(group, { path: [top = '', ...within] }, stringFromBytes = asText) {
      const pages: ArrayLike<unknown>[] = []
      await parquetRead({
        file,
        compressors,
        columns: [top],
        metadata: { ...metadata, schema, row_groups: [group] },
        parsers: { stringFromBytes, timestampFromNanoseconds: (nanos) => nanos },
        onChunk: ({ columnData }) => pages.push(columnData),
      }).catch((error) => {
        throw damaged(error)
      })
      const [first = [], ...others] = pages
      const values = others.length === 0 ? first : pages.flatMap((page) => Array.from(page))
      if (values.length !== Number(group.num_rows)) {
        throw damaged(`it has ${values.length} rows in a row group of ${group.num_rows}`)
      }
      return within.length === 0 ? values : Array.from(values, (value) => valueIn(value, within))
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

/** Returns a value within structs, or the values within a list of structs. */
function valueIn(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((outer, name) => {
    const of = (struct: unknown) => (struct as Record<string, unknown> | null | undefined)?.[name]
    return Array.isArray(outer) ? outer.map(of) : of(outer)
  }, value)
}

/** Keeps numbers and times as stored, and maps as lists: dates would lose nanoseconds, objects equal keys. */
function asStored(element: SchemaElement): SchemaElement {
  const { logical_type: _, converted_type: kind, ...stored } = element
  const isKept = element.type === undefined ? kind !== 'MAP' : element.type === 'BYTE_ARRAY'
  return isKept ? element : stored
}

/** Names of the levels within lists and maps. */
const LEVELS = new Set(['list', 'element', 'key_value', 'key', 'value'])

function columnsIn({ element, children, path }: SchemaTree): Column[] {
  if (children.length > 0) return children.flatMap(columnsIn)
  return [{ path: path.filter((name) => !LEVELS.has(name)), element }]
}
