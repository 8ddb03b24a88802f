// Runs once a node or edge: the loops index with `!`.
import type { AttributeValue } from '../attributes.ts'
import type { ParameterTables } from '../parameter-tables.ts'
import { TRUNCATED_FILE } from '../quality.ts'
import { ByteInterner, hashMore, larger } from './byte-interner.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

const HEADER_START = /^[ \t]*#[^\n]*\bR:/m
const NEXT_HEADER = /\n[ \t]*#[^\n]*\bR:/
const HEADER =
  /#\s*(\S+)\s+R:\s*([\d.]+(?:e[-+]?\d+)?)(?:[^\nR]*RT:\s*([-+]?[\d.]+(?:e[-+]?\d+)?))?/i
/** Space and comments. Each alternative ends where the next begins, or long lines take for ever. */
const NOTHING = /^\s*(?:(?:#|\/\/)[^\n]*(?:\n\s*|$)|\/\*[\s\S]*?\*\/\s*)*$/
/** Closing brace, or a string or comment, whose braces close nothing. */
const BRACE_OR_SKIPPED =
  /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|$)|(?:#|\/\/)[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\}/g
/** Spaces, line ends and comments. */
const BLANKS = /(?:[\0- ]+|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
/** A name in quotes, a bare name (letters, digits, `_`, `.`, `:`, and everything beyond ASCII), or a sign. */
const TOKEN = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|(-?[\w.:\u0080-\uffff]+)|(->|\/\*|[\s\S])/y
const NUMBER = /[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i
/** Words that set defaults instead of naming a node. */
const DEFAULTS = /^(?:graph|node|edge)$/i
const DECODER = new TextDecoder()
/** One character a byte, so that places in the text are places in the bytes. */
const BYTE_DECODER = new TextDecoder('latin1')
const NEWLINE = 10
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const QUOTE = 34
const BACKSLASH = 92
const CLOSE = 93
const ARROW = word(' -> ')
const LIST = word(' [la')
const LABEL = word('bel=')
const LATENCY = word('"R: ')
const UNIT = word(' us"')
const FOUR_QUOTES = word('""""')
const POINT = 46
const ZERO = 48
const LETTER_E = 101
/** Numbers of up to this many digits are exact, and so is a power of ten to divide them by. */
const EXACT_DIGITS = 15
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, n) => Number(`1e${n}`))

function word(text: string): number {
  return [0, 1, 2, 3].reduce((value, i) => (value << 8) | text.charCodeAt(i), 0)
}

/** Bytes of unquoted names: letters, digits, `_`, `.`, `:`, and everything beyond ASCII. */
const NAME_BYTE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 128 || /[\w.:]/.test(String.fromCharCode(byte)) ? 1 : 0,
)
/** Label of a node that is not declared, and number of one that has none. */
const NONE = 0xffffffff
const NO_HEADER =
  'A graph has no line `# id R: <response time> usecs RT: <arrival> usecs` before it'
const NEXT_STEP = 'Correct the graph, or load without `strict` to leave it out'

/**
 * Spectroscope's input, one `Digraph` after the other (Sambasivan 2013, §2.3): `R` is the response
 * time, `RT` the arrival since the start of the period; node attributes but the label are
 * parameters. A graph that cannot be used is left out and noted.
 */
export const dotReader: TraceReader = {
  format: 'dot',
  recognizes: (head) => /^\s*(#[^\n]*\bR:|\/\/|(strict\s+)?digraph\b)/i.test(head),
  async read(chunks, sink, file) {
    const run = new DotRun(sink, file)
    for await (const chunk of chunks) run.add(chunk)
    run.finish()
  },
}

class DotProblem extends Error {
  readonly code: string
  readonly line: number

  constructor(code: string, line: number, message: string) {
    super(message)
    this.code = code
    this.line = line
  }
}

/** Thrown where the bytes end in the middle of a graph. */
class Incomplete extends Error {}

/** A name, or a sign such as `->`; the range of its bytes without quotes, and where it ends. */
interface Token {
  readonly sign: string
  readonly start: number
  readonly end: number
  readonly behind: number
  /** Where it begins, behind blanks. */
  readonly at: number
}

class DotRun {
  readonly #sink: ReadSink
  readonly #file: string
  #buffer: Uint8Array = new Uint8Array(1 << 20)
  #start = 0
  #end = 0
  /** A graph that was incomplete is tried again when this many bytes are there. */
  #enough = 0
  /** Where reading has come to, and the line there. */
  #position = 0
  #line = 1
  /** The bytes from `#textStart` on, one character a byte, once tokens are read from them. */
  #text: string | undefined
  #textStart = 0
  readonly #ids = new ByteInterner()
  #view = new DataView(this.#buffer.buffer)
  /** Start and length of the id of the last usual node. */
  #lastStart = 0
  #lastLength = 0
  readonly #labelBytes = new ByteInterner()
  /** Code and number of line ends of each label, by its number in `#labelBytes`. */
  readonly #labels: { readonly code: number; readonly lines: number }[] = []
  /** Codes of the labels of the graph's nodes, by their number in `#ids`, which counts declarations. */
  #labelOf: Uint32Array = new Uint32Array(256)
  /** The number of each node in the graph, and the label of each node by that number. */
  #numbers: Uint32Array = new Uint32Array(256)
  #byNumber: Uint32Array = new Uint32Array(256)
  #nodeCount = 0
  #from: Uint32Array = new Uint32Array(256)
  #to: Uint32Array = new Uint32Array(256)
  #latencyUs = new Float64Array(256)
  #edgeCount = 0
  #attributes: [node: number, key: string, value: AttributeValue][] = []

  constructor(sink: ReadSink, file: string) {
    this.#sink = sink
    this.#file = file
  }

  add(chunk: Uint8Array): void {
    this.#makeRoom(chunk.length)
    this.#buffer.set(chunk, this.#end)
    this.#end += chunk.length
    if (this.#end - this.#start >= this.#enough) this.#readGraphs(false)
  }

  finish(): void {
    this.#makeRoom(0)
    this.#readGraphs(true)
    const rest = this.#decoded(this.#start, this.#end)
    const id = HEADER_ID.exec(rest)?.[1]
    if (id === undefined && NOTHING.test(rest) && !HEADER_START.test(rest)) return
    const line = this.#line + linesIn(/^\s*/.exec(rest)?.[0] ?? '')
    this.#note(new DotProblem(TRUNCATED_FILE, line, 'The file ends in the middle of a graph'), id)
  }

  #makeRoom(count: number): void {
    const used = this.#end - this.#start
    const target =
      used + count <= this.#buffer.length
        ? this.#buffer
        : new Uint8Array(Math.max(used + count, this.#buffer.length * 2))
    target.set(this.#buffer.subarray(this.#start, this.#end))
    this.#buffer = target
    this.#view = new DataView(target.buffer)
    this.#lastLength = 0
    this.#text = undefined
    this.#start = 0
    this.#end = used
  }

  #readGraphs(final: boolean): void {
    this.#enough = 0
    while (this.#start < this.#end) {
      const line = this.#line
      try {
        this.#readGraph()
        this.#start = this.#position
      } catch (problem) {
        if (problem instanceof DotProblem && this.#skipGraph(line, problem, final)) continue
        if (!(problem instanceof DotProblem || problem instanceof Incomplete)) throw problem
        this.#line = line
        this.#enough = 2 * (this.#end - this.#start)
        return
      }
    }
  }

  #readGraph(): void {
    let open = this.#start
    for (; open < this.#end && this.#buffer[open] !== OPEN_BRACE; open++) {
      if (this.#buffer[open] === NEWLINE) this.#line++
    }
    if (open === this.#end) throw new Incomplete()
    const header = readHeader(this.#decoded(this.#start, open))
    this.#position = open + 1
    if (header === null) throw this.#problem('missing-header', NO_HEADER)
    this.#readStatements()
    if (this.#nodeCount === 0) throw this.#problem('empty-graph', 'The graph has no nodes')
    this.#numberNodes()
    const { graphs } = this.#sink
    const { id, startUs, responseTimeUs } = header
    const graph = {
      id,
      startUs,
      responseTimeUs,
      nodeCount: this.#nodeCount,
      edgeCount: this.#edgeCount,
      labels: this.#byNumber,
      from: this.#from,
      to: this.#to,
      latencyUs: this.#latencyUs,
    }
    const shape = graphs.internShape(graph)
    if (!graphs.isAcyclic(shape)) {
      throw this.#problem('cyclic-graph', 'The edges lead back to the same node')
    }
    for (const [node, key, value] of this.#attributes) {
      graphs.addAttribute(this.#numbers[node]!, key, value)
    }
    if (graphs.parameters !== undefined) this.#addParameters(graphs.parameters, id)
    graphs.add(graph, shape)
  }

  #addParameters(parameters: ParameterTables, id: string): void {
    const { graphs } = this.#sink
    for (let number = 0; number < this.#nodeCount; number++) {
      const node = this.#numbers.indexOf(number)
      const own = this.#attributes.filter(([of]) => of === node)
      const found = parameters.of(
        { kind: 'node', id: this.#idText(node), trace: id },
        own.map(([, key, value]) => [key, value]),
      )
      for (const [key, value] of found) graphs.addAttribute(number, key, value)
    }
  }

  /** Reads to the closing brace; throws DotProblem, or Incomplete when the bytes run out. */
  #readStatements(): void {
    this.#ids.clear()
    this.#nodeCount = 0
    this.#edgeCount = 0
    this.#attributes = []
    for (;;) {
      // Nearly all of a file is usual lines, between an opening brace's line end and a closing one.
      if (this.#byteHere() === NEWLINE) this.#moveTo(this.#position + 1)
      while (this.#usualEdge() || this.#usualNode());
      if (this.#byteHere() === CLOSE_BRACE) break
      const { sign, at } = this.#next()
      this.#moveTo(at)
      if (sign === '}') break
      if (sign === ';') this.#position++
      else if (!this.#usualEdge() && !this.#usualNode()) this.#statement()
    }
    this.#position++
  }

  #byteHere(): number | undefined {
    return this.#position < this.#end ? this.#buffer[this.#position] : undefined
  }

  /** Reads a node on a line of the usual form, four bytes at a time, three times as fast as by tokens. */
  #usualNode(): boolean {
    const [source, view, limit] = [this.#buffer, this.#view, this.#end]
    const start = this.#position
    const idEnd = this.#usualIdEnd(start)
    if (idEnd === start || idEnd + 12 > limit) return false
    if (view.getInt32(idEnd) !== LIST || view.getInt32(idEnd + 4) !== LABEL) return false
    if (source[idEnd + 8] !== QUOTE) return false
    const labelStart = idEnd + 9
    let at = labelStart
    let hash = 0
    for (; at + 4 <= limit; at += 4) {
      const four = view.getInt32(at)
      // Whether one of four bytes is zero (Mycroft 1987), here: is a quote.
      const marked = four ^ FOUR_QUOTES
      if (((marked - 0x01010101) & ~marked & 0x80808080) !== 0) break
      hash = hashMore(hash, four)
    }
    for (; at < limit && source[at] !== QUOTE; at++) hash = hashMore(hash, source[at]!)
    // A quote behind a backslash may or may not end the label.
    if (source[at - 1] === BACKSLASH || at + 3 > limit) return false
    if (source[at + 1] !== CLOSE || source[at + 2] !== NEWLINE) return false
    this.#lastStart = start
    this.#lastLength = idEnd - start
    const node = this.#node(start, idEnd)
    if (this.#labelOf[node] !== NONE) return false
    const label = this.#label(labelStart, at, hash)
    this.#labelOf[node] = label.code
    this.#position = at + 3
    this.#line += 1 + label.lines
    return true
  }

  /** Returns the end of the name at `start`. The part shared with the last id needs no second look. */
  #usualIdEnd(start: number): number {
    const [source, view] = [this.#buffer, this.#view]
    let at = start
    const lastWord = Math.min(start + this.#lastLength, this.#end) - 4
    for (let known = this.#lastStart; at <= lastWord; known += 4, at += 4) {
      if (view.getInt32(at) !== view.getInt32(known)) break
    }
    while (NAME_BYTE[source[at]!] === 1) at++
    return at
  }

  /** Reads an edge on a line of the usual form, between nodes with ids as long as the last one. */
  #usualEdge(): boolean {
    const view = this.#view
    const start = this.#position
    const fromEnd = start + this.#lastLength
    const toEnd = fromEnd + 4 + this.#lastLength
    if (toEnd + 16 > this.#end || view.getInt32(fromEnd) !== ARROW) return false
    if (view.getInt32(toEnd) !== LIST || view.getInt32(toEnd + 4) !== LABEL) return false
    if (view.getInt32(toEnd + 8) !== LATENCY) return false
    const from = this.#ids.find(view, start, fromEnd, hashId(view, start, fromEnd))
    const to = this.#ids.find(view, fromEnd + 4, toEnd, hashId(view, fromEnd + 4, toEnd))
    return from >= 0 && to >= 0 && this.#usualLatency(toEnd + 12, from, to)
  }

  /** Reads `4381.46 us"]` and the line end; not a sign, an exponent, or more than 15 digits. */
  #usualLatency(start: number, from: number, to: number): boolean {
    const [source, limit] = [this.#buffer, this.#end]
    let at = start
    let digits = 0
    let count = 0
    let point = -1
    for (; at < limit; at++) {
      const byte = source[at]!
      if (byte === POINT && point < 0) point = count
      else if (byte < ZERO || byte > ZERO + 9) break
      else {
        digits = digits * 10 + byte - ZERO
        count++
      }
    }
    if (count === 0 || count > EXACT_DIGITS || (source[at]! | 32) === LETTER_E) return false
    if (at + 6 > limit || this.#view.getInt32(at) !== UNIT) return false
    if (source[at + 4] !== CLOSE || source[at + 5] !== NEWLINE) return false
    this.#addEdge(from, to, point < 0 ? digits : digits / POWERS_OF_TEN[count - point]!)
    this.#position = at + 6
    this.#line++
    return true
  }

  #addEdge(from: number, to: number, latencyUs: number): void {
    if (this.#edgeCount === this.#from.length) {
      this.#from = larger(this.#from)
      this.#to = larger(this.#to)
      const latencies = new Float64Array(this.#from.length)
      latencies.set(this.#latencyUs)
      this.#latencyUs = latencies
    }
    this.#from[this.#edgeCount] = from
    this.#to[this.#edgeCount] = to
    this.#latencyUs[this.#edgeCount++] = latencyUs
  }

  #node(start: number, end: number): number {
    const view = this.#view
    const node = this.#ids.intern(view, start, end, hashId(view, start, end))
    if (node === this.#nodeCount) {
      if (node === this.#labelOf.length) {
        this.#labelOf = larger(this.#labelOf)
        this.#numbers = larger(this.#numbers)
        this.#byNumber = larger(this.#byNumber)
      }
      this.#labelOf[node] = NONE
      this.#numbers[node] = NONE
      this.#nodeCount++
    }
    return node
  }

  /** Reads a label: trace point and semantic label, which a literal `\\n` separates, become one name. */
  #label(start: number, end: number, hash?: number) {
    const number = this.#labelBytes.intern(this.#view, start, end, hash)
    const known = this.#labels[number]
    if (known !== undefined) return known
    const text = this.#decoded(start, end)
    const parts = text.replace(/\\(["\\n])/g, (_, kept) => (kept === 'n' ? '\n' : kept)).split('\n')
    const name = parts.filter((part) => part !== '').join(' ')
    const label = { code: this.#sink.graphs.labels.code(name), lines: linesIn(text) }
    this.#labels.push(label)
    return label
  }

  /** Reads a statement that is no usual line: a node, edges, or defaults. */
  #statement(): void {
    const line = this.#line
    const problem = (code: string, message: string) => new DotProblem(code, line, message)
    const first = this.#name()
    const word = this.#textOf(first)
    if (this.#passes('=')) {
      this.#name('value')
      return
    }
    const { sign } = this.#next()
    if (sign === '[' && DEFAULTS.test(word)) {
      this.#list()
      return
    }
    if (sign !== '->' && sign !== '-' && sign !== '[' && /^digraph$/i.test(word)) {
      throw this.#problem('truncated-graph', 'A graph begins before the last one is closed')
    }
    const chain = [this.#node(first.start, first.end)]
    while (this.#passes('->')) {
      const { start, end } = this.#name()
      chain.push(this.#node(start, end))
    }
    if (this.#next().sign === '-') throw this.#unexpected('`->`')
    const [node, last] = [chain[0]!, chain.at(-1)!]
    if (chain.length === 1 && this.#labelOf[node] !== NONE) {
      throw problem('duplicate-node', `Node ${word} is declared twice`)
    }
    const attributes = this.#list()
    const label = attributes.findLast(({ key }) => /^label$/i.test(key))?.value
    if (chain.length === 1) {
      if (label === undefined) throw problem('missing-label', `Node ${word} has no label`)
      this.#labelOf[node] = this.#label(label.start, label.end).code
      for (const { key, value } of attributes) {
        if (/^label$/i.test(key)) continue
        this.#attributes.push([node, key, dotAttribute(this.#textOf(value))])
      }
      return
    }
    const edge = `Edge ${word} -> ${this.#idText(last)}`
    const latencyUs = Number(NUMBER.exec(label ? this.#textOf(label) : '')?.[0] ?? Number.NaN)
    if (Number.isNaN(latencyUs)) throw problem('missing-latency', `${edge} has no latency`)
    if (latencyUs < 0 || latencyUs === Number.POSITIVE_INFINITY) {
      const code = latencyUs < 0 ? 'negative-latency' : 'infinite-latency'
      throw problem(code, `${edge} has latency ${latencyUs} µs`)
    }
    chain.slice(1).forEach((to, i) => {
      this.#addEdge(chain[i]!, to, latencyUs)
    })
  }

  /** Reads `[key=value, …]`, if it is here. */
  #list(): { readonly key: string; readonly value: Token }[] {
    const entries: { key: string; value: Token }[] = []
    if (!this.#passes('[')) return entries
    for (;;) {
      while (this.#passes(',') || this.#passes(';'));
      if (this.#passes(']')) return entries
      const key = this.#textOf(this.#name())
      if (!this.#passes('=')) throw this.#unexpected('`=`')
      entries.push({ key, value: this.#name('value') })
    }
  }

  /** Reads a name; as a `value`, also a number with a sign. */
  #name(kind: 'name' | 'value' = 'name'): Token {
    const token = this.#next()
    const isSigned = kind === 'name' && this.#buffer[token.start] === 45
    if (token.sign !== '' || (isSigned && token.start === token.at))
      throw this.#unexpected('a name')
    this.#moveTo(token.behind)
    return token
  }

  #passes(sign: string): boolean {
    const token = this.#next()
    if (token.sign !== sign) return false
    this.#moveTo(token.behind)
    return true
  }

  /** Returns the next token; throws `Incomplete` where further bytes could make it another one. */
  #next(): Token {
    if (this.#text === undefined || this.#position < this.#textStart) {
      this.#textStart = this.#position
      this.#text = BYTE_DECODER.decode(this.#buffer.subarray(this.#position, this.#end))
    }
    BLANKS.lastIndex = this.#position - this.#textStart
    const at = this.#position + (BLANKS.exec(this.#text)?.[0].length ?? 0)
    TOKEN.lastIndex = at - this.#textStart
    const [all, quoted, bare, sign = ''] = TOKEN.exec(this.#text) ?? []
    if (all === undefined || sign === '"' || sign === '/*') throw new Incomplete()
    const behind = at + all.length
    const isOpen = bare !== undefined || /[-/]/.test(sign)
    if (behind === this.#end && isOpen) throw new Incomplete()
    const quotes = quoted === undefined ? 0 : 1
    return { sign, at, start: at + quotes, end: behind - quotes, behind }
  }

  #moveTo(position: number): void {
    for (let at = this.#position; at < position; at++)
      if (this.#buffer[at] === NEWLINE) this.#line++
    this.#position = position
  }

  #textOf({ start, end }: Token): string {
    return this.#decoded(start, end).replace(/\\(["\\])/g, '$1')
  }

  /**
   * Numbers nodes as the edges mention them, the root first: files declare them by time, in which concurrent work comes
   * in any order, so that one structure would be many shapes.
   */
  #numberNodes(): void {
    const nodeCount = this.#nodeCount
    const edgeCount = this.#edgeCount
    const [from, to, numbers] = [this.#from, this.#to, this.#numbers]
    let next = 0
    let isEntered = false
    for (let edge = 0; edge < edgeCount; edge++) {
      const [source, target] = [from[edge]!, to[edge]!]
      if (numbers[source] === NONE) numbers[source] = next++
      if (numbers[target] === NONE) numbers[target] = next++
      from[edge] = numbers[source]!
      to[edge] = numbers[target]!
      isEntered ||= to[edge] === 0
    }
    for (let node = 0; node < nodeCount; node++) if (numbers[node] === NONE) numbers[node] = next++
    if (numbers[0] !== 0 || isEntered) this.#putRootFirst()
    for (let node = 0; node < nodeCount; node++) {
      const label = this.#labelOf[node]!
      if (label === NONE) {
        const message = `Node ${this.#idText(node)} is used in an edge but never declared`
        throw this.#problem('undeclared-node', message)
      }
      this.#byNumber[numbers[node]!] = label
    }
  }

  /** Makes the first declared node that nothing leads to node 0. */
  #putRootFirst(): void {
    const [from, to, numbers] = [this.#from, this.#to, this.#numbers]
    const isEntered = new Uint8Array(this.#nodeCount)
    for (let edge = 0; edge < this.#edgeCount; edge++) isEntered[to[edge]!] = 1
    let declared = 0
    while (isEntered[numbers[declared]!] === 1) declared++
    const root = declared < this.#nodeCount ? numbers[declared]! : 0
    const swap = (list: Uint32Array, length: number) => {
      for (let i = 0; i < length; i++) {
        if (list[i] === root) list[i] = 0
        else if (list[i] === 0) list[i] = root
      }
    }
    swap(from, this.#edgeCount)
    swap(to, this.#edgeCount)
    swap(numbers, this.#nodeCount)
  }

  /** Leaves a graph out up to its closing brace or the next header; `false` if neither is here. */
  #skipGraph(line: number, problem: DotProblem, final: boolean): boolean {
    const text = BYTE_DECODER.decode(this.#buffer.subarray(this.#start, this.#end))
    const opened = text.indexOf('{') + 1
    const close = closingBrace(text, this.#position - this.#start)
    const inside = close < 0 ? text : text.slice(0, close)
    const next = inside.slice(opened).search(NEXT_HEADER)
    if (next < 0 && close < 0 && !final) return false
    const end = next >= 0 ? opened + next + 1 : close >= 0 ? close + 1 : text.length
    this.#note(problem, HEADER_ID.exec(this.#decoded(this.#start, this.#start + end))?.[1])
    this.#start += end
    this.#line = line + linesIn(text.slice(0, end))
    return true
  }

  #decoded(start: number, end: number): string {
    return DECODER.decode(this.#buffer.subarray(start, end))
  }

  #idText(node: number): string {
    return DECODER.decode(this.#ids.bytes(node))
  }

  #problem(code: string, message: string): DotProblem {
    return new DotProblem(code, this.#line, message)
  }

  #unexpected(expected: string): DotProblem {
    this.#moveTo(this.#next().at)
    const found = this.#decoded(this.#position, Math.min(this.#position + 20, this.#end))
    const shown = JSON.stringify(/^[^\n]?[^\n}]*/.exec(found)?.[0])
    return this.#problem('malformed-graph', `Found ${shown} where ${expected} should be`)
  }

  #note(problem: DotProblem, trace: string | undefined): void {
    this.#sink.quality.skip({
      code: problem.code,
      effect: 'trace skipped',
      place: { file: this.#file, line: problem.line, trace },
      message: problem.message,
      next: NEXT_STEP,
    })
  }
}

function linesIn(text: string): number {
  return text.split('\n').length - 1
}

function closingBrace(text: string, start: number): number {
  BRACE_OR_SKIPPED.lastIndex = start
  for (let found = BRACE_OR_SKIPPED.exec(text); found !== null; ) {
    if (found[0] === '}') return found.index
    found = BRACE_OR_SKIPPED.exec(text)
  }
  return -1
}

/** The id in the first header of a text, for messages about a graph that cannot be read. */
const HEADER_ID = /#\s*(\S+)\s+R:/

/** Reads `# 7  R: 4.38 usecs RT: 0.0 usecs`; `null` where that is not there. */
function readHeader(text: string) {
  const [, id, responseTime, arrival = '0'] = HEADER.exec(text) ?? []
  const responseTimeUs = Number(responseTime)
  const startUs = Number(arrival)
  if (id === undefined || !Number.isFinite(responseTimeUs) || !Number.isFinite(startUs)) return null
  return { id, responseTimeUs, startUs }
}

function dotAttribute(text: string): AttributeValue {
  if (text === 'true' || text === 'false') return text === 'true'
  const number = Number(text)
  return text.trim() === '' || Number.isNaN(number) ? text : number
}

/** Hashes the first and last eight bytes of an id: what differs between the ids of a graph is there. */
export function hashId(view: DataView, start: number, end: number): number {
  if (end - start < 8) {
    let hash = end - start
    for (let at = start; at < end; at++) hash = Math.imul(hash, 31) + view.getUint8(at)
    return hash | 0
  }
  const tail = Math.imul(view.getInt32(end - 8), 0x9e3779b1) ^ view.getInt32(end - 4)
  const head = Math.imul(view.getInt32(start), 0x85ebca6b) ^ view.getInt32(start + 4)
  return Math.imul(tail ^ (tail >>> 15), 0xc2b2ae35) ^ Math.imul(head, 0x27d4eb2f)
}
