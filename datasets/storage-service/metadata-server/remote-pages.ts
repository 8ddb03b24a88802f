import type { Distribution } from '../cases/configuration.ts'
import type { RpcClient } from '../rpc/rpc-client.ts'
import type { StorageNodeOperations } from '../storage-node/operations.ts'
import { fragmentBytes, fragmentsOf, joinFragments } from './fragments.ts'
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

export interface RemotePagesOptions {
  readonly node: RpcClient<StorageNodeOperations>
  readonly cache: PageCache
  readonly pageBytes: number
  readonly distribution: Distribution
}

/**
 * The pages of one index on a storage node, recently used ones also in memory. Each part is an
 * object there; a page's parts are read or written at the same time.
 */
export class RemotePages implements PageStore {
  readonly pageBytes: number
  readonly distribution: Distribution
  readonly #node: RpcClient<StorageNodeOperations>
  readonly #cache: PageCache
  readonly #object: string
  #costs: PageCosts = { cached: 0, read: 0, written: 0 }

  constructor(object: string, { node, cache, pageBytes, distribution }: RemotePagesOptions) {
    this.#object = object
    this.#node = node
    this.#cache = cache
    this.pageBytes = pageBytes
    this.distribution = distribution
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
    const stripes = Array.from({ length: this.distribution.data }, (_, part) =>
      this.#readStripe(page, part),
    )
    const content = decodePage(joinFragments(await Promise.all(stripes), this.pageBytes))
    this.#cache.keep(this.#keyOf(page), content)
    return content
  }

  async write(page: number, content: Page): Promise<void> {
    this.#costs.written += 1
    const fragments = fragmentsOf(encodePage(content, this.pageBytes), this.distribution)
    await Promise.all(
      fragments.map((bytes, part) => this.#node.call('SN WRITE', this.#place(page, part), bytes)),
    )
    this.#cache.keep(this.#keyOf(page), content)
  }

  async #readStripe(page: number, part: number): Promise<Buffer> {
    const count = fragmentBytes(this.pageBytes, this.distribution)
    const { body } = await this.#node.call('SN READ', { ...this.#place(page, part), count })
    if (body.length < count) {
      throw new Error(`${this.#object} has no page ${page}: create that directory first.`)
    }
    return body
  }

  #place(page: number, part: number): { object: string; offset: number } {
    const offset = page * fragmentBytes(this.pageBytes, this.distribution)
    return { object: `${this.#object}, part ${part}`, offset }
  }

  #keyOf(page: number): string {
    return `${this.#object}#${page}`
  }
}
