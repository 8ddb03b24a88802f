import type { Page } from '../../../datasets/storage-service/metadata-server/page.ts'
import {
  decodePage,
  encodePage,
} from '../../../datasets/storage-service/metadata-server/page-format.ts'
import type { PageStore } from '../../../datasets/storage-service/metadata-server/page-store.ts'

/** Pages in memory, kept as the bytes that would be on disk, with a count of what was done. */
export class MemoryPages implements PageStore {
  readonly pageBytes: number
  readonly written: number[] = []
  readonly #bytes = new Map<number, Buffer>()

  constructor(pageBytes: number) {
    this.pageBytes = pageBytes
  }

  get pages(): number {
    return this.#bytes.size
  }

  async read(page: number): Promise<Page> {
    const bytes = this.#bytes.get(page)
    if (bytes === undefined) throw new Error(`page ${page} was never written`)
    return decodePage(bytes)
  }

  async write(page: number, content: Page): Promise<void> {
    this.written.push(page)
    this.#bytes.set(page, encodePage(content, this.pageBytes))
  }
}
