import { LockTable } from '../locks/lock-table.ts'
import { withLock } from '../locks/with-lock.ts'
import { inSpan } from '../telemetry/span.ts'
import { Directory } from './directory.ts'
import type { NamedRecord } from './operations.ts'
import type { FileRecord } from './page.ts'
import type { RemotePages } from './remote-pages.ts'

/**
 * All directories. Whoever looks into a directory or changes it holds its lock; so page splits in
 * one directory keep nobody from another.
 */
export class Namespace {
  readonly #pagesOf: (directory: string) => RemotePages
  readonly #directories = new Map<string, Directory>()
  readonly #locks = new LockTable()

  constructor(pagesOf: (directory: string) => RemotePages) {
    this.#pagesOf = pagesOf
  }

  /** Adds an empty directory; an error if there is one of that name. */
  makeDirectory(name: string): Promise<void> {
    return withLock(this.#locks, { name, kind: 'directory' }, async () => {
      if (this.#directories.has(name)) throw new Error(`The directory ${name} exists already.`)
      this.#directories.set(name, await Directory.create(this.#pagesOf(name)))
    })
  }

  /** The record of a file, if there is one. */
  find(path: string): Promise<FileRecord | undefined> {
    return this.#inDirectory(path, (directory, file) => directory.get(file))
  }

  /** Adds a file of no bytes; an error if there is one of that name. */
  create(path: string): Promise<FileRecord> {
    return this.#inDirectory(path, async (directory, file) => {
      if ((await directory.get(file)) !== undefined) {
        throw new Error(`${path} exists already: remove it first.`)
      }
      return directory.put(file, { sizeBytes: 0, version: 0 })
    })
  }

  /** Notes that a file has grown; it never shrinks. */
  grow(path: string, sizeBytes: number): Promise<FileRecord> {
    return this.#inDirectory(path, async (directory, file) => {
      const record = await directory.get(file)
      if (record === undefined) throw new Error(`${path} does not exist: create it first.`)
      return directory.put(file, {
        sizeBytes: Math.max(record.sizeBytes, sizeBytes),
        version: record.version + 1,
      })
    })
  }

  /** Takes a file away; false if there was none. */
  remove(path: string): Promise<boolean> {
    return this.#inDirectory(path, (directory, file) => directory.remove(file))
  }

  /** Looks up every file of a directory, which stays locked meanwhile; returns how many there are. */
  list(directory: string, pauseMs: number): Promise<number> {
    return this.#inDirectory(`${directory}/`, (index) => index.scan(pauseMs))
  }

  /**
   * Records of up to `count` other files of the same directory. Each is looked up by itself, as if
   * it had been asked for: the directory's lock is acquired and released once per record.
   */
  prefetch(path: string, count: number): Promise<NamedRecord[]> {
    return inSpan('prefetch', async (span) => {
      const directory = path.slice(0, path.indexOf('/'))
      const files = await this.#inDirectory(path, (index, file) => index.neighbours(file, count))
      const records: NamedRecord[] = []
      for (const file of files) {
        const name = `${directory}/${file}`
        const record = await this.#inDirectory(name, (index) => index.peek(file))
        if (record !== undefined) records.push({ name, record })
      }
      span.setAttribute('prefetch.records', records.length)
      return records
    })
  }

  #inDirectory<T>(
    path: string,
    work: (directory: Directory, file: string) => Promise<T>,
  ): Promise<T> {
    const slash = path.indexOf('/')
    if (slash < 1) throw new Error(`${path} is not a path: write directory/file.`)
    const name = path.slice(0, slash)
    return withLock(this.#locks, { name, kind: 'directory' }, async () =>
      work(await this.#directory(name), path.slice(slash + 1)),
    )
  }

  async #directory(name: string): Promise<Directory> {
    const known = this.#directories.get(name)
    if (known !== undefined) return known
    const opened = await Directory.open(this.#pagesOf(name))
    this.#directories.set(name, opened)
    return opened
  }
}
