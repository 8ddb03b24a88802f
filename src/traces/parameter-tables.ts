import { getOrInsert } from '../core/entries.ts'
import { type Place, show, TraceFormatError } from '../core/errors.ts'
import { counted, grouped } from '../core/words.ts'
import type { AttributeValue } from './attributes.ts'
import type { QualityLog } from './quality.ts'

type Entry = readonly [name: string, value: AttributeValue]

export interface ParameterOwner {
  readonly kind: 'node' | 'span'
  readonly id: string
  readonly trace: string | undefined
}

/** Parameters from separate tables, with an account of rows and owners without a match. */
export class ParameterTables {
  readonly #quality: QualityLog
  /** Parameters of each owner: the place of its first row, and the traces that have it. */
  readonly #owners = new Map<string, { place: Place; entries: Entry[]; usedBy: Set<string> }>()
  #rows = 0
  readonly #asked = { count: 0, missed: 0, kind: 'node', first: '' }
  #firstMissed: { readonly trace: string; readonly words: string } | undefined

  constructor(quality: QualityLog) {
    this.#quality = quality
  }

  /** Adds what a row says of an owner. */
  addRow({ kind, id, trace }: ParameterOwner, entries: readonly Entry[], place: Place): void {
    const owner = getOrInsert(this.#owners, KEYS[kind](id, trace), () => {
      return { place, entries: [] as Entry[], usedBy: new Set<string>() }
    })
    owner.entries.push(...entries)
    this.#rows++
  }

  /** Returns the parameters of an owner in a trace, except those that the trace itself gives (`own`). */
  of({ kind, id, trace = '' }: ParameterOwner, own: readonly Entry[]): readonly Entry[] {
    const asked = this.#asked
    const alone = KEYS[kind](id)
    const found = [alone, KEYS[kind](id, trace)].flatMap((key) => this.#owners.get(key) ?? [])
    asked.kind = kind
    if (asked.count++ === 0) asked.first = keyWords(alone)
    if (found.length === 0) {
      asked.missed++
      this.#firstMissed ??= { trace, words: keyWords(alone) }
    }
    const taken: Entry[] = []
    for (const { entries, usedBy } of found) {
      usedBy.add(trace)
      for (const entry of entries) {
        const said = named(entry, own) ?? named(entry, taken)
        if (said === undefined) taken.push(entry)
        else if (said[1] !== entry[1]) {
          const message = `${entry[0]} of ${keyWords(alone)} has two values, ${show(said[1])} and ${show(entry[1])}; the first is kept`
          this.#quality.note('repeated-parameter', { trace }, message)
        }
      }
    }
    return taken
  }

  /** Notes rows without one owner, and owners without rows; throws if no row has an owner. */
  finish(): void {
    this.#requireUse()
    for (const [key, { place, usedBy }] of this.#owners) {
      const about = keyWords(key)
      if (usedBy.size === 0) {
        const message = `The row is about ${about}, which is not in the traces`
        this.#quality.note('unused-parameters', place, message)
      } else if (usedBy.size > 1) {
        const message = `Several traces have ${about}; the row counts for each of them`
        this.#quality.note('ambiguous-parameters', place, message)
      }
    }
    if (this.#firstMissed === undefined) return
    const { trace, words } = this.#firstMissed
    const { count, missed, kind } = this.#asked
    const message = `${grouped(missed)} of ${counted(count, kind)} have no row among the parameters, first: ${words}`
    this.#quality.note('no-parameters', { trace }, message)
  }

  #requireUse(): void {
    const [first] = this.#owners
    if (first === undefined || [...this.#owners.values()].some(({ usedBy }) => usedBy.size > 0)) {
      return
    }
    const [key, { place }] = first
    const nothing = `No row of parameters matches anything in the traces (${counted(this.#rows, 'row')})`
    throw this.#asked.count === 0
      ? new TraceFormatError(
          `${nothing}; their format has no ids to name trace points by`,
          place,
          'Give parameters for DOT graphs (column node) or for spans (columns traceId and spanId)',
        )
      : new TraceFormatError(
          `${nothing}: the first is about ${keyWords(key)}, the traces begin with ${this.#asked.first}`,
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

const KEYS = {
  node: (node: string, trace?: string) =>
    trace === undefined ? node : `${trace}${SEPARATOR}${node}`,
  span: (span: string, trace = '') => `${SEPARATOR}${plainId(trace)}${SEPARATOR}${plainId(span)}`,
}

function keyWords(key: string): string {
  const [first = '', second, third] = key.split(SEPARATOR)
  if (second === undefined) return `node ${first}`
  if (third === undefined) return `node ${second} of trace ${first}`
  return second === '' ? `span ${third}` : `span ${third} of trace ${second}`
}

function plainId(id: string): string {
  return HEX.test(id) ? id.toLowerCase().replace(/^0+(?=.)/, '') : id
}
