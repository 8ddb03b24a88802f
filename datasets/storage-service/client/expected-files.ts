/** What the files must hold, kept by the client, so that every READ can be checked. */
export class ExpectedFiles {
  readonly #files = new Map<string, Buffer>()
  #writes = 0

  create(name: string): void {
    this.#files.set(name, Buffer.alloc(0))
  }

  remove(name: string): void {
    this.#files.delete(name)
  }

  sizeBytes(name: string): number {
    return this.#of(name).length
  }

  /** Makes up bytes that no other write has, notes them, and hands them out to be sent. */
  write(name: string, offset: number, count: number): Buffer {
    const bytes = Buffer.alloc(count, `${name}@${offset} write ${++this.#writes};`)
    const old = this.#of(name)
    const grown = old.length >= offset + count ? old : Buffer.alloc(offset + count)
    if (grown !== old) old.copy(grown)
    bytes.copy(grown, offset)
    this.#files.set(name, grown)
    return bytes
  }

  /** Throws if `bytes` is not what was last written there. */
  check(name: string, { offset, count, bytes }: ReadAnswer): void {
    const expected = this.#of(name).subarray(offset, offset + count)
    if (expected.equals(bytes)) return
    const wrong = expected.findIndex((byte, i) => byte !== bytes[i])
    throw new Error(
      `READ of ${name} at ${offset} gave ${bytes.length} bytes for ${expected.length}, ` +
        `wrong from byte ${wrong}: ${bytes.toString('latin1', wrong, wrong + 40)}`,
    )
  }

  #of(name: string): Buffer {
    const bytes = this.#files.get(name)
    if (bytes === undefined) throw new Error(`The client never created ${name}.`)
    return bytes
  }
}

interface ReadAnswer {
  readonly offset: number
  readonly count: number
  readonly bytes: Buffer
}
