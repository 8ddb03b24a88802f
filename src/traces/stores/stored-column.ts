// Runs once a value: the loops index with `!`.
import type { ColumnMetaData } from 'hyparquet'
import { hyparquetParts, readerOf, requireThat } from './parquet-pages.ts'

interface Page {
  readonly encoding: string | undefined
  readonly values: Uint8Array
  readonly count: number
}

/** Typed arrays of one kind. */
export interface Numbers<A> {
  new (buffer: ArrayBuffer, start: number, length: number): A
  readonly BYTES_PER_ELEMENT: number
}

/** Texts of a column, each once where it has a dictionary, and which of them each value is. */
export interface StoredTexts {
  readonly texts: TextsOfPage
  readonly codes: Uint32Array
}

/**
 * One column of one row group as flowdelta saves them (pages of version 2; plain, with a dictionary,
 * or runs of truths), read into typed arrays. Rows without values have none here.
 *
 * @throws Error for pages that cannot be what the column says
 */
export class StoredColumn {
  readonly length: number
  readonly #dictionary: Page | undefined
  readonly #pages: readonly Page[]

  private constructor(pages: readonly Page[], dictionary: Page | undefined) {
    this.#pages = pages
    this.#dictionary = dictionary
    this.length = pages.reduce((sum, { count }) => sum + count, 0)
  }

  static async read(chunk: ArrayBuffer, column: ColumnMetaData): Promise<StoredColumn> {
    const { compressors, parquetHeader } = await hyparquetParts()
    const reader = readerOf(new Uint8Array(chunk))
    const pages: Page[] = []
    let dictionary: Page | undefined
    let seen = 0
    while (reader.offset < chunk.byteLength) {
      const start = reader.offset
      const {
        data_page_header_v2: data,
        dictionary_page_header: own,
        ...sizes
      } = parquetHeader(reader)
      requireThat(reader.offset > start, 'a page whose header ends before it begins')
      const { compressed_page_size: size, uncompressed_page_size: whole } = sizes
      const { num_values: count, encoding } = data ?? own ?? {}
      const levels =
        data === undefined
          ? 0
          : data.repetition_levels_byte_length + data.definition_levels_byte_length
      const without = data?.num_nulls ?? 0
      requireThat(
        [size, count, levels, without, whole].every((number) => Number(number) >= 0) &&
          levels <= Math.min(size, whole) &&
          size <= chunk.byteLength - reader.offset,
        `a page of ${count} values in ${size} bytes where ${chunk.byteLength - reader.offset} are left`,
      )
      const page = new Uint8Array(chunk, reader.offset + levels, size - levels)
      reader.offset += size
      const decompress = data?.is_compressed === false ? undefined : compressors[column.codec]
      const values = decompress?.(page, whole - levels) ?? page
      if (data === undefined) dictionary = { encoding, values, count: count as number }
      else pages.push({ encoding, values, count: (count as number) - without })
      if (data !== undefined) seen += count as number
    }
    requireThat(seen === Number(column.num_values), `${seen} values, not ${column.num_values}`)
    return new StoredColumn(pages, dictionary)
  }

  texts(): StoredTexts {
    const dictionary = this.#dictionary
    const codes = new Uint32Array(this.length)
    if (dictionary === undefined) {
      const bytes = this.#plain()
      for (let i = 0; i < codes.length; i++) codes[i] = i
      return { texts: new TextsOfPage(bytes, this.length), codes }
    }
    let at = 0
    for (const { encoding, values, count } of this.#pages) {
      requireThat(encoding?.endsWith('_DICTIONARY') === true, `values as ${encoding}`)
      unpack(values, 1, values[0]!, codes.subarray(at, at + count))
      at += count
    }
    const texts = new TextsOfPage(dictionary.values, dictionary.count)
    for (let i = 0; i < codes.length; i++) {
      if (codes[i]! < texts.length) continue
      throw new Error(`it has place ${codes[i]} in a dictionary of ${texts.length} values`)
    }
    return { texts, codes }
  }

  /** As `kind` keeps them. */
  numbers<A>(kind: Numbers<A>): A {
    const bytes = this.#plain()
    const size = this.length * kind.BYTES_PER_ELEMENT
    requireThat(bytes.length >= size, `${bytes.length} bytes for ${this.length} numbers`)
    // Where pages begin, numbers need not be aligned.
    return new kind(bytes.slice(0, size).buffer, 0, this.length)
  }

  truths(): Uint8Array {
    const truths = new Uint8Array(this.length)
    let at = 0
    for (const { encoding, values, count } of this.#pages) {
      const own = truths.subarray(at, at + count)
      if (encoding === 'RLE') unpack(values, 4, 1, own)
      else {
        requireThat(encoding === 'PLAIN' && 8 * values.length >= count, `truths as ${encoding}`)
        for (let i = 0; i < count; i++) own[i] = (values[i >> 3]! >> (i & 7)) & 1
      }
      at += count
    }
    return truths
  }

  #plain(): Uint8Array {
    for (const { encoding } of this.#pages) {
      requireThat(encoding === 'PLAIN', `values as ${encoding}`)
    }
    const [first, ...others] = this.#pages.map(({ values }) => values)
    if (first === undefined || others.length === 0) return first ?? new Uint8Array()
    const all = new Uint8Array(this.#pages.reduce((sum, { values }) => sum + values.length, 0))
    let at = 0
    for (const { values } of this.#pages) {
      all.set(values, at)
      at += values.length
    }
    return all
  }
}

const UTF8 = new TextDecoder()
/** A character for each byte. */
const BYTES = new TextDecoder('latin1')

/** Texts behind their lengths, decoded when they are asked for. */
export class TextsOfPage {
  readonly length: number
  readonly #bytes: Uint8Array
  readonly #starts: Uint32Array
  readonly #ends: Uint32Array
  #characters: string | undefined

  constructor(bytes: Uint8Array, length: number) {
    requireThat(4 * length <= bytes.length, `${bytes.length} bytes for ${length} texts`)
    this.#bytes = bytes
    this.length = length
    this.#starts = new Uint32Array(length)
    this.#ends = new Uint32Array(length)
    const { view } = readerOf(bytes)
    let at = 0
    for (let i = 0; i < length; i++) {
      const start = at + 4
      at = start + (start <= bytes.length ? view.getUint32(at, true) : 0)
      requireThat(at <= bytes.length, `a text that ends at byte ${at} of ${bytes.length}`)
      this.#starts[i] = start
      this.#ends[i] = at
    }
  }

  *[Symbol.iterator](): Generator<string> {
    for (let place = 0; place < this.length; place++) yield this.text(place)
  }

  text(place: number): string {
    const [start, end] = [this.#starts[place]!, this.#ends[place]!]
    for (let at = start; at < end; at++) {
      if (this.#bytes[at]! >= 0x80) return UTF8.decode(this.#bytes.subarray(start, end))
    }
    this.#characters ??= BYTES.decode(this.#bytes)
    return this.#characters.slice(start, end)
  }
}

/** Reads runs of one value, and of eight or more in `width` bits each, until `into` is full. */
function unpack(
  bytes: Uint8Array,
  from: number,
  width: number,
  into: Uint32Array | Uint8Array,
): void {
  requireThat(width <= 24, `values of ${width} bits`)
  const mask = (1 << width) - 1
  let at = from
  for (let filled = 0; filled < into.length; ) {
    requireThat(at < bytes.length, `runs that end after ${filled} of ${into.length} values`)
    let header = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      header += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    const isPacked = header % 2 === 1
    const run = Math.floor(header / 2) * (isPacked ? 8 : 1)
    const end = Math.min(into.length, filled + run)
    requireThat(end > filled, 'a run of no values')
    if (isPacked) {
      const next = at + Math.ceil((run * width) / 8)
      let [data, bits] = [0, 0]
      for (; filled < end; filled++) {
        for (; bits < width; bits += 8) data |= bytes[at++]! << bits
        into[filled] = data & mask
        data >>>= width
        bits -= width
      }
      requireThat(at <= bytes.length, `a run that ends at byte ${at} of ${bytes.length}`)
      at = next
    } else {
      let value = 0
      for (let bits = 0; bits < width; bits += 8) value |= bytes[at++]! << bits
      into.fill(value, filled, end)
      filled = end
    }
  }
}
