// Runs once a span, node or edge: the loops index with `!`.

import type { ParameterTables } from '../parameter-tables.ts'
import { TRUNCATED_FILE } from '../quality.ts'
import { DotGraphParser } from './dot-graph-parser.ts'
import { BYTE_DECODER, DotProblem, DotScanner, Incomplete } from './dot-scanner.ts'
import type { AttributeEntry } from './json-values.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

const HEADER_START = /^[ \t]*#[^\n]*\bR:/m
const NEXT_HEADER = /\n[ \t]*#[^\n]*\bR:/
/** Space and comments. Each alternative ends where the next begins, or long lines take for ever. */
const NOTHING = /^\s*(?:(?:#|\/\/)[^\n]*(?:\n\s*|$)|\/\*[\s\S]*?\*\/\s*)*$/
/** Closing brace, or a string or comment, whose braces close nothing. */
const BRACE_OR_SKIPPED =
  /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|$)|(?:#|\/\/)[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\}/g
const DECODER = new TextDecoder()
const NEWLINE = 10
const OPEN_BRACE = 123
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

class DotRun {
  readonly #sink: ReadSink
  readonly #file: string
  readonly #scanner = new DotScanner()
  readonly #parser = new DotGraphParser(this.#scanner)
  readonly #labelCodes: number[] = []
  #buffer: Uint8Array = new Uint8Array(1 << 20)
  #start = 0
  #end = 0
  /** A graph that was incomplete is tried again when this many bytes are there. */
  #enough = 0

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
    const rest = this.#text(this.#start, this.#end)
    const id = headerId(rest)
    if (id === undefined && NOTHING.test(rest) && !HEADER_START.test(rest)) return
    const blankLines = (/^\s*/.exec(rest)?.[0] ?? '').split('\n').length - 1
    const line = this.#scanner.line + blankLines
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
    this.#parser.useSource(target)
    this.#start = 0
    this.#end = used
  }

  #readGraphs(final: boolean): void {
    this.#enough = 0
    while (this.#start < this.#end) {
      const { line } = this.#scanner
      try {
        this.#readGraph()
        this.#start = this.#scanner.position
      } catch (problem) {
        if (problem instanceof DotProblem && this.#skipGraph(line, problem, final)) continue
        if (!(problem instanceof DotProblem || problem instanceof Incomplete)) throw problem
        this.#scanner.line = line
        this.#enough = 2 * (this.#end - this.#start)
        return
      }
    }
  }

  #readGraph(): void {
    const scanner = this.#scanner
    const parser = this.#parser
    let open = this.#start
    for (; open < this.#end && this.#buffer[open] !== OPEN_BRACE; open++) {
      if (this.#buffer[open] === NEWLINE) scanner.line++
    }
    if (open === this.#end) throw new Incomplete()
    const header = readHeader(this.#text(this.#start, open))
    scanner.position = open + 1
    scanner.limit = this.#end
    if (header === null) throw new DotProblem('missing-header', scanner.line, NO_HEADER)
    parser.parse()
    const { nodeCount, edgeCount, labels, from, to, latencyUs } = parser
    for (let node = 0; node < nodeCount; node++) labels[node] = this.#labelCode(labels[node]!)
    const { graphs } = this.#sink
    const { id, responseTimeUs, startUs } = header
    const graph = { id, responseTimeUs, startUs, nodeCount, edgeCount, labels, from, to, latencyUs }
    const shape = graphs.internShape(graph)
    if (!graphs.isAcyclic(shape)) {
      throw new DotProblem('cyclic-graph', scanner.line, 'The edges lead back to the same node')
    }
    for (const [node, key, value] of parser.attributes) graphs.addAttribute(node, key, value)
    if (graphs.parameters !== undefined) this.#addParameters(graphs.parameters, id)
    graphs.add(graph, shape)
  }

  #addParameters(parameters: ParameterTables, id: string): void {
    const parser = this.#parser
    const { graphs } = this.#sink
    const trace = { id, number: graphs.size }
    const own = new Map<number, AttributeEntry[]>()
    for (const [node, ...entry] of parser.attributes) {
      own.set(node, [...(own.get(node) ?? []), entry])
    }
    for (let node = 0; node < parser.nodeCount; node++) {
      const found = parameters.of(
        { kind: 'node', id: parser.idOf(node) },
        trace,
        own.get(node) ?? [],
      )
      for (const [key, value] of found) graphs.addAttribute(node, key, value)
    }
  }

  #labelCode(label: number): number {
    const known = this.#labelCodes[label]
    if (known !== undefined) return known
    const code = this.#sink.graphs.labels.code(this.#parser.labelTexts[label]!)
    this.#labelCodes[label] = code
    return code
  }

  /** Leaves a graph out up to its closing brace or the next header; `false` if neither is here. */
  #skipGraph(line: number, problem: DotProblem, final: boolean): boolean {
    const text = BYTE_DECODER.decode(this.#buffer.subarray(this.#start, this.#end))
    const opened = text.indexOf('{') + 1
    const close = closingBrace(text, this.#scanner.position - this.#start)
    const inside = close < 0 ? text : text.slice(0, close)
    const next = inside.slice(opened).search(NEXT_HEADER)
    if (next < 0 && close < 0 && !final) return false
    const end = next >= 0 ? opened + next + 1 : close >= 0 ? close + 1 : text.length
    const skipped = text.slice(0, end)
    this.#note(problem, headerId(this.#text(this.#start, this.#start + end)))
    this.#start += end
    this.#scanner.line = line + skipped.split('\n').length - 1
    return true
  }

  #text(start: number, end: number): string {
    return DECODER.decode(this.#buffer.subarray(start, end))
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

function closingBrace(text: string, start: number): number {
  BRACE_OR_SKIPPED.lastIndex = start
  for (let found = BRACE_OR_SKIPPED.exec(text); found !== null; ) {
    if (found[0] === '}') return found.index
    found = BRACE_OR_SKIPPED.exec(text)
  }
  return -1
}

const HEADER =
  /#\s*(\S+)\s+R:\s*([\d.]+(?:e[-+]?\d+)?)(?:[^\nR]*RT:\s*([-+]?[\d.]+(?:e[-+]?\d+)?))?/i

/** Reads `# 7  R: 4.38 usecs RT: 0.0 usecs`; `null` where that is not there. */
function readHeader(text: string) {
  const [, id, responseTime, arrival = '0'] = HEADER.exec(text) ?? []
  const responseTimeUs = Number(responseTime)
  const startUs = Number(arrival)
  if (id === undefined || !Number.isFinite(responseTimeUs) || !Number.isFinite(startUs)) return null
  return { id, responseTimeUs, startUs }
}

/** Returns the id in the first header of a text, for messages about a graph that cannot be read. */
function headerId(text: string): string | undefined {
  return /#\s*(\S+)\s+R:/.exec(text)?.[1]
}
