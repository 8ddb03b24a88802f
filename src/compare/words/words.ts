/** Sentences of a finding. */
export interface Words {
  /** Place of the change, such as `productcatalogservice → frontend`. */
  readonly where: string
  /** The change itself, such as `reply of GetProduct takes 98.5 ms longer`. */
  readonly what: string
  /** Place to look at, without traces. */
  readonly look: string
  /** Further facts. */
  readonly notes: readonly string[]
}

/** Where to look if no step stands out. */
export const EVERYWHERE = 'what all steps share: host, runtime, load'
