import { getOrInsert } from '../../core/entries.ts'
import { roleOf } from './field-roles.ts'
import { LineBytes } from './line-bytes.ts'
import {
  type LineLayout,
  lineLayouts,
  pairIn,
  readHead,
  readRest,
  type TimeFinder,
  timeFinder,
} from './line-layouts.ts'
import {
  type Found,
  type LinePlan,
  type LinePlans,
  outputsOf,
  plansFor,
  recordOf,
  valueIn,
} from './line-plans.ts'
import type { LogClock } from './log-clock.ts'
import { LogDraft, type LogRecord } from './log-draft.ts'
import type { LogFormat, ReadSettings } from './log-read-options.ts'
import { type LogSink, SKIPPED, type Taker } from './log-sink.ts'
import { logfmtPairs, type Pair, parsedObject, trailingPairs } from './logfmt.ts'
import { mayBeThrown, StackFollower, type Thrown, thrownIn } from './thrown.ts'

const RECORDS: ReadonlySet<LogFormat> = new Set(['jsonl', 'logfmt'])
export const BEGINS_WITH_PAIR = /^[A-Za-z_@][\w.@/-]*=/
/** Matches lines that may be a line within a record, unlike a message in words. */
const MAY_BE_LINE = /^\s*[{<[]|\d:\d\d|\d{9}|=|^[A-Za-z]{4,8}[:[]|^[A-Z]+ \//
/** Length at which Docker cuts lines, leaving their end open. */
const DOCKER_CUT = 16_384
const TELLS_TIME = new Set(['time', 'head', 'uptime_ms'])
const MAX_DEPTH = 5
/** Colors and other controls of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const CONTROLS = /\u001b\[[0-9;?]*[A-Za-z]/g

export interface LineOptions {
  readonly sink: LogSink
  readonly settings: ReadSettings
  readonly clock: LogClock
  readonly format: LogFormat
}

interface Place {
  readonly line: number
  readonly text: () => string
}

class Stream {
  readonly stack = new StackFollower()
  partial = ''
  head = ''
  message: LogRecord | undefined
  plan: LinePlan | undefined
  readonly line = new LineBytes()
  timeUs = Number.NaN

  settle(): this {
    if (this.plan !== undefined) {
      this.message = recordOf(this.plan, this.line, { timeUs: this.timeUs, value: undefined })
      this.stack.begin(this.message.isText ? this.message.name : '')
      this.plan = undefined
    }
    return this
  }
}

/**
 * Reads lines of logs: unwraps what carries them, layer by layer; what all layers say is one message. A line that begins
 * no message belongs to the previous one of its stream. A thrown exception is an event of its own, `threw IOException: No
 * space left`, once a message, whoever reports it.
 */
export class LineReader {
  readonly #options: LineOptions
  readonly #streams = new Map<string, Stream>()
  #draft: LogDraft
  readonly #layouts: readonly LineLayout[]
  readonly #longLayouts: readonly LineLayout[]
  #usual: readonly LineLayout[] = []
  readonly #plans: LinePlans
  readonly #takers: Taker[] = []
  #found: Found = 'none'
  readonly #endOfTime: TimeFinder
  #columns: readonly string[] = []
  #lastUs = Number.NaN
  #messages = 0
  #unread = 0
  #doubtful = { line: 0, text: '', count: 0 }

  constructor(options: LineOptions) {
    const { dateFormat } = options.settings
    this.#options = options
    this.#draft = new LogDraft(options.settings)
    this.#plans = plansFor(options.settings)(options.format)
    this.#layouts = lineLayouts(dateFormat)
    this.#endOfTime = timeFinder(dateFormat)
    this.#longLayouts = this.#layouts.filter(({ heads }) => heads.length > 0)
  }

  bytes(line: LineBytes): boolean {
    this.#found = this.#plans.find(line)
    return typeof this.#found === 'object' && this.#replay(this.#found, line)
  }

  endBytes(): void {
    for (const stream of this.#streams.values()) stream.settle()
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
    this.#plans.learn(raw, (other) => {
      const isMessage = this.#message(withoutControls(other))
      const stream = this.#stream()
      stream.head = ''
      stream.partial = ''
      return isMessage && isPlain(this.#draft)
        ? outputsOf(this.#draft, this.#draft.record(0, 0))
        : undefined
    })
  }

  object(object: object, place: Place): void {
    this.#draft = new LogDraft(this.#options.settings)
    this.#finish(this.#object(object, 0), place)
  }

  /** Ends after the last line. If most lines begin no message, they do not belong to messages either. */
  end(): void {
    const { line, text, count } = this.#doubtful
    const reason = this.#unread > this.#messages ? SKIPPED.unread : SKIPPED.continuation
    if (count > 0) this.#options.sink.skip(reason, line, text, count)
  }

  #finish(isMessage: boolean, place: Place): void {
    const { sink } = this.#options
    const reason = isMessage ? this.#take(place) : this.#goOn(place)
    if (reason !== undefined) sink.skip(reason, place.line, place.text())
  }

  /** Takes a line of a plan; whether its time and its value could be read. */
  #replay(plan: LinePlan, line: LineBytes): boolean {
    const { sink } = this.#options
    const stream = this.#streamOf(plan.stream)
    if (stream.head !== '' || stream.partial !== '' || stream.stack.open !== undefined) return false
    const timeUs = sink.isTimeless === true ? 0 : this.#timeIn(line, plan)
    const value = plan.record.value === undefined ? undefined : Number(valueIn(line, plan.value))
    if (Number.isNaN(timeUs) || Number.isNaN(value)) return false
    this.#lastUs = timeUs
    this.#messages++
    stream.plan = plan
    stream.line.set(line.bytes, line.start, line.end)
    stream.timeUs = timeUs
    if (sink.taker === undefined) sink.record(recordOf(plan, line, { timeUs, value }))
    else {
      this.#takers[plan.id] ??= sink.taker(plan)
      this.#takers[plan.id]?.(line, timeUs, value)
    }
    return true
  }

  #timeIn(line: LineBytes, { time }: LinePlan): number {
    const { at, text } = time
    if (at === undefined || typeof text !== 'string') return this.#usOf(valueIn(line, time))
    return this.#options.clock.onLine(line, at[0], at[1])
  }

  #usOf(time: unknown): number {
    const { clock } = this.#options
    return typeof time === 'number' ? clock.number(time) : clock.text(String(time))
  }

  /** Takes the message of the draft, or returns why it is none. If `isTimeless`, it has the time of the one before it. */
  #take({ line }: Place): string | undefined {
    const draft = this.#draft
    if (draft.isPartial) return SKIPPED.continuation
    const { time, outerTime, isTimeless, name } = draft
    if (time !== undefined) {
      const timeUs = this.#usOf(time)
      this.#lastUs =
        Number.isNaN(timeUs) && outerTime !== undefined ? this.#usOf(outerTime) : timeUs
    }
    const record = draft.record(line, this.#lastUs)
    if (name === undefined) return SKIPPED.noName
    if (time === undefined && !isTimeless) return SKIPPED.noTime
    if (Number.isNaN(record.value)) return SKIPPED.noNumber
    const stream = this.#stream()
    stream.message = record
    stream.plan = undefined
    this.#messages++
    this.#options.sink.record(record)
    // A line without a time is one skipped line, whatever else it says.
    if (Number.isNaN(record.timeUs)) return undefined
    this.#threw(stream, line, stream.stack.begin(draft.isText ? record.name : ''))
    this.#thrown(stream, line)
    return undefined
  }

  #thrown(stream: Stream, line: number): void {
    const { said, thrown, thrownType, thrownMessage = '', isText, name = '' } = this.#draft
    const { stack } = stream
    const more = isText ? name.split('\n').slice(1).join('\n') : ''
    for (const text of [said, thrown, more]) {
      const lines = text ? text.trimEnd().split('\n') : []
      for (const one of lines) this.#threw(stream, line, stack.follow(one).thrown)
    }
    stack.open = undefined
    if (thrownType !== undefined && !stack.knows(thrownType)) {
      const [message = ''] = thrownMessage.split('\n', 1)
      this.#threw(stream, line, stack.add({ className: thrownType, message }))
    }
    if (thrown === undefined || stack.knows()) return
    this.#threw(stream, line, stack.add(thrownIn(thrown.split('\n', 1)[0] ?? '')))
  }

  #threw({ message }: Stream, line: number, thrown: readonly Thrown[] = []): void {
    if (message === undefined) return
    for (const { className, message: name } of thrown) {
      this.#options.sink.record({
        ...message,
        line,
        name,
        component: `threw ${className}`,
        isText: true,
        value: undefined,
        level: 'error',
        fields: [['level', 'error']],
        of: message.fields,
      })
    }
  }

  /** Takes a line that begins no message; returns why it gives none, once that is known. */
  #goOn({ line, text }: Place): string | undefined {
    const { format } = this.#options
    const { stream: own, inner = { stream: own, text: text() } } = this.#draft
    const stream = this.#streamOf(inner.stream).settle()
    const isRecords = RECORDS.has(format)
    if (stream.message === undefined) {
      this.#unread++
      return isRecords ? SKIPPED.broken : SKIPPED.beforeFirst
    }
    const { isStack, thrown = [] } = stream.stack.follow(inner.text)
    this.#threw(stream, line, thrown)
    if (thrown.length > 0) return undefined
    if (isStack || (/^\s/.test(inner.text) && format !== 'jsonl')) return SKIPPED.continuation
    if (isRecords) return SKIPPED.broken
    this.#unread++
    if (this.#doubtful.count === 0) this.#doubtful = { line, text: text(), count: 0 }
    this.#doubtful.count++
    return undefined
  }

  #message(text: string): boolean {
    const { settings } = this.#options
    const draft = new LogDraft(settings)
    this.#draft = draft
    const isMessage = this.#read(text, 0)
    // The key of instances may stand anywhere in a text: `handled req=77 in 3 ms`.
    const { isText, name = '', fields, instance } = this.#draft
    for (const key of isMessage && isText ? settings.asked : []) {
      const isInstance = key === settings.instance
      const isKnown = isInstance ? instance !== undefined : fields.some(([own]) => own === key)
      const value = isKnown ? undefined : pairIn(name, key)
      if (value === undefined) continue
      if (isInstance) this.#draft.instance = value
      else fields.push([key, value])
    }
    return isMessage
  }

  /** Reads a line, and the lines in it, into the draft; whether it begins a message. */
  #read(text: string, depth: number): boolean {
    const { format } = this.#options
    if (depth === MAX_DEPTH) return false
    this.#draft.isTimeless = false
    if (text.startsWith('{')) {
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
    const pairs = format === 'logfmt' || BEGINS_WITH_PAIR.test(text) ? logfmtPairs(text) : undefined
    if (pairs !== undefined && BEGINS_WITH_PAIR.test(text) && isRecord(pairs, depth)) {
      return this.#object(Object.fromEntries(pairs), depth)
    }
    if (this.#several(text) || this.#layout(text, depth)) return true
    return (
      format === 'logfmt' && pairs !== undefined && this.#object(Object.fromEntries(pairs), depth)
    )
  }

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

  #row(text: string): boolean {
    const values = text.split(/[ \t]+/)
    if (values.length !== this.#columns.length) return false
    const { date, ...row } = Object.fromEntries(this.#columns.map((name, i) => [name, values[i]]))
    const time = date === undefined || row['time'] === undefined ? date : `${date} ${row['time']}`
    return this.#object(time === undefined ? row : { ...row, time }, 0)
  }

  #object(object: object, depth: number): boolean {
    this.#draft.object(object)
    const line = this.#draft.endLayer()
    return line === undefined || this.#within(line, depth)
  }

  /** Reads the line that a record or the envelope of a layout carries; false if it continues an earlier message. */
  #within(line: string, depth: number, envelope?: LineLayout): boolean {
    const draft = this.#draft
    const stream = this.#stream()
    const isCarried = envelope !== undefined || draft.isCarried
    const text = withoutControls(line)
    const isCut = envelope === undefined && isCarried && text.length >= DOCKER_CUT
    // A line that ends like an object is whole.
    if (isCut && !/[\n}]$/.test(text)) draft.isPartial = true
    if (draft.isPartial) {
      stream.partial += text
      return true
    }
    const whole = isCarried ? stream.partial + text : text
    if (isCarried) stream.partial = ''
    if (envelope === undefined) draft.name = whole
    const end = whole.trimEnd().indexOf('\n')
    const first = end < 0 ? whole.trimEnd() : whole.slice(0, end)
    const mayBeLine = envelope !== undefined || stream.head !== '' || MAY_BE_LINE.test(first)
    if (mayBeLine && this.#read(first, depth + 1)) {
      if (end >= 0) draft.name += whole.slice(end)
      return true
    }
    const { message, stack } = stream.settle()
    const mayContinue = message !== undefined && end < 0 && envelope?.isLast !== true
    const isFurther = mayContinue && stack.continues(first, isCarried)
    if (!isFurther && envelope === undefined) return true
    if (!isFurther && draft.time !== undefined) {
      draft.name = whole
      draft.isText = true
      return true
    }
    const inner = draft.inner ?? { text: first, stream: draft.stream }
    if (envelope !== undefined && depth === 0) this.#draft = new LogDraft(this.#options.settings)
    this.#draft.inner = inner
    return false
  }

  /** Reads a line by the first layout it has, of those that lines had before if it has one of them. */
  #layout(text: string, depth: number): boolean {
    if (/^[ \t]/.test(text)) return false
    if (this.#usual.some((layout) => this.#match(layout, text, depth))) return true
    const found = this.#layouts.find(
      (layout) => !this.#usual.includes(layout) && this.#match(layout, text, depth),
    )
    if (found !== undefined && !found.isLast) {
      this.#usual = this.#layouts.filter((one) => one === found || this.#usual.includes(one))
    }
    return found !== undefined
  }

  #match(layout: LineLayout, text: string, depth: number): boolean {
    const { read, groups, isEnvelope, heads } = layout
    const found = heads.length > 0 ? null : read(text)
    if (found === null) return false
    const draft = this.#draft
    const line = this.#groups(groups, found)
    const message = draft.endLayer()
    if (isEnvelope) return this.#within(line, depth, layout)
    draft.isTimeless = !groups.some((name) => TELLS_TIME.has(name))
    if (draft.name === undefined) {
      draft.name = ''
      draft.isText = true
    }
    if (message?.startsWith('{')) this.#within(message, depth)
    return true
  }

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
      else if (name === 'head') {
        draft.pairs(readHead(value, this.#endOfTime, value.length)?.said ?? [])
      } else if (name === 'rest') {
        const { said, isWhole } = readRest(value)
        draft.pairs(said)
        draft.isHalf ||= !isWhole
      } else draft.field(name, value)
    }
    return line
  }

  #withoutTail(text: string): string {
    const brace = text.endsWith('}') ? text.search(/ *\t?\{"/) : -1
    const object = brace > 0 ? parsedObject(text.slice(brace).trim()) : undefined
    if (object !== undefined) {
      this.#draft.object(object)
      return text.slice(0, brace)
    }
    const { message, pairs } = trailingPairs(text)
    this.#draft.pairs(pairs)
    return message
  }

  #stream(): Stream {
    return this.#streamOf(this.#draft.stream)
  }

  #streamOf(name: string): Stream {
    return getOrInsert(this.#streams, name, () => new Stream())
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
