import { InternalError } from '../errors.ts'
import type { ShapeTable } from '../traces/shape-table.ts'
import { topologicalOrder } from '../traces/topological-order.ts'

/** What colour refinement says of one shape. Colours are comparable between shapes. */
export interface ColouredShape {
  readonly shape: number
  readonly colours: Uint32Array
  /** Equal for two shapes if, and nearly only if, they are the same structure. */
  readonly key: string
  /** No two nodes have the same colour; then an equal key proves the same structure. */
  readonly discrete: boolean
}

/**
 * Colours the nodes of flows so that nodes which play different parts get different colours,
 * whatever order they were recorded in: a node's colour says its label, all that follows it and
 * all that leads to it.
 *
 * Sweeps go against the edges (what follows), then along them (what leads here), until no more
 * colours appear; for acyclic graphs one or two sweeps do. Iterative, O((V + E) log degree) a
 * sweep. Colours are interned, so they never collide.
 *
 * Source: `spec.md` §6; colour refinement (1-dimensional Weisfeiler-Leman).
 */
export class StructureColours {
  readonly #shapes: ShapeTable
  readonly #labelOf: Uint32Array
  readonly #codes = new Map<string, number>()
  /** A hash of what each colour means: an order that does not depend on the order of requests. */
  readonly #hashes: number[] = []
  readonly #labelHashes: readonly number[]

  /**
   * @param labelOf the label to compare by, for each label code of `shapes`
   * @param labelTexts the texts of those labels
   */
  constructor(shapes: ShapeTable, labelOf: Uint32Array, labelTexts: readonly string[]) {
    this.#shapes = shapes
    this.#labelOf = labelOf
    this.#labelHashes = labelTexts.map(hashText)
  }

  /** Orders colours by what they mean, the same in every run. */
  compare(a: number, b: number): number {
    return (this.#hashes[a] as number) - (this.#hashes[b] as number) || a - b
  }

  colour(shape: number): ColouredShape {
    const from = this.#shapes.from(shape)
    const to = this.#shapes.to(shape)
    const order = topologicalOrder(this.#shapes, shape)
    if (order === null) throw new InternalError(`shape ${shape} has a cycle`)
    const below = neighbours(order.length, from, to)
    const above = neighbours(order.length, to, from)
    let colours: Uint32Array = this.#shapes
      .labels(shape)
      .map((label) => this.#labelOf[label] as number)
    colours = colours.map((label) => this.#intern(`l${label}`, this.#labelHashes[label] as number))
    let distinct = 0
    let sweeps = 0
    for (let found = new Set(colours).size; found > distinct; sweeps++) {
      distinct = found
      const down = this.#sweep('d', order.slice().reverse(), colours, below)
      colours = this.#sweep('u', order, down, above)
      found = new Set(colours).size
    }
    const edges = Array.from(
      from,
      (source, edge) => `${colours[source]}>${colours[to[edge] as number]}`,
    )
    const key = `${sweeps} ${colours.slice().sort().join()} ${edges.sort().join()}`
    return { shape, colours, key, discrete: distinct === colours.length }
  }

  /** Recolours each node by its colour and the new colours of its neighbours on one side. */
  #sweep(
    kind: 'd' | 'u',
    order: Uint32Array,
    colours: Uint32Array,
    next: readonly (readonly number[])[],
  ): Uint32Array {
    const swept = new Uint32Array(colours.length)
    for (const node of order) {
      const seen = (next[node] as readonly number[]).map((other) => swept[other] as number)
      seen.sort((a, b) => a - b)
      const colour = colours[node] as number
      swept[node] = this.#intern(`${kind}${colour} ${seen.join()}`, this.#hash(kind, colour, seen))
    }
    return swept
  }

  #intern(meaning: string, hash: number): number {
    const known = this.#codes.get(meaning)
    if (known !== undefined) return known
    const code = this.#hashes.length
    this.#codes.set(meaning, code)
    this.#hashes.push(hash)
    return code
  }

  /** A hash of the set of neighbours' hashes, whatever numbers their colours got. */
  #hash(kind: string, colour: number, seen: readonly number[]): number {
    let sum = 0
    for (const other of seen) sum = (sum + mix(this.#hashes[other] as number)) % 2 ** 52
    return mix((this.#hashes[colour] as number) + mix(sum + (kind === 'd' ? 1 : 2)))
  }
}

/** For each node, the nodes at the other end of its edges. */
export function neighbours(nodes: number, near: Uint32Array, far: Uint32Array): number[][] {
  const lists: number[][] = Array.from({ length: nodes }, () => [])
  near.forEach((node, edge) => {
    lists[node]?.push(far[edge] as number)
  })
  return lists
}

function hashText(text: string): number {
  let hash = 17
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) % 2 ** 48
  return mix(hash)
}

/** Scrambles a non-negative integer below 2⁵³ into one below 2⁵². */
function mix(value: number): number {
  const low = Math.imul((value >>> 0) ^ 0x9e3779b9, 0x85ebca6b)
  const high = Math.imul(((value / 2 ** 32) >>> 0) ^ low, 0xc2b2ae35)
  const spread = Math.imul(low ^ (high >>> 15), 0x27d4eb2f)
  return ((high ^ (spread >>> 13)) >>> 12) * 2 ** 32 + (spread >>> 0)
}
