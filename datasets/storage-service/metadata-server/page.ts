/** What a directory keeps about one of its files. */
export interface FileRecord {
  readonly sizeBytes: number
  /** Times the record was rewritten. */
  readonly version: number
}

export interface Leaf {
  readonly kind: 'leaf'
  /** Sorted. */
  readonly keys: readonly string[]
  /** Of the same length as `keys`. */
  readonly records: readonly FileRecord[]
}

export interface Branch {
  readonly kind: 'branch'
  /** Sorted; `keys[i]` is the smallest key that may be found under `children[i + 1]`. */
  readonly keys: readonly string[]
  /** Page numbers, one more than `keys`. */
  readonly children: readonly number[]
}

/** Page 0: where the tree begins and which page numbers are unused. */
export interface Head {
  readonly kind: 'head'
  readonly root: number
  readonly nextPage: number
}

export type Page = Leaf | Branch | Head
