// Runs once a span, node or edge: the loops index with `!`.
import type { AttributeValue } from '../attributes.ts'
import { ByteInterner } from './byte-interner.ts'
import { DotProblem, type DotScanner } from './dot-scanner.ts'
import { NodeIdTable, UsualLines } from './dot-usual-lines.ts'

const CLOSE_BRACE = 125
const UNDECLARED = 0xffffffff
const UNNUMBERED = 0xffffffff
/** Words that set defaults instead of naming a node. */
const DEFAULTS = ['graph', 'node', 'edge']

/**
 * Reads one graph of Spectroscope's DOT at a time into arrays used again: its public fields. Nodes
 * are numbered as the edges mention them, the root first: files declare them by time, in which
 * concurrent work comes in any order, so that one structure would be many shapes.
 */
export class DotGraphParser {
  nodeCount = 0
  edgeCount = 0
  labels: Uint32Array = new Uint32Array(256)
  from: Uint32Array = new Uint32Array(256)
  to: Uint32Array = new Uint32Array(256)
  latencyUs: Float64Array = new Float64Array(256)
  attributes: [node: number, key: string, value: AttributeValue][] = []
  readonly labelTexts: string[] = []
  readonly #scanner: DotScanner
  readonly #labelBytes = new ByteInterner()
  readonly #ids = new NodeIdTable()
  readonly #usual = new UsualLines(this.#ids)
  /** Start and length in the source of the last declared node's id. */
  readonly #lastId = { start: 0, length: 0 }
  readonly #labelLines: number[] = []
  #statementLine = 0
  /** The number of each node by its number in `#ids`, which counts declarations. */
  #numbers: Uint32Array = new Uint32Array(256)
  #numbered = 0
  #byNumber: Uint32Array = new Uint32Array(256)

  constructor(scanner: DotScanner) {
    this.#scanner = scanner
  }

  /** Reads to the closing brace; throws DotProblem, or Incomplete when the bytes run out. */
  parse(): void {
    const scanner = this.#scanner
    this.#ids.reset(this.#usual.view)
    this.#numbered = 0
    this.nodeCount = 0
    this.edgeCount = 0
    this.attributes.length = 0
    for (;;) {
      // Nearly all of a file is usual lines, between an opening brace's line end and a closing one.
      scanner.skipNewline()
      while (this.#usualEdge() || this.#usualNode());
      if (scanner.isAt(CLOSE_BRACE)) break
      const next = scanner.skipBlanks()
      if (next === '}') break
      if (next === ';') scanner.position++
      else if (!this.#usualEdge() && !this.#usualNode()) this.#statement()
    }
    scanner.position++
    this.#checkNodes()
    this.#numberNodes()
  }

  /** Tells where the bytes are; must be called whenever the scanner's source changes. */
  useSource(source: Uint8Array): void {
    this.#scanner.useSource(source)
    this.#usual.source = source
    this.#usual.view = new DataView(source.buffer, source.byteOffset, source.byteLength)
    this.#lastId.length = 0
  }

  #usualNode(): boolean {
    const scanner = this.#scanner
    const usual = this.#usual
    const start = scanner.position
    const end = usual.node(start, scanner.limit, this.#lastId)
    if (end < 0) return false
    const node = this.#node(start, usual.idEnd)
    if (this.labels[node] !== UNDECLARED) return false
    const label = this.#label(usual.labelStart, usual.labelEnd, usual.labelHash)
    this.labels[node] = label
    this.#lastId.start = start
    this.#lastId.length = usual.idEnd - start
    scanner.position = end
    scanner.line += 1 + this.#labelLines[label]!
    return true
  }

  #usualEdge(): boolean {
    const scanner = this.#scanner
    const usual = this.#usual
    const end = usual.edge(scanner.position, scanner.limit, this.#lastId.length)
    if (end < 0) return false
    this.#addEdge(usual.from, usual.to, usual.latencyUs)
    scanner.position = end
    scanner.line++
    return true
  }

  #addEdge(from: number, to: number, latencyUs: number): void {
    if (this.edgeCount === this.from.length) this.#growEdges()
    this.from[this.edgeCount] = this.#number(from)
    this.to[this.edgeCount] = this.#number(to)
    this.latencyUs[this.edgeCount++] = latencyUs
  }

  #statement(): void {
    const scanner = this.#scanner
    this.#statementLine = scanner.line
    scanner.name()
    const { tokenStart, tokenEnd } = scanner
    if (scanner.passes('=')) {
      scanner.value()
      return
    }
    const next = scanner.skipBlanks()
    if (next === '[' && DEFAULTS.some((word) => scanner.tokenIs(word))) {
      scanner.position++
      while (scanner.nextAttribute()) scanner.value()
      return
    }
    if (next !== '-' && next !== '[' && scanner.tokenIs('digraph')) {
      throw this.#problem('truncated-graph', 'A graph begins before the last one is closed')
    }
    const node = this.#node(tokenStart, tokenEnd)
    if (next === '-') this.#edgeStatement(node)
    else this.#nodeStatement(node)
  }

  #node(start: number, end: number): number {
    const node = this.#ids.findOrAdd(start, end)
    if (node === this.nodeCount) {
      if (node === this.labels.length) this.#growNodes()
      this.labels[node] = UNDECLARED
      this.#numbers[node] = UNNUMBERED
      this.nodeCount++
    }
    return node
  }

  #nodeStatement(node: number): void {
    const scanner = this.#scanner
    if (this.labels[node] !== UNDECLARED) {
      throw this.#statementProblem('duplicate-node', `Node ${this.#idText(node)} is declared twice`)
    }
    if (scanner.passes('[')) {
      while (scanner.nextAttribute()) {
        if (scanner.tokenIs('label')) {
          scanner.value()
          this.labels[node] = this.#tokenLabel()
        } else {
          const key = scanner.text()
          scanner.value()
          this.attributes.push([node, key, dotAttribute(scanner.text())])
        }
      }
    }
    if (this.labels[node] === UNDECLARED) {
      throw this.#statementProblem('missing-label', `Node ${this.#idText(node)} has no label`)
    }
  }

  #edgeStatement(first: number): void {
    const scanner = this.#scanner
    const firstEdge = this.edgeCount
    let from = first
    while (scanner.skipBlanks() === '-') {
      if (!scanner.passes('->')) throw scanner.unexpected('`->`')
      scanner.skipBlanks()
      scanner.name()
      const to = this.#node(scanner.tokenStart, scanner.tokenEnd)
      this.#addEdge(from, to, Number.NaN)
      from = to
    }
    const latencyUs = this.#edgeLatency()
    if (!(latencyUs >= 0 && latencyUs < Number.POSITIVE_INFINITY))
      throw this.#latencyProblem(first, from, latencyUs)
    this.latencyUs.fill(latencyUs, firstEdge, this.edgeCount)
  }

  #edgeLatency(): number {
    const scanner = this.#scanner
    let latencyUs = Number.NaN
    if (!scanner.passes('[')) return latencyUs
    while (scanner.nextAttribute()) {
      const isLabel = scanner.tokenIs('label')
      scanner.value()
      if (isLabel) latencyUs = scanner.tokenNumber()
    }
    return latencyUs
  }

  #tokenLabel(): number {
    const { tokenStart, tokenEnd } = this.#scanner
    return this.#label(tokenStart, tokenEnd)
  }

  /** Reads a label: trace point and semantic label, which a literal `\\n` separates, become one name. */
  #label(start: number, end: number, hash?: number): number {
    const scanner = this.#scanner
    const label = this.#labelBytes.intern(this.#usual.view, start, end, hash)
    if (label === this.labelTexts.length) {
      this.#labelLines.push(scanner.text(start, end).split('\n').length - 1)
      const parts = scanner.lines(start, end)
      this.labelTexts.push(parts.filter((part) => part !== '').join(' '))
    }
    return label
  }

  #checkNodes(): void {
    if (this.nodeCount === 0) throw this.#problem('empty-graph', 'The graph has no nodes')
    const undeclared = this.labels.subarray(0, this.nodeCount).indexOf(UNDECLARED)
    if (undeclared >= 0) {
      throw this.#problem(
        'undeclared-node',
        `Node ${this.#idText(undeclared)} is used in an edge but never declared`,
      )
    }
  }

  #number(declared: number): number {
    const known = this.#numbers[declared]!
    if (known !== UNNUMBERED) return known
    this.#numbers[declared] = this.#numbered
    return this.#numbered++
  }

  /** Numbers what no edge mentions, makes the root node 0, and lists everything by number. */
  #numberNodes(): void {
    const { nodeCount, labels } = this
    const numbers = this.#numbers
    for (let node = 0; node < nodeCount; node++) this.#number(node)
    this.#putRootFirst()
    const byNumber = this.#byNumber
    for (let node = 0; node < nodeCount; node++) byNumber[numbers[node]!] = labels[node]!
    this.labels = byNumber
    this.#byNumber = labels
    for (const attribute of this.attributes) attribute[0] = numbers[attribute[0]]!
  }

  /** Puts the root first: the first declared node that nothing leads to. */
  #putRootFirst(): void {
    const { nodeCount, edgeCount, from, to } = this
    const numbers = this.#numbers
    if (numbers[0] === 0 && !to.subarray(0, edgeCount).includes(0)) return
    const isEntered = new Uint8Array(nodeCount)
    for (let edge = 0; edge < edgeCount; edge++) isEntered[to[edge]!] = 1
    const declared = numbers.subarray(0, nodeCount).findIndex((number) => isEntered[number] === 0)
    const root = numbers[declared]
    if (root === undefined || root === 0) return
    const swapped = (number: number) => (number === root ? 0 : number === 0 ? root : number)
    for (const list of [from.subarray(0, edgeCount), to.subarray(0, edgeCount), numbers]) {
      list.set(list.map(swapped))
    }
  }

  /** Returns the id of a node of the graph that was read last. */
  idOf(node: number): string {
    return this.#idText(this.#numbers.subarray(0, this.nodeCount).indexOf(node))
  }

  #idText(node: number): string {
    return this.#ids.text(node)
  }

  #problem(code: string, message: string): DotProblem {
    return new DotProblem(code, this.#scanner.line, message)
  }

  #statementProblem(code: string, message: string): DotProblem {
    return new DotProblem(code, this.#statementLine, message)
  }

  #latencyProblem(from: number, to: number, latencyUs: number): DotProblem {
    const edge = `Edge ${this.#idText(from)} -> ${this.#idText(to)}`
    if (Number.isNaN(latencyUs)) {
      return this.#statementProblem('missing-latency', `${edge} has no latency`)
    }
    const code = latencyUs < 0 ? 'negative-latency' : 'infinite-latency'
    return this.#statementProblem(code, `${edge} has latency ${latencyUs} µs`)
  }

  #growNodes(): void {
    this.labels = larger(this.labels)
    this.#numbers = larger(this.#numbers)
    this.#byNumber = larger(this.#byNumber)
  }

  #growEdges(): void {
    this.from = larger(this.from)
    this.to = larger(this.to)
    const latencyUs = new Float64Array(this.latencyUs.length * 2)
    latencyUs.set(this.latencyUs)
    this.latencyUs = latencyUs
  }
}

function larger(values: Uint32Array): Uint32Array {
  const copy = new Uint32Array(values.length * 2)
  copy.set(values)
  return copy
}

function dotAttribute(text: string): AttributeValue {
  if (text === 'true' || text === 'false') return text === 'true'
  const number = Number(text)
  return text.trim() === '' || Number.isNaN(number) ? text : number
}
