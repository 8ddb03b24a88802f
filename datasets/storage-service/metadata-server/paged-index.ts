import type { Branch, FileRecord, Head, Leaf } from './page.ts'
import {
  childFor,
  childReplaced,
  leafWith,
  leafWithout,
  positionOf,
  splitPage,
} from './page-edits.ts'
import { encodedBytes } from './page-format.ts'
import type { PageStore } from './page-store.ts'

const HEAD_PAGE = 0

interface Descent {
  /** Branches from the root down, with their page numbers. */
  readonly path: readonly { readonly page: number; readonly branch: Branch }[]
  readonly page: number
  readonly leaf: Leaf
}

/**
 * A B+ tree of fixed-size pages (Comer, "The Ubiquitous B-Tree", 1979): names to records. Every
 * changed page is written through at once, and a full page is split, which may split its parent,
 * and so on to the root: the work of an insertion grows with the directory. Removing does not merge
 * pages. Callers take turns (see the index lock).
 */
export class PagedIndex {
  readonly #pages: PageStore
  #head: Head

  private constructor(pages: PageStore, head: Head) {
    this.#pages = pages
    this.#head = head
  }

  /** Writes an empty index over whatever the pages held. */
  static async create(pages: PageStore): Promise<PagedIndex> {
    const head: Head = { kind: 'head', root: 1, nextPage: 2 }
    await pages.write(head.root, { kind: 'leaf', keys: [], records: [] })
    await pages.write(HEAD_PAGE, head)
    return new PagedIndex(pages, head)
  }

  /** Opens the index that the pages hold. */
  static async open(pages: PageStore): Promise<PagedIndex> {
    const head = await pages.read(HEAD_PAGE)
    if (head.kind !== 'head') throw new Error(`Page 0 is a ${head.kind}, not the head of an index.`)
    return new PagedIndex(pages, head)
  }

  async get(key: string): Promise<FileRecord | undefined> {
    const { leaf } = await this.#descend(key)
    const { at, found } = positionOf(leaf.keys, key)
    return found ? leaf.records[at] : undefined
  }

  /** Up to `count` other keys in order: those after `key`, and then the first ones. */
  async neighbours(key: string, count: number): Promise<string[]> {
    const after = await this.#keysFrom(this.#head.root, key, count + 1)
    const found = after.filter((other) => other !== key).slice(0, count)
    const first = await this.#keysFrom(this.#head.root, '', count - found.length)
    return [...found, ...first.filter((other) => other < key)]
  }

  /** Adds or replaces; the answer says how many pages were split. */
  async put(key: string, record: FileRecord): Promise<{ splits: number; depth: number }> {
    const { path, page, leaf } = await this.#descend(key)
    const splits = await this.#store(path, page, leafWith(leaf, key, record))
    return { splits, depth: path.length + 1 }
  }

  /** Removes; false if there was no such key. */
  async remove(key: string): Promise<boolean> {
    const { page, leaf } = await this.#descend(key)
    const { at, found } = positionOf(leaf.keys, key)
    if (found) await this.#pages.write(page, leafWithout(leaf, at))
    return found
  }

  async #descend(key: string): Promise<Descent> {
    const path: { page: number; branch: Branch }[] = []
    let page = this.#head.root
    for (;;) {
      const content = await this.#pages.read(page)
      if (content.kind === 'head') throw new Error(`Page ${page} of the index is a second head.`)
      if (content.kind === 'leaf') return { path, page, leaf: content }
      path.push({ page, branch: content })
      page = childFor(content, key)
    }
  }

  /** Up to `count` keys under `page`, the smallest of those from `key` on. */
  async #keysFrom(page: number, key: string, count: number): Promise<string[]> {
    if (count <= 0) return []
    const content = await this.#pages.read(page)
    if (content.kind === 'head') throw new Error(`Page ${page} of the index is a second head.`)
    if (content.kind === 'leaf') return content.keys.filter((k) => k >= key).slice(0, count)
    const found: string[] = []
    const first = content.children.indexOf(childFor(content, key))
    for (const child of content.children.slice(first)) {
      found.push(...(await this.#keysFrom(child, key, count - found.length)))
    }
    return found
  }

  /** Writes a changed page; if it is too big, its two halves, and then its parent. */
  async #store(path: Descent['path'], page: number, content: Leaf | Branch): Promise<number> {
    if (encodedBytes(content) <= this.#pages.pageBytes) {
      await this.#pages.write(page, content)
      return 0
    }
    const { left, right, separator } = splitPage(content)
    const rightPage = this.#head.nextPage
    this.#head = { ...this.#head, nextPage: rightPage + 1 }
    await this.#pages.write(rightPage, right)
    await this.#pages.write(page, left)
    const parent = path.at(-1)
    if (parent === undefined) return 1 + (await this.#growRoot(page, separator, rightPage))
    const branch = childReplaced(parent.branch, page, { separator, rightPage })
    const above = await this.#store(path.slice(0, -1), parent.page, branch)
    if (above === 0) await this.#pages.write(HEAD_PAGE, this.#head)
    return 1 + above
  }

  async #growRoot(left: number, separator: string, right: number): Promise<number> {
    const root = this.#head.nextPage
    this.#head = { kind: 'head', root, nextPage: root + 1 }
    await this.#pages.write(root, { kind: 'branch', keys: [separator], children: [left, right] })
    await this.#pages.write(HEAD_PAGE, this.#head)
    return 0
  }
}
