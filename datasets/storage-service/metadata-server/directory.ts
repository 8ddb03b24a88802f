import { setTimeout as pause } from 'node:timers/promises'
import type { Attributes } from '@opentelemetry/api'
import { inSpan } from '../telemetry/span.ts'
import type { FileRecord } from './page.ts'
import { PagedIndex } from './paged-index.ts'
import type { RemotePages } from './remote-pages.ts'

/** Records that a scan looks up between two pauses. */
const SCAN_BATCH = 8

/** One directory: its index, each piece of work on it a step of its own in the trace. */
export class Directory {
  readonly #pages: RemotePages
  readonly #index: PagedIndex

  private constructor(pages: RemotePages, index: PagedIndex) {
    this.#pages = pages
    this.#index = index
  }

  static async create(pages: RemotePages): Promise<Directory> {
    return new Directory(pages, await PagedIndex.create(pages))
  }

  static async open(pages: RemotePages): Promise<Directory> {
    return new Directory(pages, await PagedIndex.open(pages))
  }

  get(file: string): Promise<FileRecord | undefined> {
    return this.#step('index get', async () => ({ value: await this.#index.get(file) }))
  }

  /** Like `get`, but no step of its own in the trace: a prefetch does this by the dozen. */
  peek(file: string): Promise<FileRecord | undefined> {
    return this.#index.get(file)
  }

  /** Up to `count` other files, those after `file` first and then from the start. */
  neighbours(file: string, count: number): Promise<string[]> {
    return this.#step('index scan', async () => ({
      value: await this.#index.neighbours(file, count),
    }))
  }

  /** Looks up every file, and pauses now and then to leave the processors to others. */
  scan(pauseMs: number): Promise<number> {
    return this.#step('index scan', async () => {
      const files = await this.#index.neighbours('', Number.POSITIVE_INFINITY)
      for (const [i, file] of files.entries()) {
        await this.#index.get(file)
        if (i % SCAN_BATCH === SCAN_BATCH - 1) await pause(pauseMs)
      }
      return { value: files.length }
    })
  }

  put(file: string, record: FileRecord): Promise<FileRecord> {
    return this.#step('index put', async () => {
      const { splits, depth } = await this.#index.put(file, record)
      return { value: record, note: { 'index.splits': splits, 'index.depth': depth } }
    })
  }

  /** False if there was no such file. */
  remove(file: string): Promise<boolean> {
    return this.#step('index remove', async () => ({ value: await this.#index.remove(file) }))
  }

  #step<T>(name: string, work: () => Promise<{ value: T; note?: Attributes }>): Promise<T> {
    return inSpan(name, async (span) => {
      this.#pages.takeCosts()
      const { value, note = {} } = await work()
      const { cached, read, written } = this.#pages.takeCosts()
      span.setAttributes({ 'pages.cached': cached, 'pages.read': read, 'pages.written': written })
      const { scheme, data, parity } = this.#pages.distribution
      span.setAttributes({
        'distribution.scheme': scheme,
        'distribution.data': data,
        'distribution.parity': parity,
      })
      span.setAttributes(note)
      return value
    })
  }
}
