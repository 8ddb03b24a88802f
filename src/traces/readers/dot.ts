import { DotGraphParser } from './dot-graph-parser.ts'
import { DotProblem, DotScanner, Incomplete } from './dot-scanner.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const HEADER = /#\s*(\S+)\s+R:\s*(\S+)\s*us\w*(?:\s+RT:\s*(\S+)\s*us\w*)?/
const NEXT_HEADER = /\n[ \t]*#[^\n]*\bR:/
const DECODER = new TextDecoder()
const NEXT_STEP = 'Correct the graph, or load without `strict` to leave it out'

/**
 * Spectroscope's input, one request-flow graph after the other (Sambasivan 2013, §2.3):
 *
 * ```
 * # 1  R: 4.381460 usecs RT: 0.000000 usecs
 * Digraph G {
 * 25.1 [label="e10__t3__NFS3_NULL_CALL_TYPE\nDEFAULT"]
 * 25.2 [label="e10__t3__NFS3_NULL_REPLY_TYPE\nDEFAULT", size=4096]
 * 25.1 -> 25.2 [label="R: 4.381460 us"]
 * }
 * ```
 *
 * `R` is the response time, `RT` the arrival since the start of the period. Attributes of nodes
 * other than the label are low-level parameters. A graph that cannot be used is left out and
 * noted with its line; reading goes on behind it.
 */
export const dotReader: TraceReader = {
  format: 'dot',
  recognises: (head) => /^\s*(#[^\n]*\bR:|\/\/|(strict\s+)?digraph\b)/i.test(head),
  async read(chunks, sink, file) {
    const run = new DotRun(sink, file)
    for await (const chunk of chunks) run.add(chunk)
    run.finish()
  },
}

/** One file being read: the bytes not yet used, and what becomes of each graph. */
class DotRun {
  readonly #sink: ReadSink
  readonly #file: string
  readonly #scanner = new DotScanner()
  readonly #parser = new DotGraphParser(this.#scanner)
  /** Code in the builder's dictionary of each of the parser's labels. */
  readonly #labelCodes: number[] = []
  #buffer = new Uint8Array(1 << 20)
  #start = 0
  #end = 0

  constructor(sink: ReadSink, file: string) {
    this.#sink = sink
    this.#file = file
  }

  add(chunk: Uint8Array): void {
    this.#makeRoom(chunk.length)
    this.#buffer.set(chunk, this.#end)
    this.#end += chunk.length
    this.#readGraphs()
  }

  finish(): void {
    const rest = new TextDecoder().decode(this.#buffer.subarray(this.#start, this.#end))
    const header = HEADER.exec(rest)
    if (header === null && /^\s*(#[^\n]*\s*)*$/.test(rest)) return
    const problem = new DotProblem(
      'truncated-graph',
      this.#scanner.line,
      'The file ends in the middle of a graph',
    )
    this.#note(problem, header?.[1])
  }

  #makeRoom(count: number): void {
    const used = this.#end - this.#start
    const target =
      used + count <= this.#buffer.length
        ? this.#buffer
        : new Uint8Array(Math.max(used + count, this.#buffer.length * 2))
    target.set(this.#buffer.subarray(this.#start, this.#end))
    this.#buffer = target
    this.#start = 0
    this.#end = used
  }

  /** Reads all graphs that are complete. A brace may also stand in a label: then it goes on. */
  #readGraphs(): void {
    let close = this.#closingBrace(this.#start)
    while (close >= 0) {
      const { line } = this.#scanner
      try {
        this.#readGraph(close + 1)
        this.#start = this.#scanner.position
        close = this.#closingBrace(this.#start)
      } catch (problem) {
        if (problem instanceof Incomplete) {
          this.#scanner.line = line
          close = this.#closingBrace(close + 1)
        } else if (problem instanceof DotProblem) {
          this.#skipGraph(line, close + 1, problem)
          close = this.#closingBrace(this.#start)
        } else throw problem
      }
    }
  }

  #closingBrace(from: number): number {
    const at = this.#buffer.indexOf(CLOSE_BRACE, from)
    return at < this.#end ? at : -1
  }

  #readGraph(limit: number): void {
    const scanner = this.#scanner
    const parser = this.#parser
    const open = this.#buffer.indexOf(OPEN_BRACE, this.#start)
    if (open < 0 || open >= limit) {
      throw new DotProblem('malformed-graph', scanner.line, 'A graph is closed that was not opened')
    }
    const header = parseHeader(this.#text(this.#start, open), scanner.line)
    scanner.source = this.#buffer
    scanner.limit = limit
    scanner.position = open + 1
    scanner.line += header.lines
    parser.parse()
    const { nodeCount, edgeCount, from, to, latencyUs } = parser
    const labels = parser.labels
    for (let node = 0; node < nodeCount; node++)
      labels[node] = this.#labelCode(labels[node] as number)
    const { graphs } = this.#sink
    const graph = { ...header, nodeCount, edgeCount, labels, from, to, latencyUs }
    const shape = graphs.internShape(graph)
    if (!graphs.isAcyclic(shape)) {
      throw new DotProblem('cyclic-graph', scanner.line, 'The edges lead back to the same node')
    }
    for (const [node, key, value] of parser.attributes) graphs.addAttribute(node, key, value)
    graphs.add(graph, shape)
  }

  #labelCode(label: number): number {
    const known = this.#labelCodes[label]
    if (known !== undefined) return known
    const code = this.#sink.graphs.labels.code(this.#parser.labelTexts[label] as string)
    this.#labelCodes[label] = code
    return code
  }

  /** Leaves the graph that begins at `#start` out and goes on at the next header. */
  #skipGraph(line: number, limit: number, problem: DotProblem): void {
    const text = this.#text(this.#start, limit)
    this.#note(problem, HEADER.exec(text)?.[1])
    const opened = text.indexOf('{')
    const next = opened < 0 ? -1 : text.slice(opened).search(NEXT_HEADER)
    const skipped = next < 0 ? text : text.slice(0, opened + next + 1)
    this.#start += new TextEncoder().encode(skipped).length
    this.#scanner.line = line + skipped.split('\n').length - 1
  }

  #text(start: number, end: number): string {
    return DECODER.decode(this.#buffer.subarray(start, end))
  }

  #note(problem: DotProblem, trace: string | undefined): void {
    this.#sink.quality.note(
      {
        code: problem.code,
        effect: 'trace skipped',
        place: { file: this.#file, line: problem.line, trace },
        message: problem.message,
      },
      NEXT_STEP,
    )
  }
}

/** Takes `# id R: … RT: …` from what stands before a graph's opening brace. */
function parseHeader(text: string, line: number) {
  const header = HEADER.exec(text)
  const [, id, responseTime, arrival = '0'] = header ?? []
  const responseTimeUs = Number(responseTime)
  const startUs = Number(arrival)
  if (id === undefined || !(responseTimeUs >= 0) || !Number.isFinite(startUs)) {
    throw new DotProblem(
      'missing-header',
      line,
      'A graph has no line `# id R: <response time> usecs RT: <arrival> usecs` before it',
    )
  }
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return { id, responseTimeUs, startUs, lines }
}
