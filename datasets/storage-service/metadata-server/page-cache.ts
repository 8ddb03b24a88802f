import type { Page } from './page.ts'

/** Pages of all directories in memory; the least recently used goes first. */
export class PageCache {
  readonly #capacity: number
  readonly #pages = new Map<string, Page>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(key: string): Page | undefined {
    const page = this.#pages.get(key)
    if (page !== undefined) this.keep(key, page)
    return page
  }

  keep(key: string, page: Page): void {
    this.#pages.delete(key)
    this.#pages.set(key, page)
    const [oldest] = this.#pages.keys()
    if (this.#pages.size > this.#capacity && oldest !== undefined) this.#pages.delete(oldest)
  }
}
