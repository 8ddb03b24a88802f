import type { AsyncBuffer, FileMetaData, RowGroup, SchemaElement } from 'hyparquet'
import { FlowdeltaError, TraceFormatError } from '../../core/errors.ts'
import { parsedJson } from '../readers/json-values.ts'
import { nodeFiles } from '../trace-source.ts'

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

/**
 * One Parquet file, read column by column and row group by row group, so that nothing is decoded
 * that is not asked for.
 */
export interface ParquetFile {
  readonly name: string
  readonly bytes: number
  readonly metadata: FileMetaData
  readonly leaves: readonly Leaf[]
  /**
   * Returns what the folder of a block says of it (Tempo's `meta.json`), `null` where there is none.
   *
   * @throws TraceFormatError for a file of that name that is not JSON
   */
  readonly meta: () => unknown
  /**
   * Values of one column in one row group, one entry a row; below what repeats, arrays. Integers
   * and times come as they are stored.
   */
  read(group: RowGroup, leaf: Leaf, fromBytes?: FromBytes): Promise<ArrayLike<unknown>>
  /**
   * Values of a column that repeats once in each row, one row's behind the other's, and `null` for
   * each row that has none. Of pages of version 2, in which levels stand apart.
   */
  readFlat(group: RowGroup, leaf: Leaf, fromBytes: FromBytes): Promise<ArrayLike<unknown>>
  close(): Promise<void>
}

const decoder = new TextDecoder()

/** Bytes in hex digits. */
export const asHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Text in UTF-8. */
export const asText: FromBytes = (bytes) => decoder.decode(bytes)

/**
 * Opens the Parquet files at a path: a file, a folder of such files, a block of Tempo
 * (`data.parquet` beside `meta.json`), or a folder of blocks.
 *
 * @throws FlowdeltaError where there are none; TraceFormatError for one that is damaged
 */
export async function openParquet(location: string): Promise<ParquetFile[]> {
  const { openSlices, readTextIfThere } = await nodeFiles()
  const paths = await parquetPaths(location)
  if (paths.length === 0) {
    throw new FlowdeltaError(
      `${location} is a folder without Parquet files. Name the files, or the folder of a block.`,
    )
  }
  const files = await Promise.allSettled(
    paths.map(async (path) => {
      const metaPath = path.replace(/[^\\/]*$/, 'meta.json')
      const meta = await readTextIfThere(metaPath)
      return opened(path, await openSlices(path), () => metaOf(meta, metaPath))
    }),
  )
  const good = files.flatMap((file) => (file.status === 'fulfilled' ? [file.value] : []))
  const bad = files.find((file) => file.status === 'rejected')
  if (bad === undefined) return good
  for (const file of good) await file.close()
  throw bad.reason
}

function metaOf(text: string | undefined, file: string): unknown {
  const meta = text === undefined ? null : parsedJson(text)
  if (meta !== undefined) return meta
  throw new TraceFormatError('The file is not JSON', { file }, 'Copy it again, or take it away')
}

/** Folders are looked through two levels deep: a folder of blocks, and each block. */
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

async function opened(
  name: string,
  file: AsyncBuffer & { close(): Promise<void> },
  meta: () => unknown,
): Promise<ParquetFile> {
  const { parquetMetadataAsync, parquetRead } = await import('hyparquet')
  const { compressors } = await import('hyparquet-compressors')
  const damaged = (error: unknown) => damagedParquet(name, error)
  const { metadata, leaves } = await parquetMetadataAsync(file)
    .then((read) => ({ metadata: read, leaves: leavesOf(read.schema) }))
    .catch(async (error) => {
      await file.close()
      throw damaged(error)
    })
  const schema = metadata.schema.map(asStored)
  const valuesOf = async (what: FileMetaData, stringFromBytes: FromBytes) => {
    const pages: ArrayLike<unknown>[] = []
    await parquetRead({
      file,
      compressors,
      metadata: what,
      parsers: { stringFromBytes, timestampFromNanoseconds: (nanos) => nanos },
      onPage: ({ columnData }) => pages.push(columnData),
    }).catch((error) => {
      throw damaged(error)
    })
    return pages.length === 1 ? (pages[0] as ArrayLike<unknown>) : joined(pages)
  }
  const chunksOf = (group: RowGroup, { path }: Leaf) => {
    const key = path.join('\0')
    return group.columns.filter(({ meta_data }) => meta_data?.path_in_schema.join('\0') === key)
  }
  return {
    name,
    metadata,
    meta,
    bytes: file.byteLength,
    leaves,
    async read(group, leaf, fromBytes = asText) {
      const row_groups = [{ ...group, columns: chunksOf(group, leaf) }]
      const values = await valuesOf({ ...metadata, schema, row_groups }, fromBytes)
      return leaf.levels.includes('OPTIONAL')
        ? Array.from(values, (value) => bare(value, leaf.levels))
        : values
    },
    async readFlat(group, leaf, fromBytes) {
      // As a column of its own, with a row for each value, it needs no arrays of rows.
      const [chunk] = chunksOf(group, leaf)
      if (chunk?.meta_data === undefined) return []
      const num_rows = chunk.meta_data.num_values
      const meta_data = { ...chunk.meta_data, path_in_schema: [leaf.element.name] }
      const alone = { ...leaf.element, repetition_type: 'OPTIONAL' } as const
      const only = {
        ...metadata,
        num_rows,
        schema: [{ name: 'root', num_children: 1 }, alone],
        row_groups: [{ ...group, num_rows, columns: [{ ...chunk, meta_data }] }],
      }
      return valuesOf(only, fromBytes)
    },
    close: () => file.close(),
  }
}

function joined(pages: readonly ArrayLike<unknown>[]): unknown[] {
  const all: unknown[] = []
  for (const page of pages) for (let i = 0; i < page.length; i++) all.push(page[i])
  return all
}

/** Takes off the arrays that stand for what is optional. */
function bare(value: unknown, levels: readonly string[], depth = 0): unknown {
  if (depth === levels.length || !Array.isArray(value)) return value
  if (levels[depth] === 'OPTIONAL')
    return value.length === 0 ? [] : bare(value[0], levels, depth + 1)
  return value.map((each) => bare(each, levels, depth + 1))
}

/** Numbers and times stay what is stored: making a `Date` of each would lose its nanoseconds. */
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
