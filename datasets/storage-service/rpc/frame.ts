const LENGTH_BYTES = 4

/** One message: a JSON header and the bytes that go with it. */
export interface Frame<Header> {
  readonly header: Header
  readonly body: Buffer
}

/** Two lengths (32 bits, big-endian), the header as JSON, the body as it is. */
export function encodeFrame<Header>({ header, body }: Frame<Header>): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  const lengths = Buffer.alloc(2 * LENGTH_BYTES)
  lengths.writeUInt32BE(text.length, 0)
  lengths.writeUInt32BE(body.length, LENGTH_BYTES)
  return Buffer.concat([lengths, text, body])
}

/** Cuts a byte stream back into frames, however the stream was chopped on its way. */
export class FrameReader<Header> {
  #pending: Buffer = Buffer.alloc(0)

  /** The frames completed by `chunk`, in order. */
  push(chunk: Buffer): Frame<Header>[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const frames: Frame<Header>[] = []
    for (let frame = this.#take(); frame !== undefined; frame = this.#take()) frames.push(frame)
    return frames
  }

  #take(): Frame<Header> | undefined {
    const pending = this.#pending
    if (pending.length < 2 * LENGTH_BYTES) return undefined
    const bodyStart = 2 * LENGTH_BYTES + pending.readUInt32BE(0)
    const end = bodyStart + pending.readUInt32BE(LENGTH_BYTES)
    if (pending.length < end) return undefined
    this.#pending = pending.subarray(end)
    return {
      header: JSON.parse(pending.toString('utf8', 2 * LENGTH_BYTES, bodyStart)) as Header,
      body: pending.subarray(bodyStart, end),
    }
  }
}
