import type { Socket } from 'node:net'

const LENGTH_BYTES = 4

/** A block as it is sent: its length, then its bytes. */
export function framed(bytes: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** The blocks that arrive on a connection, until the other side ends it. */
export async function* blocksFrom(socket: Socket): AsyncGenerator<Buffer> {
  let arrived = Buffer.alloc(0)
  for await (const chunk of socket) {
    arrived = Buffer.concat([arrived, chunk as Buffer])
    while (arrived.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + arrived.readUInt32LE()
      if (arrived.length < end) break
      yield arrived.subarray(LENGTH_BYTES, end)
      arrived = arrived.subarray(end)
    }
  }
  if (arrived.length > 0)
    throw new Error(`${arrived.length} bytes of a block whose end is missing.`)
}
