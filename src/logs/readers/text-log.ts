import type { LogClock } from './log-clock.ts'
import { datePattern, KNOWN_TIMES } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogFile, SKIPPED } from './log-sink.ts'

interface TextOptions {
  readonly layout: LineLayout
  readonly clock: LogClock
  /** Whether any line that the layout does not know goes on with the message before it. */
  readonly isOpen: boolean
}

/**
 * Messages that are lines of text, and what follows them: a stack trace belongs to the message before
 * it. An exception that the message or its stack trace names is an event of its own, once a message:
 * `threw java.io.IOException: No space left`. So one cause has one name, whoever tells of it.
 */
export async function readTextMessages(
  file: LogFile,
  { layout, clock, isOpen }: TextOptions,
): Promise<void> {
  const { sink } = file
  /** What further lines belong to. */
  let message: { readonly timeUs: number; readonly instance: string | undefined } | undefined
  let thrown: string[] = []
  /** Whether the message had not named it before. */
  const isNew = ({ className, message: name }: ThrownException, line: number) => {
    const key = `${className}: ${name}`
    if (message === undefined || thrown.includes(key)) return false
    thrown.push(key)
    sink.record({ line, ...message, name, isText: true, component: `threw ${className}` })
    return true
  }
  const begin = (parts: LineParts, line: number) => {
    const { time, name, isText, component, instance, value, numbers } = parts
    const timeUs = clock.text(time)
    message = { timeUs, instance }
    if (thrown.length > 0) thrown = []
    const number = value === undefined || value.trim() === '' ? undefined : Number(value)
    if (Number.isNaN(number)) {
      sink.skip(SKIPPED.noNumber, line, `${name} ${value}`)
      return
    }
    // Spreading the parts takes a tenth of all the time.
    sink.record({ line, timeUs, instance, name, isText, component, value: number, numbers })
    // A line without a time is one skipped line, whatever else it says.
    const mentioned = isText && !Number.isNaN(timeUs) ? lastMentioned(name) : undefined
    if (mentioned !== undefined) isNew(mentioned, line)
  }
  const goOn = (text: string, line: number) => {
    const found = thrownAtStart(text)
    if (message === undefined) sink.skip(SKIPPED.beforeFirst, line, text)
    else if (found === undefined || !isNew(found, line)) {
      const isFurther = isOpen || found !== undefined || /^\s/.test(text)
      sink.skip(isFurther ? SKIPPED.continuation : SKIPPED.notMatched, line, text)
    }
  }
  await readLines(file, (text, line) => {
    const parts = layout(text)
    if (parts !== undefined) begin(parts, line)
    else if (text.trim() !== '') goOn(text, line)
  })
}

const MAX_LINE_LENGTH = 1 << 24

/**
 * Splits UTF-8 text into lines that end in LF or CRLF, and counts them; blank ones are handed on too.
 *
 * @param onLine takes a line and its number, from 1
 */
export async function readLines(
  { chunks, sink }: LogFile,
  onLine: (text: string, line: number) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  let line = 1
  let isTooLong = false
  const take = (text: string) => {
    if (!isTooLong) onLine(text.endsWith('\r') ? text.slice(0, -1) : text, line)
    isTooLong = false
    line++
  }
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    let from = text.indexOf('\n') + 1
    if (from > 0) take(rest + text.slice(0, from - 1))
    for (let end = text.indexOf('\n', from); from > 0 && end >= 0; end = text.indexOf('\n', from)) {
      take(text.slice(from, end))
      from = end + 1
    }
    rest = from > 0 ? text.slice(from) : isTooLong ? '' : rest + text
    if (rest.length > MAX_LINE_LENGTH) {
      sink.skip(SKIPPED.tooLong, line, rest.slice(0, 200))
      rest = ''
      isTooLong = true
    }
  }
  rest += decoder.decode()
  if (rest !== '' || isTooLong) take(rest)
  sink.countLines(line - 1)
}

/** What the first line of a message says. */
interface LineParts {
  readonly time: string
  readonly name: string
  readonly isText: boolean
  readonly component: string
  readonly instance?: string | undefined
  readonly value?: string | undefined
  readonly numbers?: readonly (readonly [key: string, value: number])[]
}

/** How the lines of a file are made; `undefined` for a line on which no message begins. */
type LineLayout = (line: string) => LineParts | undefined

const LEVEL = 'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL'
const EPOCH = '\\d{9,19}(?:\\.\\d+)?(?=\\s)'
/** Seconds since the kernel started, as dmesg writes them: `[   12.345678]`. */
const UPTIME = '\\d{1,8}\\.\\d{6}(?=\\])'
/** A time must not end where a fraction or a zone goes on: neither may be lost. */
const TIME_ENDS = '(?!\\w|[.,]\\d|[+-]\\d\\d:?\\d\\d)'
const ACCESS = datePattern('dd/MMM/yyyy:HH:mm:ss Z').source
const OWN_GROUPS = new Set(['time', 'name', 'message', 'component', 'value', 'instance'])

/**
 * log4j's `%d %p [%t] %c: %m` and its usual relatives: thread before level (logback), a process id
 * (Spring Boot), no thread, ` - ` before the message. The component is the class without its package.
 */
export function log4jLayout({ dateFormat }: Pick<ReadSettings, 'dateFormat'>): LineLayout {
  const pattern = new RegExp(
    `^\\[?(${timeSource(dateFormat)})${TIME_ENDS}\\]?\\s+(?:\\d+\\s+)?(?:\\[[^\\]]*\\]\\s+)?\\[?(?:${LEVEL})\\]?\\s+` +
      '(?:\\d+\\s+---\\s+)?(?:\\[[^\\]]*\\]\\s+)*([\\w.$/@-]+)(?:\\s*:|\\s+-)(?:\\s(.*))?$',
  )
  return (line) => {
    const found = pattern.exec(line)
    if (found === null) return undefined
    const [, time = '', logger = '', name = ''] = found
    return { time, name, isText: true, component: classOf(logger) }
  }
}

/** A time, and behind it free text; of syslog, host and process id are left out. */
export function textLayout({ dateFormat }: Pick<ReadSettings, 'dateFormat'>): LineLayout {
  // The letter is the level in glog's lines, the number the priority in those of syslog.
  const leading = new RegExp(
    `^(?:<\\d+>(?:\\d )?|[IWEFD](?=\\d))?(?:\\[\\s*(?=${UPTIME})|[[(])?(${timeSource(dateFormat)}|${EPOCH}|${UPTIME})${TIME_ENDS}[\\])]?(?!\\w)[\\s,;:|-]*(.*)$`,
  )
  const syslog = /^\S+ ([\w./@-]+)(?:\[\d+\])?: (.*)$/
  const access = new RegExp(`^(\\S+ \\S+ \\S+) \\[(${ACCESS})\\] (.*)$`)
  return (line) => {
    const found = leading.exec(line)
    if (found !== null) {
      const [, time = '', rest = ''] = found
      const [, component = '', name = rest] = (/^[A-Z]/.test(time) && syslog.exec(rest)) || []
      return { time, name, isText: true, component }
    }
    const request = access.exec(line)
    if (request === null) return undefined
    const [, client, time = '', rest] = request
    return { time, name: `${client} ${rest}`, isText: true, component: '' }
  }
}

export function templateLayout({ template, instance }: ReadSettings): LineLayout {
  return (line) => {
    for (const pattern of template) {
      const groups = pattern.exec(line)?.groups
      if (groups === undefined) continue
      const { time = '', name, message = '', component = '', value } = groups
      return {
        ...{ time, component, value },
        name: name ?? message,
        isText: name === undefined,
        instance: instance === undefined ? undefined : groups[instance],
        numbers: numbersIn(groups, instance),
      }
    }
    return undefined
  }
}

function numbersIn(
  groups: Readonly<Record<string, string | undefined>>,
  instance: string | undefined,
): [string, number][] {
  return Object.entries(groups).flatMap(([key, text]): [string, number][] => {
    if (OWN_GROUPS.has(key) || key === instance || text === undefined || text.trim() === '') {
      return []
    }
    const value = Number(text)
    return Number.isFinite(value) ? [[key, value]] : []
  })
}

function timeSource(dateFormat: string): string {
  return dateFormat === 'auto' ? KNOWN_TIMES : `(?:${datePattern(dateFormat).source})`
}

/** `org.apache.hadoop.hdfs.DFSClient` is `DFSClient`; names that are not Java's stay whole. */
function classOf(logger: string): string {
  const last = logger.slice(logger.lastIndexOf('.') + 1)
  return /^[A-Z]/.test(last) ? last : logger
}

interface ThrownException {
  readonly className: string
  /** `''` if it has none. */
  readonly message: string
}

const KINDS = '(?:Exception|Error|Throwable|Failure|Fault)'
const QUALIFIED = new RegExp(
  `(?<![\\w.$])(?:[A-Za-z_$][\\w$]*\\.)+[A-Z][\\w$]*${KINDS}(?![\\w$.])`,
  'g',
)
const BEGINNING = new RegExp(
  `^\\s*(?:(?:Caused by|Suppressed|Wrapped by): |Exception in thread "[^"]*" )?((?:[A-Za-z_$][\\w$]*\\.)*[A-Z][\\w$]*${KINDS})(?:: (.*)|:?\\s*$)`,
)
const MENTION = /Exception|Error|Throwable|Failure|Fault/

/** The exception that a further line of a message begins with, as the first line of a stack trace. */
function thrownAtStart(line: string): ThrownException | undefined {
  const found = BEGINNING.exec(line)
  if (found === null) return undefined
  const [, className = '', message = ''] = found
  return lastMentioned(message) ?? { className, message: messageOf(message) }
}

/**
 * The exception that a message names; of several, as in
 * `FSError: java.io.IOException: No space left`, the last, which caused the others.
 */
function lastMentioned(text: string): ThrownException | undefined {
  if (!MENTION.test(text)) return undefined
  let last: RegExpExecArray | undefined
  for (const found of text.matchAll(QUALIFIED)) last = found
  if (last === undefined) return undefined
  const rest = text.slice(last.index + last[0].length)
  return { className: last[0], message: rest.startsWith(':') ? messageOf(rest.slice(1)) : '' }
}

/** Behind a semicolon comes advice, such as where to read more; a bracket may have opened before. */
function messageOf(text: string): string {
  const end = text.search(/;(?:\s|$)/)
  const message = (end < 0 ? text : text.slice(0, end)).trim()
  return /[[(]/.test(message) ? message : message.replace(/[\])]+$/, '')
}
