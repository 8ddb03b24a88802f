import { type Random, seededRandom } from '../../storage-service/random.ts'

/** The content of a piece, which depends on nothing but its number. */
export function pieceContent(piece: number, bytes: number): Uint8Array {
  const random = seededRandom(`piece-${piece}`)
  return Uint8Array.from({ length: bytes }, () => random.below(256))
}

/** Which pieces a peer has, is waiting for, and how many of its neighbours have each. */
export class Pieces {
  /** A byte for each piece, 1 for one that is had. */
  readonly had: Uint8Array
  readonly #awaited = new Set<number>()
  readonly #neighbours: Uint16Array
  readonly #random: Random
  #count: number

  constructor(pieces: number, all: boolean, random: Random) {
    this.had = new Uint8Array(pieces).fill(all ? 1 : 0)
    this.#neighbours = new Uint16Array(pieces)
    this.#random = random
    this.#count = all ? pieces : 0
  }

  get count(): number {
    return this.#count
  }

  get complete(): boolean {
    return this.#count === this.had.length
  }

  /** A neighbour has one more. */
  seen(piece: number): void {
    this.#neighbours[piece] = (this.#neighbours[piece] ?? 0) + 1
  }

  /**
   * The piece to ask a neighbour for: of those it has and we neither have nor await, the one that
   * the fewest neighbours have; by chance where several are as rare. `undefined` if there is none.
   */
  await(neighbourHas: Uint8Array): number | undefined {
    let rarest: number[] = []
    let least = Number.POSITIVE_INFINITY
    for (const [piece, neighbours] of this.#neighbours.entries()) {
      if (neighbourHas[piece] !== 1 || this.had[piece] === 1 || this.#awaited.has(piece)) continue
      if (neighbours < least) {
        least = neighbours
        rarest = []
      }
      if (neighbours === least) rarest.push(piece)
    }
    if (rarest.length === 0) return undefined
    const piece = this.#random.pick(rarest)
    this.#awaited.add(piece)
    return piece
  }

  received(piece: number): void {
    this.#awaited.delete(piece)
    this.had[piece] = 1
    this.#count += 1
  }
}
