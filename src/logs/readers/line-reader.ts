import { roleOf } from './field-roles.ts'
import { parsedObject } from './json-object.ts'
import type { LineBytes } from './line-bytes.ts'
import {
  type LineLayout,
  lineLayouts,
  pairIn,
  readHead,
  readRest,
  type TimeFinder,
  timeFinder,
} from './line-layouts.ts'
import { type Found, type LinePlans, outputsOf, plansFor } from './line-plans.ts'
import { LogDraft } from './log-draft.ts'
import { SKIPPED } from './log-sink.ts'
import { logfmtPairs, type Pair, trailingPairs } from './logfmt.ts'
import {
  type LineOptions,
  MessageStreams,
  type Place,
  RECORDS,
  type Stream,
} from './message-streams.ts'
import { mayBeThrown } from './thrown.ts'

/** Formats of which no line is a record. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'log4j'])
export const BEGINS_WITH_PAIR = /^[A-Za-z_@][\w.@/-]*=/
/** Matches lines that may be a line within a record, unlike a message in words. */
const MAY_BE_LINE = /^\s*[{<[]|\d:\d\d|\d{9}|=|^[A-Za-z]{4,8}[:[]|^[A-Z]+ \//
const TELLS_TIME = new Set(['time', 'head', 'uptime_ms'])
const MAX_DEPTH = 5
/** Length in bytes at which Docker cuts lines, leaving their end open. */
const DOCKER_CUT = 16_384
/** Colors and other controls of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const CONTROLS = /\u001b\[[0-9;?]*[A-Za-z]/g

/** Reads lines of logs: unwraps what carries them, layer by layer; what all layers say is one message. */
export class LineReader {
  readonly #options: LineOptions
  readonly #streams: MessageStreams
  #draft: LogDraft
  readonly #layouts: readonly LineLayout[]
  readonly #longLayouts: readonly LineLayout[]
  /** Layouts of earlier lines, in their order. */
  #usual: readonly LineLayout[] = []
  readonly #plans: LinePlans | undefined
  #found: Found = 'none'
  readonly #endOfTime: TimeFinder
  /** Columns that a line `#Fields:` names. */
  #columns: readonly string[] = []

  constructor(options: LineOptions) {
    const { format, settings } = options
    const isOnlyRecords = format === settings.format && RECORDS.has(format)
    this.#options = options
    this.#streams = new MessageStreams(options)
    this.#draft = new LogDraft(settings)
    this.#plans = plansFor(settings, format)
    if (settings.template.length > 0) this.#layouts = settings.template.map(templateLayout)
    else this.#layouts = isOnlyRecords ? [] : lineLayouts(settings.dateFormat)
    this.#endOfTime = timeFinder(settings.dateFormat)
    this.#longLayouts = this.#layouts.filter(({ heads }) => heads.length > 0)
  }

  /** Takes one line as bytes, if lines of its form are known; whether it did. */
  bytes(line: LineBytes): boolean {
    const found = this.#plans?.find(line) ?? 'none'
    this.#found = found
    return typeof found === 'object' && this.#streams.replay(found, line)
  }

  endBytes(): void {
    this.#streams.endBytes()
  }

  line(raw: string, line: number): void {
    const found = this.#found
    this.#found = 'none'
    if (raw.trim() === '') return
    const text = withoutControls(raw)
    const isMessage = this.#message(text)
    this.#finish(isMessage, { line, text: () => text })
    if (this.#draft.isHalf) this.#options.sink.skip(SKIPPED.half, line, text)
    // Each line that is half understood is counted: no plan takes them.
    else if (isMessage && found === 'learn' && isPlain(this.#draft)) this.#learn(raw)
  }

  #learn(raw: string): void {
    this.#plans?.learn(raw, (other) => {
      const isMessage = this.#message(withoutControls(other))
      const stream = this.#stream()
      stream.head = ''
      stream.partial = ''
      this.#draft.end()
      return isMessage && isPlain(this.#draft)
        ? outputsOf(this.#draft, this.#draft.record(0, 0))
        : undefined
    })
  }

  object(object: object, line: number): void {
    this.#draft = new LogDraft(this.#options.settings)
    this.#finish(this.#object(object, 0), { line, text: () => JSON.stringify(object) })
  }

  /** Takes a record given as a list of fields; `text` is its original text. */
  pairs(pairs: readonly Pair[], place: Place): void {
    this.#draft = new LogDraft(this.#options.settings)
    this.#finish(this.#pairs(pairs, 0), place)
  }

  #finish(isMessage: boolean, place: Place): void {
    if (isMessage) {
      this.#draft.end()
      this.#streams.take(this.#draft, place)
    } else {
      const { stream, inner = { stream, text: place.text() } } = this.#draft
      this.#streams.goOn(this.#streams.of(inner.stream), inner.text, place)
    }
  }

  end(): void {
    this.#streams.end()
  }

  /** Reads a line, and the asked fields in its text; returns whether it begins a message. */
  #message(text: string): boolean {
    this.#draft = new LogDraft(this.#options.settings)
    const isMessage = this.#read(text, 0)
    if (isMessage) for (const key of this.#options.settings.asked) this.#askText(key)
    return isMessage
  }

  /** Asks for the key of instances, which may stand anywhere in a text: `handled req=77 in 3 ms`. */
  #askText(key: string): void {
    const draft = this.#draft
    const { isText, name = '', fields, instance } = draft
    const { instance: ofInstance } = this.#options.settings
    const isKnown =
      key === ofInstance ? instance !== undefined : fields.some(([own]) => own === key)
    const value = isText && !isKnown ? pairIn(name, key) : undefined
    if (value === undefined) return
    if (key === ofInstance) draft.instance = value
    else fields.push([key, value])
  }

  /** Reads a line, and the lines in it, into the draft; whether it begins a message. */
  #read(text: string, depth: number): boolean {
    const { format, settings } = this.#options
    if (depth === MAX_DEPTH) return false
    this.#draft.isTimeless = false
    if (settings.template.length > 0) return this.#layout(text, depth)
    if (text.startsWith('{') && (depth > 0 || !TEXTS.has(settings.format))) {
      const object = parsedObject(text)
      if (object !== undefined) return this.#object(object, depth)
      if (format === 'jsonl' && depth === 0) return false
    }
    if (depth === 0 && text.startsWith('#Fields:')) {
      this.#columns = text.slice(8).trim().split(/\s+/)
      return false
    }
    if (depth === 0 && this.#columns.length > 0 && this.#row(text)) return true
    // A line that begins with a pair more likely consists of pairs than follows a layout.
    if (BEGINS_WITH_PAIR.test(text) && this.#logfmt(text, depth, false)) return true
    if (this.#layouts.length > 0 && (this.#several(text) || this.#layout(text, depth))) return true
    return format === 'logfmt' && this.#logfmt(text, depth, true)
  }

  /** Reads pairs; of those without a time, too, if nothing else is expected. */
  #logfmt(text: string, depth: number, isExpected: boolean): boolean {
    const { settings } = this.#options
    const pairs = TEXTS.has(settings.format) ? undefined : logfmtPairs(text)
    if (pairs === undefined || (!isExpected && !isRecord(pairs, depth))) return false
    return this.#pairs(pairs, depth)
  }

  /** Collects several lines into one message; those before the last report nothing yet. */
  #several(text: string): boolean {
    const stream = this.#stream()
    const before = stream.head
    const whole = before === '' ? '' : `${before}\n${text}`
    stream.head = ''
    for (const { heads, read, groups } of this.#longLayouts) {
      const at = heads.findIndex((head) => head.test(text))
      if (at >= 0) {
        stream.head = at === 0 || before === '' ? text : whole
        this.#draft.isPartial = true
        return true
      }
      const found = whole === '' ? null : read(whole)
      if (found !== null) {
        this.#groups(groups, found)
        this.#draft.endLayer()
        return true
      }
    }
    return false
  }

  /** Returns a row of a log whose columns a line `#Fields:` names. */
  #row(text: string): boolean {
    const values = text.split(/[ \t]+/)
    if (values.length !== this.#columns.length) return false
    const [date, time] = ['date', 'time'].map((name) => values[this.#columns.indexOf(name)])
    if (date !== undefined && time !== undefined)
      values[this.#columns.indexOf('time')] = `${date} ${time}`
    const pairs = this.#columns.map((name, i): Pair => [name, values[i] as string])
    this.#pairs(time === undefined ? pairs : pairs.filter(([name]) => name !== 'date'), 0)
    return true
  }

  #object(object: object, depth: number): boolean {
    this.#draft.object(object)
    return this.#within(this.#draft.endLayer(), depth)
  }

  #pairs(pairs: readonly Pair[], depth: number): boolean {
    for (const [key, value] of pairs) this.#draft.field(key, value)
    return this.#within(this.#draft.endLayer(), depth)
  }

  /** Reads the text of a record as a line by itself, if it is one; false if it continues an earlier message. */
  #within(line: string | undefined, depth: number): boolean {
    if (line === undefined) return true
    const draft = this.#draft
    const { isCarried } = draft
    const stream = this.#stream()
    const text = withoutControls(line)
    // A line that ends like an object is whole.
    if (isCarried && text.length >= DOCKER_CUT && !/[\n}]$/.test(text)) {
      stream.partial += text
      draft.isPartial = true
      return true
    }
    const whole = isCarried ? stream.partial + text : text
    if (isCarried) stream.partial = ''
    draft.name = whole
    const end = whole.trimEnd().indexOf('\n')
    const first = end < 0 ? whole.trimEnd() : whole.slice(0, end)
    if ((stream.head !== '' || MAY_BE_LINE.test(first)) && this.#read(first, depth + 1)) {
      if (end >= 0) draft.name += whole.slice(end)
      return true
    }
    if (stream.message === undefined || end >= 0 || !stream.stack.continues(first, isCarried))
      return true
    draft.inner ??= { text: first, stream: draft.stream }
    return false
  }

  /** Reads a line by the first layout it has, of those that lines had before if it has one of them. */
  #layout(text: string, depth: number): boolean {
    const isTemplate = this.#options.settings.template.length > 0
    if (!isTemplate && /^[ \t]/.test(text)) return false
    if (this.#usual.some((layout) => this.#match(layout, text, depth))) return true
    const found = this.#layouts.find(
      (layout) => !this.#usual.includes(layout) && this.#match(layout, text, depth),
    )
    if (found !== undefined && !found.isLast) this.#makeUsual(found)
    return found !== undefined
  }

  #makeUsual(layout: LineLayout): void {
    this.#usual = this.#layouts.filter((one) => one === layout || this.#usual.includes(one))
  }

  #match({ read, groups, isEnvelope, isLast, heads }: LineLayout, text: string, depth: number) {
    if (heads.length > 0) return false
    const found = read(text)
    if (found === null) return false
    const draft = this.#draft
    const line = this.#groups(groups, found)
    const message = draft.endLayer()
    if (isEnvelope) return this.#envelope(line, { depth, isText: isLast })
    this.#draft.isTimeless = !groups.some((name) => TELLS_TIME.has(name))
    if (draft.name === undefined) {
      draft.name = ''
      draft.isText = true
    }
    if (message?.startsWith('{')) this.#within(message, depth)
    return true
  }

  /** Takes the parts that a layout found, and returns the line that it carries. */
  #groups(groups: readonly string[], found: readonly (string | undefined)[]): string {
    const draft = this.#draft
    let line = ''
    for (let i = 0; i < groups.length; i++) {
      const name = groups[i] as string
      const value = found[i]
      if (value === undefined) continue
      if (name === 'line') line = value
      else if (name === 'text') draft.field('message', this.#withoutTail(value))
      else if (name === 'uptime_ms') draft.field('time', (Number(value) / 1000).toFixed(3))
      else if (name === 'head') this.#head(value)
      else if (name === 'rest') this.#rest(value)
      else draft.field(name, value)
    }
    return line
  }

  #head(text: string): void {
    const { said = [] } = readHead(text, this.#endOfTime, text.length) ?? {}
    for (const [name, value] of said) this.#draft.field(name, value)
  }

  #rest(text: string): void {
    const { said, isWhole } = readRest(text)
    for (const [name, value] of said) this.#draft.field(name, value)
    this.#draft.isHalf ||= !isWhole
  }

  /** Reads the line that an envelope carries, which by itself may begin no message. */
  #envelope(line: string, { depth, isText }: { depth: number; isText: boolean }): boolean {
    const draft = this.#draft
    const stream = this.#stream()
    if (draft.isPartial) {
      stream.partial += line
      return true
    }
    const whole = stream.partial + line
    stream.partial = ''
    if (this.#read(whole, depth + 1)) return true
    const isFurther = !isText && stream.message !== undefined && stream.stack.continues(whole, true)
    if (draft.time === undefined || isFurther) {
      const inner = draft.inner ?? { text: whole, stream: draft.stream }
      // Other layouts start anew.
      if (depth === 0) this.#draft = new LogDraft(this.#options.settings)
      this.#draft.inner = inner
      return false
    }
    draft.name = whole
    draft.isText = true
    return true
  }

  #withoutTail(text: string): string {
    const brace = text.endsWith('}') ? text.search(/ *\t?\{"/) : -1
    const object = brace > 0 ? parsedObject(text.slice(brace).trim()) : undefined
    if (object !== undefined) {
      this.#draft.object(object)
      return text.slice(0, brace)
    }
    const { message, pairs } = trailingPairs(text)
    for (const [key, value] of pairs) this.#draft.field(key, value)
    return message
  }

  #stream(): Stream {
    return this.#streams.of(this.#draft.stream)
  }
}

function withoutControls(text: string): string {
  return text.includes('\u001b') ? text.replace(CONTROLS, '') : text
}

/** Whether all that a draft says is its values: nothing was thrown, and it is complete. */
function isPlain({ time, isPartial, name, isText, said, thrown, thrownType }: LogDraft): boolean {
  const hasThrown = said !== undefined || thrown !== undefined || thrownType !== undefined
  if (time === undefined || isPartial || name === undefined || hasThrown) return false
  return !isText || (!name.includes('\n') && !mayBeThrown(name))
}

/** Whether pairs are a record: within another that has the time they say what happened, else when. */
function isRecord(pairs: readonly Pair[], depth: number): boolean {
  const roles = pairs.map(([key]) => roleOf(key).role)
  const isNamed = roles.includes('message') || roles.includes('event') || roles.includes('name')
  return (
    pairs.length > 1 &&
    /^[A-Za-z_@]/.test(pairs[0]?.[0] ?? '') &&
    (roles.includes('time') || (depth > 0 && isNamed))
  )
}

function templateLayout(pattern: RegExp): LineLayout {
  const named = new RegExp(`${pattern.source}|`).exec('')?.groups ?? {}
  const groups = Object.keys(named)
  const read: LineLayout['read'] = (text) => {
    const found = pattern.exec(text)
    return found && groups.map((name) => found.groups?.[name])
  }
  return { groups, read, isEnvelope: false, isLast: false, heads: [] }
}
