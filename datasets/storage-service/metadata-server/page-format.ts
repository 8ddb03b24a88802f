import type { FileRecord, Page } from './page.ts'

// A page: kind (1 byte), number of keys (2), then the keys, each a length (1) and UTF-8 text. A
// leaf goes on with a record per key, a branch with a page number per child; a head has no keys
// and goes on with the root and the next unused page number. Numbers are big-endian.
const KINDS = ['head', 'leaf', 'branch'] as const
const PREFIX_BYTES = 3
const PAGE_NUMBER_BYTES = 4
const SIZE_BYTES = 6
const RECORD_BYTES = SIZE_BYTES + 4

/** Bytes a page takes when written. */
export function encodedBytes(page: Page): number {
  if (page.kind === 'head') return PREFIX_BYTES + 2 * PAGE_NUMBER_BYTES
  let bytes = PREFIX_BYTES
  for (const key of page.keys) bytes += 1 + Buffer.byteLength(key)
  return page.kind === 'leaf'
    ? bytes + page.records.length * RECORD_BYTES
    : bytes + page.children.length * PAGE_NUMBER_BYTES
}

/** The page as `pageBytes` bytes, zeros at the end. */
export function encodePage(page: Page, pageBytes: number): Buffer {
  const bytes = Buffer.alloc(pageBytes)
  const keys = page.kind === 'head' ? [] : page.keys
  bytes.writeUInt8(KINDS.indexOf(page.kind), 0)
  bytes.writeUInt16BE(keys.length, 1)
  let at = PREFIX_BYTES
  for (const key of keys) {
    const length = bytes.write(key, at + 1)
    bytes.writeUInt8(length, at)
    at += 1 + length
  }
  const numbers = page.kind === 'head' ? [page.root, page.nextPage] : []
  for (const number of page.kind === 'branch' ? page.children : numbers) {
    at = bytes.writeUInt32BE(number, at)
  }
  for (const record of page.kind === 'leaf' ? page.records : []) at = writeRecord(bytes, record, at)
  return bytes
}

export function decodePage(bytes: Buffer): Page {
  const kind = KINDS[bytes.readUInt8(0)]
  const count = bytes.readUInt16BE(1)
  const keys: string[] = []
  let at = PREFIX_BYTES
  for (let i = 0; i < count; i++) {
    const length = bytes.readUInt8(at)
    keys.push(bytes.toString('utf8', at + 1, at + 1 + length))
    at += 1 + length
  }
  const number = (i: number) => bytes.readUInt32BE(at + i * PAGE_NUMBER_BYTES)
  if (kind === 'head') return { kind, root: number(0), nextPage: number(1) }
  if (kind === 'branch') {
    return { kind, keys, children: Array.from({ length: count + 1 }, (_, i) => number(i)) }
  }
  if (kind !== 'leaf') throw new Error(`Byte 0 of an index page is ${bytes[0]}, not 0, 1 or 2.`)
  return { kind, keys, records: keys.map((_, i) => readRecord(bytes, at + i * RECORD_BYTES)) }
}

function writeRecord(bytes: Buffer, record: FileRecord, at: number): number {
  bytes.writeUIntBE(record.sizeBytes, at, SIZE_BYTES)
  return bytes.writeUInt32BE(record.version, at + SIZE_BYTES)
}

function readRecord(bytes: Buffer, at: number): FileRecord {
  return {
    sizeBytes: bytes.readUIntBE(at, SIZE_BYTES),
    version: bytes.readUInt32BE(at + SIZE_BYTES),
  }
}
