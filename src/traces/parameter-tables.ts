// Runs once a span, node or edge: the loops index with `!`.
import { type Place, show, TraceFormatError } from '../core/errors.ts'
import { counted, grouped } from '../core/words.ts'
import { AttributesBuilder, type AttributeValue } from './attributes.ts'
import { Dictionary } from './dictionary.ts'
import { growingColumns } from './growing-columns.ts'
import type { QualityLog } from './quality.ts'

type Entry = readonly [name: string, value: AttributeValue]

interface TraceAtHand {
  readonly id: string
  readonly number: number
}

const NOTHING: readonly Entry[] = []
/** Number of a key that no row has. */
const NONE = -1
const UNUSED = 0
/** Placeholder for a trace's number if more than one trace has the key. */
const SEVERAL = 0xffffffff

export interface ParameterOwner {
  readonly kind: 'node' | 'span'
  readonly id: string
  readonly trace: string | undefined
}

/** Parameters from separate tables, with an account of rows and owners without a match. */
export class ParameterTables {
  readonly #quality: QualityLog
  readonly #keys = new Dictionary()
  readonly #parameters = new AttributesBuilder()
  #attributes = new AttributesBuilder().finish(0)
  readonly #files: string[] = []
  /** File and line of each key's first row, whether more follow, and number + 1 of its trace. */
  readonly #columns = growingColumns({ file: 'u32', line: 'u32', repeated: 'u8', usedBy: 'u32' })
  /** Whether some nodes, some spans, are named with their trace. */
  readonly #withinTraces = { node: false, span: false }
  #owner = 0
  #rows = 0
  readonly #asked = { count: 0, missed: 0, kind: 'node' }
  #firstAsked = ''
  #firstMissed: { readonly trace: string; readonly words: string } | undefined

  constructor(quality: QualityLog) {
    this.#quality = quality
  }

  addRow({ kind, id, trace }: ParameterOwner, file: string, line: number): void {
    const columns = this.#columns
    const owner = this.#keys.code(KEYS[kind](id, trace))
    if (owner < columns.line.length) columns.repeated.values[owner] = 1
    else {
      if (this.#files.at(-1) !== file) this.#files.push(file)
      columns.file.push(this.#files.length - 1)
      columns.line.push(line)
      columns.repeated.push(0)
      columns.usedBy.push(UNUSED)
    }
    if (trace !== undefined) this.#withinTraces[kind] = true
    this.#owner = owner
    this.#rows++
  }

  add(name: string, value: AttributeValue): void {
    this.#parameters.add(this.#owner, name, value)
  }

  close(): this {
    this.#attributes = this.#parameters.finish(this.#keys.size)
    return this
  }

  /** Returns the parameters of an owner, except those that the trace itself gives (`own`). */
  of(
    { kind, id }: Omit<ParameterOwner, 'trace'>,
    trace: TraceAtHand,
    own: readonly Entry[],
  ): readonly Entry[] {
    const keyOf = KEYS[kind]
    const alone = this.#keys.find(keyOf(id)) ?? NONE
    const within = this.#withinTraces[kind] ? (this.#keys.find(keyOf(id, trace.id)) ?? NONE) : NONE
    this.#asked.kind = kind
    return this.#take([alone, within], { trace, own, words: () => keyWords(keyOf(id)) })
  }

  /** Notes rows without one owner, and owners without rows; throws if no row has an owner. */
  finish(): void {
    this.#requireUse()
    this.#columns.usedBy.finish().forEach((user, key) => {
      if (user !== UNUSED && user !== SEVERAL) return
      const place = this.#placeOf(key)
      const about = keyWords(this.#keys.value(key))
      const [code, message] =
        user === UNUSED
          ? ['unused-parameters', `The row is about ${about}, which is not in the traces`]
          : [
              'ambiguous-parameters',
              `Several traces have ${about}; the row counts for each of them`,
            ]
      this.#quality.note(code, place, message)
    })
    if (this.#firstMissed === undefined) return
    const { trace, words } = this.#firstMissed
    const { count, missed, kind } = this.#asked
    const message = `${grouped(missed)} of ${counted(count, kind)} have no row among the parameters, first: ${words}`
    this.#quality.note('no-parameters', { trace }, message)
  }

  #take(
    found: readonly [alone: number, within: number],
    { trace, own, words }: { trace: TraceAtHand; own: readonly Entry[]; words: () => string },
  ): readonly Entry[] {
    if (this.#asked.count++ === 0) this.#firstAsked = words()
    const [alone, within] = found
    if (alone < 0 && within < 0) {
      this.#asked.missed++
      this.#firstMissed ??= { trace: trace.id, words: words() }
      return NOTHING
    }
    const repeated = this.#columns.repeated.values
    const usedBy = this.#columns.usedBy.values
    const taken: Entry[] = []
    for (const key of found) {
      if (key < 0) continue
      const user = usedBy[key]!
      usedBy[key] = user === UNUSED || user === trace.number + 1 ? trace.number + 1 : SEVERAL
      // One row names each column once; more rows may disagree.
      const mayRepeat = repeated[key] === 1 || taken.length > 0
      for (const entry of this.#attributes.entries(key)) {
        const said = named(entry, own) ?? (mayRepeat ? named(entry, taken) : undefined)
        if (said === undefined) taken.push(entry)
        else if (said[1] !== entry[1]) this.#noteConflict(said, entry, { trace, words })
      }
    }
    return taken
  }

  #noteConflict(
    [name, kept]: Entry,
    [, dropped]: Entry,
    { trace, words }: { trace: TraceAtHand; words: () => string },
  ): void {
    this.#quality.note(
      'repeated-parameter',
      { trace: trace.id },
      `${name} of ${words()} has two values, ${show(kept)} and ${show(dropped)}; the first is kept`,
    )
  }

  #placeOf(key: number): Place {
    const { file, line } = this.#columns
    return { file: this.#files[file.values[key]!], line: line.values[key] }
  }

  #requireUse(): void {
    const rows = this.#rows
    if (rows === 0 || this.#columns.usedBy.finish().some((user) => user !== UNUSED)) return
    const place = this.#placeOf(0)
    const about = keyWords(this.#keys.value(0))
    const nothing = `No row of parameters matches anything in the traces (${counted(rows, 'row')})`
    throw this.#asked.count === 0
      ? new TraceFormatError(
          `${nothing}; their format has no ids to name trace points by`,
          place,
          'Give parameters for DOT graphs (column node) or for spans (columns traceId and spanId)',
        )
      : new TraceFormatError(
          `${nothing}: the first is about ${about}, the traces begin with ${this.#firstAsked}`,
          place,
          'Name nodes in column node as the DOT file does, spans in columns traceId and spanId; check that these are the parameters of this period',
        )
  }
}

function named([name]: Entry, entries: readonly Entry[]): Entry | undefined {
  return entries.find((entry) => entry[0] === name)
}

/** Stands between the parts of a key; no id holds it. */
const SEPARATOR = '\0'
const HEX = /^[0-9a-f]+$/i

function nodeKey(node: string, trace?: string): string {
  return trace === undefined ? node : `${trace}${SEPARATOR}${node}`
}

function spanKey(span: string, trace = ''): string {
  return `${SEPARATOR}${plainId(trace)}${SEPARATOR}${plainId(span)}`
}

const KEYS = { node: nodeKey, span: spanKey }

function keyWords(key: string): string {
  const [first = '', second, third] = key.split(SEPARATOR)
  if (second === undefined) return `node ${first}`
  if (third === undefined) return `node ${second} of trace ${first}`
  return second === '' ? `span ${third}` : `span ${third} of trace ${second}`
}

function plainId(id: string): string {
  return HEX.test(id) ? id.toLowerCase().replace(/^0+(?=.)/, '') : id
}
