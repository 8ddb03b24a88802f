// Pages read what Node saved, so nothing here needs Node. Runs once a byte: indexes with `!`.

/** Key of the JSON metadata in files that flowdelta wrote. */
export const SAVED_KEY = 'flowdelta'
/** The number of bytes before the footer, and their CRC-32: pages that others write have none of their own. */
export const CHECKSUM_KEY = 'flowdelta-crc32'

const CRC = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  return crc
})

/** Returns the CRC-32 of bytes, in hex digits. */
export async function checksumOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let crc = -1
  for await (const bytes of chunks) {
    for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ CRC[(crc ^ bytes[i]!) & 0xff]!
  }
  return (~crc >>> 0).toString(16).padStart(8, '0')
}
