import type { RpcClient } from '../rpc/rpc-client.ts'
import type { StorageNodeOperations } from '../storage-node/operations.ts'
import type { Page } from './page.ts'
import type { PageCache } from './page-cache.ts'
import { decodePage, encodePage } from './page-format.ts'
import type { PageStore } from './page-store.ts'

/** What some work on an index cost, in pages. */
export interface PageCosts {
  cached: number
  read: number
  written: number
}

/** The pages of one index in an object of a storage node, recently used ones also in memory. */
export class RemotePages implements PageStore {
  readonly pageBytes: number
  readonly #node: RpcClient<StorageNodeOperations>
  readonly #cache: PageCache
  readonly #object: string
  #costs: PageCosts = { cached: 0, read: 0, written: 0 }

  constructor(
    object: string,
    {
      node,
      cache,
      pageBytes,
    }: { node: RpcClient<StorageNodeOperations>; cache: PageCache; pageBytes: number },
  ) {
    this.#object = object
    this.#node = node
    this.#cache = cache
    this.pageBytes = pageBytes
  }

  /** What was read and written since this was last asked. */
  takeCosts(): PageCosts {
    const costs = this.#costs
    this.#costs = { cached: 0, read: 0, written: 0 }
    return costs
  }

  async read(page: number): Promise<Page> {
    const cached = this.#cache.get(this.#keyOf(page))
    if (cached !== undefined) {
      this.#costs.cached += 1
      return cached
    }
    this.#costs.read += 1
    const { body } = await this.#node.call('SN READ', {
      ...this.#place(page),
      count: this.pageBytes,
    })
    if (body.length < this.pageBytes) {
      throw new Error(`${this.#object} has no page ${page}: create that directory first.`)
    }
    const content = decodePage(body)
    this.#cache.keep(this.#keyOf(page), content)
    return content
  }

  async write(page: number, content: Page): Promise<void> {
    this.#costs.written += 1
    await this.#node.call('SN WRITE', this.#place(page), encodePage(content, this.pageBytes))
    this.#cache.keep(this.#keyOf(page), content)
  }

  #place(page: number): { object: string; offset: number } {
    return { object: this.#object, offset: page * this.pageBytes }
  }

  #keyOf(page: number): string {
    return `${this.#object}#${page}`
  }
}
