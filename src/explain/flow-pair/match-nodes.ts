// Millions of cells for flows of thousands of nodes: the loops index with `!`.
import { group, sort } from 'd3-array'
import { addAt } from '../../core/entries.ts'
import type { Certainty, NodeMatch } from './flow-comparison.ts'
import type { FlowForm, FormEdge } from './flow-form.ts'

/**
 * Matches nodes of equal label without creating a cycle in the union. Pairs are the tokens that the shortest edit
 * script of depth-first tokens keeps, nodes below a node of the same label first. If they close a cycle, pairs are joined
 * one by one, those of labels that occur once first, and pairs that would close one stay apart. Unmatched neighbors of
 * pairs follow. Exchanged arguments give the result exchanged.
 *
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3.4; cycles, joins and left-over nodes are treated by rules of our own.
 */
export function matchNodes(before: FlowForm, after: FlowForm) {
  const inOrder = compareForms(before, after) <= 0
  const [a, b] = inOrder ? [before, after] : [after, before]
  const script = editScript(a.tokens, b.tokens, {
    likeness: (i, j) =>
      a.kinds[a.callers[i] as number] === b.kinds[b.callers[j] as number] ? 1 : 0,
  })
  const pairs = alignedNodes(script, a, b)
  const recurring = recurringLabels([a, b])
  let pairing = new NodePairing(a, b)
  let dropped = 0
  for (const [nodeA, nodeB] of pairs) {
    if (pairing.isFree(nodeA, nodeB)) pairing.join(nodeA, nodeB)
  }
  if (!pairing.isAcyclic()) {
    pairing = new NodePairing(a, b)
    const recurs = ([node]: readonly [number, number]) => recurring.has(a.kinds[node] as string)
    for (const [nodeA, nodeB] of sort(pairs, (pair) => Number(recurs(pair)))) {
      if (!pairing.isFree(nodeA, nodeB)) continue
      if (pairing.wouldCycle(nodeA, nodeB)) dropped++
      else pairing.join(nodeA, nodeB)
    }
  }
  matchLeftOver(pairing)
  const matches = matchesOf(inOrder ? pairing : pairing.exchanged(), recurring)
  return { matches, distance: script.distance, dropped }
}

function alignedNodes({ steps }: EditScript, a: FlowForm, b: FlowForm): [number, number][] {
  const nodesOf = (kind: 'keep' | 'substitute') =>
    steps
      .filter((step) => step.kind === kind)
      .map((step): [number, number] => [
        a.visits[step.before] as number,
        b.visits[step.after] as number,
      ])
  const replaced = nodesOf('substitute').filter(([i, j]) => a.kinds[i] === b.kinds[j])
  return [...nodesOf('keep'), ...replaced]
}

function recurringLabels(forms: readonly FlowForm[]): ReadonlySet<string> {
  return new Set(
    forms.flatMap(({ kinds }) => {
      const seen = new Set<string>()
      return kinds.filter((label) => {
        const recurs = seen.has(label)
        seen.add(label)
        return recurs
      })
    }),
  )
}

/** Joins free nodes of the same label next to pairs, until there are none. */
function matchLeftOver(pairing: NodePairing): void {
  for (let joined = true; joined; ) {
    joined = false
    for (let a = 0; a < pairing.ofA.length; a++) {
      if (pairing.ofA[a] !== -1) continue
      const b = likeliest(pairing, a)
      if (b === undefined) continue
      pairing.join(a, b)
      joined = true
    }
  }
}

function likeliest(pairing: NodePairing, a: number): number | undefined {
  const { a: form, b: other, ofA } = pairing
  const beside = (near: readonly number[] = [], next: readonly (readonly number[])[]) =>
    near.flatMap((neighbour) => next[ofA[neighbour] as number] ?? [])
  const nearby = [
    ...beside(form.parents[a], other.children),
    ...beside(form.children[a], other.parents),
  ]
  return [...new Set(nearby)]
    .filter((b) => pairing.isFree(a, b) && other.kinds[b] === form.kinds[a])
    .map((b) => ({ b, agreement: pairing.agreement(a, b) }))
    .sort((x, y) => y.agreement - x.agreement || x.b - y.b)
    .find(({ b }) => !pairing.wouldCycle(a, b))?.b
}

const MOST = 0.5

function matchesOf(pairing: NodePairing, recurring: ReadonlySet<string>): NodeMatch[] {
  const { a, b, ofA } = pairing
  const same = isSame(pairing)
  return Array.from(ofA.entries()).flatMap(([node, partner]): NodeMatch[] => {
    if (partner < 0) return []
    const recurs = recurring.has(a.kinds[node] as string)
    const neighbours = Math.max(degree(a, node), degree(b, partner))
    const neighbourShare = neighbours === 0 ? 1 : pairing.agreement(node, partner) / neighbours
    const certainty: Certainty =
      same || !recurs ? 'sure' : neighbourShare >= MOST ? 'likely' : 'doubtful'
    return [{ before: node, after: partner, certainty }]
  })
}

function degree({ parents, children }: FlowForm, node: number): number {
  return (parents[node]?.length ?? 0) + (children[node]?.length ?? 0)
}

function isSame({ a, b, ofA }: NodePairing): boolean {
  if (a.labels.length !== b.labels.length || ofA.includes(-1)) return false
  const names = b.edges.map(({ from, to }) => `${from} ${to}`).sort()
  const mapped = a.edges.map(({ from, to }) => `${ofA[from]} ${ofA[to]}`).sort()
  return mapped.join() === names.join()
}

/** Compares two forms by their content, for a fixed order; 0 if they are the same. */
function compareForms(a: FlowForm, b: FlowForm): number {
  if (a.tokens.length !== b.tokens.length) return a.tokens.length - b.tokens.length
  const differing = a.tokens.findIndex((token, i) => token !== b.tokens[i])
  if (differing >= 0) return tokenText(a, differing) < tokenText(b, differing) ? -1 : 1
  for (let i = 0; i < a.edges.length && i < b.edges.length; i++) {
    const [first, second] = [a.edges[i] as FormEdge, b.edges[i] as FormEdge]
    const order = first.from - second.from || first.to - second.to
    if (order !== 0) return order
  }
  return a.edges.length - b.edges.length
}

function tokenText({ kinds, tokens, visits }: FlowForm, at: number): string {
  return `${kinds[visits[at] as number]}\n${(tokens[at] as number) % 2}`
}

/** Pairs of nodes of two forms; in their union, `a` keeps its numbers and `b`'s n is |a| + n. */
class NodePairing {
  readonly a: FlowForm
  readonly b: FlowForm
  readonly ofA: Int32Array
  readonly ofB: Int32Array
  readonly #edgesOfB: ReadonlySet<number>

  constructor(a: FlowForm, b: FlowForm) {
    this.a = a
    this.b = b
    this.ofA = new Int32Array(a.labels.length).fill(-1)
    this.ofB = new Int32Array(b.labels.length).fill(-1)
    this.#edgesOfB = new Set(b.edges.map(({ from, to }) => from * b.labels.length + to))
  }

  isFree(a: number, b: number): boolean {
    return this.ofA[a] === -1 && this.ofB[b] === -1
  }

  join(a: number, b: number): void {
    this.ofA[a] = b
    this.ofB[b] = a
  }

  exchanged(): NodePairing {
    const other = new NodePairing(this.b, this.a)
    other.ofA.set(this.ofB)
    other.ofB.set(this.ofA)
    return other
  }

  /** Counts the neighbors of `a` and `b`, before and after them, that are partners of each other. */
  agreement(a: number, b: number): number {
    const size = this.b.labels.length
    let count = 0
    for (const parent of this.a.parents[a] as readonly number[]) {
      const partner = this.ofA[parent] as number
      if (partner >= 0 && this.#edgesOfB.has(partner * size + b)) count++
    }
    for (const child of this.a.children[a] as readonly number[]) {
      const partner = this.ofA[child] as number
      if (partner >= 0 && this.#edgesOfB.has(b * size + partner)) count++
    }
    return count
  }

  unionOfB(b: number): number {
    const partner = this.ofB[b] as number
    return partner >= 0 ? partner : this.a.labels.length + b
  }

  isAcyclic(): boolean {
    const edges = [
      ...this.a.edges,
      ...this.b.edges.map(({ from, to }) => ({ from: this.unionOfB(from), to: this.unionOfB(to) })),
    ]
    const below = group(edges, ({ from }) => from)
    // By the union's numbers; not every number has a node.
    const waiting = new Uint32Array(this.a.labels.length + this.b.labels.length)
    for (const { to } of edges) addAt(waiting, to, 1)
    const ready = Array.from(waiting.keys()).filter((node) => waiting[node] === 0)
    for (const node of ready) {
      for (const { to } of below.get(node) ?? []) {
        addAt(waiting, to, -1)
        if (waiting[to] === 0) ready.push(to)
      }
    }
    return ready.length === waiting.length
  }

  wouldCycle(a: number, b: number): boolean {
    const inUnion = this.a.labels.length + b
    return this.#leads(a, inUnion) || this.#leads(inUnion, a)
  }

  #leads(start: number, end: number): boolean {
    const seen = new Uint8Array(this.a.labels.length + this.b.labels.length)
    const pending = [start]
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      for (const follower of this.#followers(node)) {
        if (follower === end) return true
        if (seen[follower] === 1) continue
        seen[follower] = 1
        pending.push(follower)
      }
    }
    return false
  }

  #followers(node: number): number[] {
    const size = this.a.labels.length
    const inB = node < size ? (this.ofA[node] as number) : node - size
    const below = (this.b.children[inB] ?? []).map((child) => this.unionOfB(child))
    return [...(this.a.children[node] ?? []), ...below]
  }
}

export interface EditStep {
  readonly kind: 'keep' | 'substitute' | 'delete' | 'insert'
  readonly before: number
  readonly after: number
}

export interface EditScript {
  readonly distance: number
  readonly steps: readonly EditStep[]
}

const [KEEP, SUBSTITUTE, DELETE, INSERT] = [0, 1, 2, 3] as const
const KINDS = ['keep', 'substitute', 'delete', 'insert'] as const
/** Value of a kept token when scripts of the same length are compared, apart from its likeness. */
const KEPT = 2

interface ScriptOptions {
  /** Score of a pair of equal tokens, 0 or 1; decides between scripts of the same length. */
  readonly likeness?: (before: number, after: number) => number
}

/**
 * Returns a shortest edit script, of the length `editDistance`. Among these it prefers scripts that keep many tokens
 * and pair them by `likeness`; the result is the same in every run. Takes n·m steps, and as many bytes. Source: Wagner
 * and Fischer 1974, "The string-to-string correction problem", J. ACM 21(1):168-173.
 */
export function editScript(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  { likeness = () => 1 }: ScriptOptions = {},
): EditScript {
  const goTogether = (i: number, j: number) => before[i]! === after[j]! && likeness(i, j) === 1
  const shorter = Math.min(before.length, after.length)
  let prefix = 0
  while (prefix < shorter && goTogether(prefix, prefix)) prefix++
  let suffix = 0
  while (
    suffix < shorter - prefix &&
    goTogether(before.length - 1 - suffix, after.length - 1 - suffix)
  ) {
    suffix++
  }
  const moves = shortestMoves({
    before,
    after,
    likeness,
    rows: { first: prefix, count: before.length - suffix - prefix },
    columns: { first: prefix, count: after.length - suffix - prefix },
    // An edit outweighs all that keeping tokens is worth.
    edit: (KEPT + 1) * (shorter + 1),
  })
  const kept = (count: number) => new Array<number>(count).fill(KEEP)
  return describeMoves([...kept(prefix), ...moves, ...kept(suffix)])
}

interface Alignment extends Required<ScriptOptions> {
  readonly before: ArrayLike<number>
  readonly after: ArrayLike<number>
  readonly rows: { readonly first: number; readonly count: number }
  readonly columns: { readonly first: number; readonly count: number }
  readonly edit: number
}

/** Fills the table of the last move to each cell, and follows the moves back. */
function shortestMoves(alignment: Alignment): number[] {
  const { before, after, likeness, rows, columns, edit } = alignment
  const width = columns.count + 1
  const table = new Uint8Array((rows.count + 1) * width).fill(INSERT, 0, width)
  const costs = Float64Array.from({ length: width }, (_, j) => j * edit)
  for (let i = 1; i <= rows.count; i++) {
    const row = rows.first + i - 1
    const token = before[row]!
    let diagonal = costs[0]!
    let best = diagonal + edit
    costs[0] = best
    table[i * width] = DELETE
    for (let j = 1; j < width; j++) {
      const column = columns.first + j - 1
      const above = costs[j]! + edit
      const left = best + edit
      const equal = token === after[column]!
      best = equal ? diagonal - KEPT - likeness(row, column) : diagonal + edit
      let move: number = equal ? KEEP : SUBSTITUTE
      if (above < best) {
        best = above
        move = DELETE
      }
      if (left < best) {
        best = left
        move = INSERT
      }
      diagonal = costs[j]!
      costs[j] = best
      table[i * width + j] = move
    }
  }
  const moves: number[] = []
  for (let i = rows.count, j = columns.count; i > 0 || j > 0; ) {
    const move = table[i * width + j]!
    moves.push(move)
    if (move !== INSERT) i--
    if (move !== DELETE) j--
  }
  return moves.reverse()
}

function describeMoves(moves: readonly number[]): EditScript {
  let before = 0
  let after = 0
  let distance = 0
  const steps = moves.map((move): EditStep => {
    const step = { kind: KINDS[move] as EditStep['kind'], before, after }
    if (move !== KEEP) distance++
    if (move !== INSERT) before++
    if (move !== DELETE) after++
    return step
  })
  return { distance, steps }
}
