import type { FileRecord } from '../metadata-server/page.ts'

/** Records of recently used files; the least recently used goes first. */
export class AttributeCache {
  readonly #capacity: number
  readonly #records = new Map<string, FileRecord>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(name: string): FileRecord | undefined {
    const record = this.#records.get(name)
    if (record !== undefined) this.keep(name, record)
    return record
  }

  keep(name: string, record: FileRecord): void {
    this.#records.delete(name)
    this.#records.set(name, record)
    const [oldest] = this.#records.keys()
    if (this.#records.size > this.#capacity && oldest !== undefined) this.#records.delete(oldest)
  }

  /** Keeps a record that came unasked, unless a newer one is here. */
  keepPrefetched(name: string, record: FileRecord): void {
    const known = this.#records.get(name)
    if (known === undefined || known.version <= record.version) this.keep(name, record)
  }

  drop(name: string): void {
    this.#records.delete(name)
  }
}
