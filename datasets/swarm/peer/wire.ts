import type { Socket } from 'node:net'

/** What peers say to each other; the place in this list is the byte that is sent. */
const KINDS = ['handshake', 'have', 'request', 'piece'] as const

/** `number` is the port one listens on (handshake) or a piece. */
export interface PeerMessage {
  readonly kind: (typeof KINDS)[number]
  readonly number: number
  /** Of a handshake: a byte for each piece, 1 for one that is had. Of a piece: its content. */
  readonly bytes?: Uint8Array
}

const HEAD_BYTES = 9

/** A message as it is sent: length of the content, kind, number, content. */
export function encode({ kind, number, bytes = new Uint8Array(0) }: PeerMessage): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(bytes.length)
  head.writeUInt8(KINDS.indexOf(kind), 4)
  head.writeUInt32LE(number, 5)
  return Buffer.concat([head, bytes])
}

/** The messages that arrive on a connection, until it ends. */
export async function* messagesFrom(socket: Socket): AsyncGenerator<PeerMessage> {
  let arrived = Buffer.alloc(0)
  for await (const chunk of socket) {
    arrived = Buffer.concat([arrived, chunk as Buffer])
    while (arrived.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + arrived.readUInt32LE()
      if (arrived.length < end) break
      const code = arrived.readUInt8(4)
      const kind = KINDS[code]
      if (kind === undefined) throw new Error(`A peer sent a message of the unknown kind ${code}.`)
      yield { kind, number: arrived.readUInt32LE(5), bytes: arrived.subarray(HEAD_BYTES, end) }
      arrived = arrived.subarray(end)
    }
  }
}
