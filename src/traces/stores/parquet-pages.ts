// Runs once a byte: indexes with `!`.
import type {
  ColumnMetaData,
  Compressors,
  DataReader,
  Encoding,
  PageHeader,
  SchemaElement,
} from 'hyparquet'

/** Key of the JSON metadata in files that flowdelta wrote. */
export const SAVED_KEY = 'flowdelta'
/** The number of bytes before the footer, and their CRC-32: pages that others write have none of their own. */
export const CHECKSUM_KEY = 'flowdelta-crc32'

const CRC = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  return crc
})
function crcAfter(before: number, bytes: Uint8Array): number {
  let crc = before
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ CRC[(crc ^ bytes[i]!) & 0xff]!
  return crc
}

/** Returns the CRC-32 of bytes, in hex digits. */
export async function checksumOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let crc = -1
  for await (const bytes of chunks) crc = crcAfter(crc, bytes)
  return (~crc >>> 0).toString(16).padStart(8, '0')
}

/** Values that a run may have beyond the last one, as writers fill up blocks. */
const MAX_PADDING = 1024

const loaded = async () => ({
  ...(await import('hyparquet-compressors')),
  ...(await import('hyparquet/src/column.js')),
  ...(await import('hyparquet/src/delta.js')),
  ...(await import('hyparquet/src/encoding.js')),
  ...(await import('hyparquet/src/schema.js')),
  ...(await import('hyparquet/src/thrift.js')),
})

let parts: ReturnType<typeof loaded> | undefined

/** Parts of hyparquet, which is loaded with the first file that is read. */
function hyparquetParts(): ReturnType<typeof loaded> {
  parts ??= loaded()
  return parts
}

/**
 * Checks the pages of a column chunk, since hyparquet writes out as many values as a damaged count
 * says: 2³¹, or without end. Pages that are compressed are checked by the decompressors returned.
 *
 * @throws Error for a page that contradicts its column
 */
export async function checkPages(
  chunk: ArrayBuffer,
  column: ColumnMetaData,
  schema: SchemaElement[],
): Promise<Compressors> {
  return new PageCheck(await hyparquetParts(), column, schema).check(chunk)
}

class PageCheck {
  readonly #hyparquet: Awaited<ReturnType<typeof loaded>>
  readonly #column: ColumnMetaData
  readonly #isFlat: boolean
  readonly #maxRepetition: number
  readonly #maxDefinition: number

  constructor(
    hyparquet: Awaited<ReturnType<typeof loaded>>,
    column: ColumnMetaData,
    schema: SchemaElement[],
  ) {
    const path = hyparquet.getSchemaPath(schema, column.path_in_schema)
    this.#hyparquet = hyparquet
    this.#column = column
    this.#isFlat = hyparquet.isFlatColumn(path)
    this.#maxRepetition = hyparquet.getMaxRepetitionLevel(path)
    this.#maxDefinition = hyparquet.getMaxDefinitionLevel(path)
  }

  check(chunk: ArrayBuffer): Compressors {
    const { compressors, parquetHeader } = this.#hyparquet
    const { codec, num_values } = this.#column
    const reader = readerOf(new Uint8Array(chunk))
    /** Checks by the byte that a page's values begin with. */
    const checks = new Map<number, (values: Uint8Array) => void>()
    let seen = 0
    while (reader.offset < chunk.byteLength - 1 && !(this.#isFlat && seen >= num_values)) {
      const start = reader.offset
      const header = parquetHeader(reader)
      // A field of negative length would lead back to bytes already read.
      requireThat(reader.offset > start, 'a page whose header ends before it begins')
      const size = header.compressed_page_size
      const left = chunk.byteLength - reader.offset
      requireThat(areCounts(size) && size <= left, `a page of ${size} bytes where ${left} are left`)
      const page = new Uint8Array(chunk, reader.offset, size)
      reader.offset += size
      const { data_page_header: whole, data_page_header_v2: split } = header
      const count = (whole ?? split)?.num_values ?? 0
      requireThat(areCounts(count), `a page of ${count} values`)
      seen += count
      requireThat(seen <= num_values, `${seen} values, not ${num_values}`)
      const values = split === undefined ? page : this.#withoutLevels(page, split)
      const check = (decompressed: Uint8Array) => {
        if (whole !== undefined) this.#checkWhole(readerOf(decompressed), whole)
        if (split !== undefined)
          this.#checkValues(readerOf(decompressed), split.encoding, count - split.num_nulls)
      }
      if (codec === 'UNCOMPRESSED' || split?.is_compressed === false) check(values)
      else checks.set(values.byteOffset, check)
    }
    requireThat(seen === Number(num_values), `${seen} values, not ${num_values}`)
    const checking = Object.entries(compressors).map(([name, decompress]) => [
      name,
      (bytes: Uint8Array, length: number) => {
        const values = decompress(bytes, length)
        checks.get(bytes.byteOffset)?.(values)
        return values
      },
    ])
    return Object.fromEntries(checking) as Compressors
  }

  /** Values of a page of version 2, whose levels are never compressed. */
  #withoutLevels(page: Uint8Array, header: NonNullable<PageHeader['data_page_header_v2']>) {
    const { num_values, num_nulls, num_rows } = header
    const repetition = header.repetition_levels_byte_length
    const definition = header.definition_levels_byte_length
    requireThat(
      areCounts(repetition, definition) && repetition + definition <= page.length,
      `levels of ${repetition} and ${definition} bytes in a page of ${page.length}`,
    )
    const isCounted = areCounts(num_rows, num_nulls) && num_nulls <= num_values
    requireThat(isCounted, `${num_nulls} nulls and ${num_rows} rows of ${num_values} values`)
    const reader = readerOf(page)
    if (this.#maxRepetition > 0) this.#checkRuns(reader, widthOf(this.#maxRepetition), num_values)
    reader.offset = repetition
    if (this.#maxDefinition > 0) this.#checkRuns(reader, widthOf(this.#maxDefinition), num_values)
    return page.subarray(repetition + definition)
  }

  /** A page of version 1: levels, each behind their length, and values. */
  #checkWhole(
    reader: DataReader,
    { encoding, num_values }: NonNullable<PageHeader['data_page_header']>,
  ) {
    const levelsBelow = (max: number) => {
      const { view, offset } = reader
      this.#checkRuns({ view, offset: offset + 4 }, widthOf(max), num_values)
      const levels = new Array<number>(num_values)
      this.#hyparquet.readRleBitPackedHybrid(reader, widthOf(max), levels)
      return levels.filter((level) => level !== max).length
    }
    if (this.#maxRepetition > 0) levelsBelow(this.#maxRepetition)
    const nulls = this.#maxDefinition > 0 ? levelsBelow(this.#maxDefinition) : 0
    this.#checkValues(reader, encoding, num_values - nulls)
  }

  #checkValues(reader: DataReader, encoding: Encoding, count: number) {
    const { type } = this.#column
    if (encoding === 'RLE' || encoding?.endsWith('_DICTIONARY')) {
      const isTruth = type === 'BOOLEAN'
      requireThat(isTruth === (encoding === 'RLE'), `${type} as ${encoding}`)
      const width = isTruth ? 1 : reader.view.getUint8(reader.offset++)
      if (isTruth) reader.offset += 4
      this.#checkRuns(reader, width, count)
    } else if (encoding === 'DELTA_BYTE_ARRAY') this.#checkShared(reader, count)
    else if (encoding?.startsWith('DELTA_')) this.#checkDeltas(reader)
  }

  /** Runs of levels, or of places in a dictionary. */
  #checkRuns(reader: DataReader, width: number, count: number) {
    requireThat(width <= 32, `values of ${width} bits`)
    for (let seen = 0; seen < count; ) {
      const header = this.#hyparquet.readVarInt(reader)
      const isPacked = (header & 1) === 1
      const run = (header >>> 1) * (isPacked ? 8 : 1)
      requireThat(run <= count + MAX_PADDING, `a run of ${run} in a page of ${count} values`)
      seen += run
      reader.offset += isPacked ? Math.max(1, (run * width) / 8) : (width + 7) >> 3
    }
  }

  /** Differences of integers, in blocks: hyparquet looks for those of a negative length without end. */
  #checkDeltas({ view, offset }: DataReader) {
    const reader = { view, offset }
    const [block, parts] = [this.#hyparquet.readVarInt(reader), this.#hyparquet.readVarInt(reader)]
    requireThat(block > 0 && parts > 0, `${parts} parts of a block of ${block} values`)
  }

  /** Texts that begin as the one before them, of which up to 2³¹ bytes would be made. */
  #checkShared(reader: DataReader, count: number) {
    if (count === 0) return
    const [shared, own] = [new Int32Array(count), new Int32Array(count)]
    for (const lengths of [shared, own]) {
      this.#checkDeltas(reader)
      this.#hyparquet.deltaBinaryUnpack(reader, count, lengths)
    }
    let before = 0
    for (const [i, length] of shared.entries()) {
      requireThat(
        length >= 0 && length <= before,
        `a text that shares ${length} of ${before} bytes`,
      )
      before = length + (own[i] as number)
    }
  }
}

function readerOf({ buffer, byteOffset, byteLength }: Uint8Array): DataReader {
  return { view: new DataView(buffer, byteOffset, byteLength), offset: 0 }
}

const widthOf = (maxLevel: number) => 32 - Math.clz32(maxLevel)

/** Whether all are counts: a damaged header may have lists or texts where numbers belong. */
function areCounts(...values: readonly unknown[]): boolean {
  return values.every((value) => Number.isInteger(value) && (value as number) >= 0)
}

function requireThat(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(`it has ${otherwise}`)
}
