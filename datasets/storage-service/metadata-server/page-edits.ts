import type { Branch, FileRecord, Leaf } from './page.ts'

/** Where `key` is in sorted `keys`, or where it would have to go. */
export function positionOf(keys: readonly string[], key: string): { at: number; found: boolean } {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? '') < key) low = middle + 1
    else high = middle
  }
  return { at: low, found: keys[low] === key }
}

/** The page number of the child that `key` belongs under. */
export function childFor({ keys, children }: Branch, key: string): number {
  const { at, found } = positionOf(keys, key)
  const child = children[found ? at + 1 : at]
  if (child === undefined) {
    throw new Error(`A branch has ${keys.length} keys but only ${children.length} children.`)
  }
  return child
}

export function leafWith(leaf: Leaf, key: string, record: FileRecord): Leaf {
  const { at, found } = positionOf(leaf.keys, key)
  const replaced = found ? 1 : 0
  return {
    kind: 'leaf',
    keys: leaf.keys.toSpliced(at, replaced, key),
    records: leaf.records.toSpliced(at, replaced, record),
  }
}

export function leafWithout(leaf: Leaf, at: number): Leaf {
  return {
    kind: 'leaf',
    keys: leaf.keys.toSpliced(at, 1),
    records: leaf.records.toSpliced(at, 1),
  }
}

/** The branch after its child `page` was split in two. */
export function childReplaced(
  branch: Branch,
  page: number,
  { separator, rightPage }: { separator: string; rightPage: number },
): Branch {
  const at = branch.children.indexOf(page)
  return {
    kind: 'branch',
    keys: branch.keys.toSpliced(at, 0, separator),
    children: branch.children.toSpliced(at + 1, 0, rightPage),
  }
}

export interface Split<P> {
  readonly left: P
  readonly right: P
  /** The smallest key that belongs to the right half. */
  readonly separator: string
}

/** Cuts a page in the middle. A leaf keeps all its keys; a branch hands its middle key upwards. */
export function splitPage(page: Leaf | Branch): Split<Leaf | Branch> {
  const middle = page.keys.length >>> 1
  const separator = page.keys[middle]
  if (separator === undefined || page.keys.length < 2) {
    throw new Error(`A page of ${page.keys.length} keys cannot be split: make the pages bigger.`)
  }
  if (page.kind === 'leaf') {
    const cut = (start: number, end?: number): Leaf => ({
      kind: 'leaf',
      keys: page.keys.slice(start, end),
      records: page.records.slice(start, end),
    })
    return { left: cut(0, middle), right: cut(middle), separator }
  }
  const cut = (start: number, end?: number): Branch => ({
    kind: 'branch',
    keys: page.keys.slice(start, end),
    children: page.children.slice(start, end === undefined ? undefined : end + 1),
  })
  return { left: cut(0, middle), right: cut(middle + 1), separator }
}
