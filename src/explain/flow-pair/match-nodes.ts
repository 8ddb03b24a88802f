// Millions of cells for flows of thousands of nodes: the loops index with `!`.
import { ascending, sort } from 'd3-array'
import { countBy } from '../../core/entries.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import type { Certainty, NodeMatch } from './flow-comparison.ts'
import type { FlowForm } from './flow-form.ts'

type Pair = readonly [a: number, b: number]

/**
 * Matches nodes of equal label without creating a cycle in the union. Pairs are the tokens that the shortest edit
 * script of depth-first tokens keeps, nodes below a node of the same label first. If they close a cycle, pairs are joined
 * one by one, those of labels that occur once first, and pairs that would close one stay apart. Unmatched neighbors of
 * pairs follow. Exchanged arguments give the result exchanged.
 *
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3.4; cycles, joins and left-over nodes are treated by rules of our own.
 */
export function matchNodes(before: FlowForm, after: FlowForm) {
  const inOrder =
    (before.tokens.length - after.tokens.length || ascending(formText(before), formText(after))) <=
    0
  const [a, b] = inOrder ? [before, after] : [after, before]
  const aligned = alignTokens(a.tokens, b.tokens, (i, j) =>
    a.kinds[a.callers[i]!] === b.kinds[b.callers[j]!] ? 1 : 0,
  )
  const isKept = ([i, j]: Pair) => a.tokens[i] === b.tokens[j]
  const kept = aligned.filter(isKept).length
  const pairs = sort(aligned, (pair) => Number(!isKept(pair)))
    .map(([i, j]): Pair => [a.visits[i]!, b.visits[j]!])
    .filter(([nodeA, nodeB]) => a.kinds[nodeA] === b.kinds[nodeB])
  const recurring = new Set(
    [a, b].flatMap(({ kinds }) =>
      [...countBy(kinds, (kind) => kind)].flatMap(([kind, count]) => (count > 1 ? [kind] : [])),
    ),
  )
  const recurs = ([node]: Pair) => recurring.has(a.kinds[node]!)
  let pairing = new NodePairing(a, b)
  let dropped = 0
  for (const pair of pairs) if (pairing.isFree(pair)) pairing.join(pair)
  if (!pairing.isAcyclic()) {
    pairing = new NodePairing(a, b)
    for (const pair of sort(pairs, (pair) => Number(recurs(pair)))) {
      if (!pairing.isFree(pair)) continue
      if (pairing.wouldCycle(pair)) dropped++
      else pairing.join(pair)
    }
  }
  pairing.joinLeftOver()
  const isSame = pairing.isSame()
  const matches = pairing.pairs().map((pair): NodeMatch => {
    const certainty: Certainty =
      isSame || !recurs(pair) ? 'sure' : pairing.agreeMostly(pair) ? 'likely' : 'doubtful'
    const [before, after] = inOrder ? pair : [pair[1], pair[0]]
    return { before, after, certainty }
  })
  return {
    matches: sort(matches, (match) => match.before),
    // Pairs that are not kept are substituted: one edit; tokens without a pair are one each.
    distance: a.tokens.length + b.tokens.length - aligned.length - kept,
    dropped,
  }
}

/** Returns the content of a form, for a fixed order. */
function formText({ kinds, tokens, visits, edges }: FlowForm): string {
  const names = Array.from(tokens, (token, i) => [kinds[visits[i]!], token % 2])
  return JSON.stringify([names, edges.map(({ from, to }) => [from, to])])
}

const MOST = 0.5

/** Pairs of nodes of two forms; in their union, `a` keeps its numbers and `b`'s n is |a| + n. */
class NodePairing {
  readonly #a: FlowForm
  readonly #b: FlowForm
  readonly #ofA: Int32Array
  readonly #ofB: Int32Array

  constructor(a: FlowForm, b: FlowForm) {
    this.#a = a
    this.#b = b
    this.#ofA = new Int32Array(a.labels.length).fill(-1)
    this.#ofB = new Int32Array(b.labels.length).fill(-1)
  }

  isFree([a, b]: Pair): boolean {
    return this.#ofA[a] === -1 && this.#ofB[b] === -1
  }

  join([a, b]: Pair): void {
    this.#ofA[a] = b
    this.#ofB[b] = a
  }

  pairs(): Pair[] {
    return Array.from(this.#ofA.entries()).filter(([, b]) => b >= 0)
  }

  /** Joins free nodes of the same label next to pairs, until there are none. */
  joinLeftOver(): void {
    for (let joined = true; joined; ) {
      joined = false
      this.#ofA.forEach((partner, a) => {
        const pair = partner === -1 && this.#likeliest(a)
        if (!pair) return
        this.join(pair)
        joined = true
      })
    }
  }

  #likeliest(a: number): Pair | undefined {
    const beside = (near: readonly number[] = [], next: readonly (readonly number[])[]) =>
      near.flatMap((neighbor) => next[this.#ofA[neighbor]!] ?? [])
    const nearby = new Set([
      ...beside(this.#a.parents[a], this.#b.children),
      ...beside(this.#a.children[a], this.#b.parents),
    ])
    return Array.from(nearby, (b): Pair => [a, b])
      .filter((pair) => this.isFree(pair) && this.#b.kinds[pair[1]] === this.#a.kinds[a])
      .map((pair) => ({ pair, agreement: this.#agreement(pair) }))
      .sort((x, y) => y.agreement - x.agreement || x.pair[1] - y.pair[1])
      .find(({ pair }) => !this.wouldCycle(pair))?.pair
  }

  /** Counts the neighbors of two nodes, before and after them, that are partners of each other. */
  #agreement([a, b]: Pair): number {
    const shared = (ends: 'parents' | 'children') =>
      this.#a[ends][a]!.filter((near) => this.#b[ends][b]!.includes(this.#ofA[near]!)).length
    return shared('parents') + shared('children')
  }

  /** Whether at least half of the neighbors of two nodes are partners of each other. */
  agreeMostly(pair: Pair): boolean {
    const [inA, inB] = [this.#a, this.#b].map(
      ({ parents, children }, side) => parents[pair[side]!]!.length + children[pair[side]!]!.length,
    )
    return this.#agreement(pair) >= MOST * Math.max(inA!, inB!)
  }

  /** Whether all nodes have partners, and all edges. */
  isSame(): boolean {
    const [a, b] = [this.#a, this.#b]
    if (a.labels.length !== b.labels.length || this.#ofA.includes(-1)) return false
    const names = b.edges.map(({ from, to }) => `${from} ${to}`).sort()
    const mapped = a.edges.map(({ from, to }) => `${this.#ofA[from]} ${this.#ofA[to]}`).sort()
    return mapped.join() === names.join()
  }

  isAcyclic(): boolean {
    const united = this.#b.edges.map(({ from, to }) => ({
      from: this.#unionOfB(from),
      to: this.#unionOfB(to),
    }))
    const edges = [...this.#a.edges, ...united]
    const depth = graphDepths(
      this.#ofA.length + this.#ofB.length,
      edges.map(({ from }) => from),
      edges.map(({ to }) => to),
    )
    return edges.every(({ from, to }) => depth[from]! < depth[to]!)
  }

  wouldCycle([a, b]: Pair): boolean {
    const inUnion = this.#ofA.length + b
    return this.#leads(a, inUnion) || this.#leads(inUnion, a)
  }

  #leads(start: number, end: number): boolean {
    const reached = new Set([start])
    for (const node of reached) {
      const inB = node < this.#ofA.length ? this.#ofA[node]! : node - this.#ofA.length
      for (const next of this.#a.children[node] ?? []) reached.add(next)
      for (const next of this.#b.children[inB] ?? []) reached.add(this.#unionOfB(next))
      if (reached.has(end)) return true
    }
    return false
  }

  #unionOfB(b: number): number {
    const partner = this.#ofB[b]!
    return partner >= 0 ? partner : this.#ofA.length + b
  }
}

const [PAIR, DELETE, INSERT] = [0, 1, 2] as const
/** Value of a kept token when scripts of the same length are compared, apart from its likeness. */
const KEPT = 2

/**
 * Returns the places that a shortest edit script, of the length `editDistance`, keeps or substitutes, in order. Among
 * these it prefers scripts that keep many tokens and pair them by `likeness`, 0 or 1; the result is the same in every
 * run. Takes n·m steps, and as many bytes. Source: Wagner and Fischer 1974, "The string-to-string correction problem",
 * J. ACM 21(1):168-173.
 */
export function alignTokens(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  likeness: (before: number, after: number) => number = () => 1,
): Pair[] {
  const goTogether = (i: number, j: number) => before[i] === after[j] && likeness(i, j) === 1
  const shorter = Math.min(before.length, after.length)
  // What both begin and end with needs no table.
  let first = 0
  while (first < shorter && goTogether(first, first)) first++
  let [rows, columns] = [before.length, after.length]
  while (Math.min(rows, columns) > first && goTogether(rows - 1, columns - 1)) {
    rows--
    columns--
  }
  // An edit outweighs all that keeping tokens is worth.
  const edit = (KEPT + 1) * (shorter + 1)
  const width = columns - first + 1
  const moves = new Uint8Array((rows - first + 1) * width).fill(INSERT, 0, width)
  const costs = Float64Array.from({ length: width }, (_, j) => j * edit)
  for (let i = first; i < rows; i++) {
    const start = (i - first + 1) * width
    let diagonal = costs[0]!
    let best = diagonal + edit
    costs[0] = best
    moves[start] = DELETE
    for (let j = first; j < columns; j++) {
      const at = j - first + 1
      const above = costs[at]! + edit
      const left = best + edit
      best = before[i] === after[j] ? diagonal - KEPT - likeness(i, j) : diagonal + edit
      if (above < best) moves[start + at] = DELETE
      if (left < Math.min(above, best)) moves[start + at] = INSERT
      best = Math.min(best, above, left)
      diagonal = costs[at]!
      costs[at] = best
    }
  }
  const pairs: Pair[] = []
  for (let [i, j] = [rows, columns]; i > first || j > first; ) {
    const move = moves[(i - first) * width + j - first]
    if (move !== INSERT) i--
    if (move !== DELETE) j--
    if (move === PAIR) pairs.push([i, j])
  }
  const inStep = (count: number, i: number, j: number) =>
    Array.from({ length: count }, (_, n): Pair => [i + n, j + n])
  return [
    ...inStep(first, 0, 0),
    ...pairs.reverse(),
    ...inStep(before.length - rows, rows, columns),
  ]
}
