/** What a part of a line says: what it is called, and its value. */
export type Saying = readonly [name: string, value: string]

/** Where a time ends that begins at a place of a line, or −1. */
export type TimeFinder = (text: string, at: number) => number

const PAIR_KEY = '[A-Za-z_][\\w.@/-]*'
/** A value; of a list, as nginx writes it for a request that was tried again, all of it. */
const VALUE =
  '"(?:[^"\\\\]|\\\\.)*"|[^\\s",;\\])}]*(?:(?:, ?| : )[^\\s=",;\\])}]+(?=[\\s,;\\])}-]|$))*'
/** As `took=5` or, in Elasticsearch's slow logs, `took[5], id[]`. */
const PAIR = new RegExp(`(${PAIR_KEY})(?:=(${VALUE})|\\[(.*?)\\](?=,(?:\\s|$)|$))`, 'y')

/** The pair at a place of a line, and where it ends. */
function pairAt(text: string, at: number): { readonly said: Saying; readonly end: number } | null {
  PAIR.lastIndex = at
  const [whole, key = '', plain, boxed = ''] = PAIR.exec(text) ?? []
  const value = plain ?? boxed
  return whole === undefined
    ? null
    : { said: [key, value.replace(/^"(.*)"$/s, '$1')], end: at + whole.length }
}

/** The value of a key that a text has: `req=77`, `req: 77` or `"req":"77"`. */
export function pairIn(text: string, key: string): string | undefined {
  const at = text.indexOf(key)
  if (at < 0 || (at > 0 && /[\w.]/.test(text[at - 1] as string))) return undefined
  const sign = /^"?(?:=|: ?)/.exec(text.slice(at + key.length))?.[0]
  if (sign === undefined) return undefined
  const value = /^"((?:[^"\\]|\\.)*)"|^[^\s",;\])}]+/.exec(
    text.slice(at + key.length + sign.length),
  )
  return value?.[1] ?? value?.[0]
}

const TOKEN = /"((?:[^"\\]|\\.)*)"|\[([^\]]*)\]|[^\s"[\]]+/y
/** A word that may be one of few: what has other signs in it is in a form that is not known. */
const PLAIN = /^[\w.:@/%+-]*$/

/**
 * Reads what stands behind the parts of a line that are known: pairs by their keys, all else by its place, as
 * `rest 1`. Of what is none of these, nothing is known: `isWhole` is false.
 */
export function readRest(text: string): { readonly said: readonly Saying[]; isWhole: boolean } {
  const said: Saying[] = []
  let isWhole = true
  let place = 0
  for (let at = 0; at < text.length; ) {
    if (/[\s,;]/.test(text[at] as string)) {
      at++
      continue
    }
    const pair = pairAt(text, at)
    TOKEN.lastIndex = at
    const token = pair === null ? TOKEN.exec(text) : null
    at = pair?.end ?? (token === null ? at + 1 : TOKEN.lastIndex)
    if (pair !== null) said.push(pair.said)
    else {
      place++
      const [whole = '', quoted, boxed] = token ?? []
      if (quoted === undefined && !PLAIN.test(boxed ?? whole)) isWhole = false
      else said.push([`rest ${place}`, quoted ?? boxed ?? whole])
    }
  }
  return { said, isWhole }
}

const LEVEL_WORDS =
  'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|FINE|FINER|FINEST|CONFIG|VERBOSE|PANIC|ALERT|EMERG'
const LEVEL = new RegExp(`(?:${LEVEL_WORDS})(?![\\w.=/@])`, 'y')
const BOX = /\[([^\]]*)\]|\(([^)]*)\)|\{([^}]*)\}|<([^>]*)>/y
const WORD = /[^\s|[\]{}<>="]+/y
const SEPARATORS = /(?:[\s|:,;>-]|<(?=\s))*/y
/** As Java and its relatives name classes, and what calls: `a.b.App`, `App.java:12`, `App:12`. */
const QUALIFIED = /^[A-Za-z_$][\w$]*(?:[.:]{1,2}[\w$*]+)+$|^[A-Z][\w$]*$/
const CALL = /^([\w$.]+)\.[\w$<>]+\([\w$]+\.\w+:\d+\)$/
const CALLER = /^(?:.*\.\w+|[A-Z][\w$]*):\d+$/
const NAME = /^[\w$-]+$/
/** Numbers and hexadecimal ids name processes and sessions. */
const IS_ID = /^[\da-f.:/-]*\d[\da-f.:/-]*$/i
/** Words before a level that are in no box: where it was written. More are a text. */
const MAX_WORDS = 3

/**
 * Reads what stands before a message, in whatever order: its time and level, pairs, and in boxes or apart the
 * thread, process, class and place that wrote it, as patterns of logback and PostgreSQL's `log_line_prefix` lay
 * them out. `null` where there is no time and, but before `end`, no level.
 */
export function readHead(text: string, endOfTime: TimeFinder, end?: number) {
  const said: Saying[] = []
  let [at, words, boxes] = [0, 0, 0]
  let [hasTime, hasLevel, hasLogger] = [false, false, false]
  const stop = end ?? text.length
  const take = (content: string): boolean => {
    const pair = pairAt(content, 0)
    LEVEL.lastIndex = 0
    if (!hasTime && content !== '' && endOfTime(content, 0) === content.length) {
      hasTime = true
      said.push(['time', content])
    } else if (!hasLevel && LEVEL.test(content) && LEVEL.lastIndex === content.length) {
      hasLevel = true
      said.push(['level', content])
    } else if (pair !== null) said.push(...readRest(content).said)
    else if (CALLER.test(content)) said.push(['caller', content])
    else if (/^[\w.-]+\(\d+\)$/.test(content)) said.push(['client', content])
    else if (/^[\w.-]+@[\w.-]+$/.test(content)) {
      const [user = '', database = ''] = content.split('@')
      said.push(['user', user], ['database', database])
    } else if (IS_ID.test(content) || content === '') said.push(['pid', content])
    else if (!hasLogger && content.includes('.') && QUALIFIED.test(content)) {
      hasLogger = true
      said.push(['logger', content])
    } else return false
    return true
  }
  while (at < stop) {
    SEPARATORS.lastIndex = at
    SEPARATORS.test(text)
    const start = SEPARATORS.lastIndex
    if (start >= stop) break
    const timeEnd = hasTime ? -1 : endOfTime(text, start)
    const pair = pairAt(text, start)
    BOX.lastIndex = start
    const box = BOX.exec(text)
    WORD.lastIndex = start
    const word = wordIn(WORD.exec(text)?.[0] ?? '')
    if (timeEnd > 0) {
      hasTime = true
      said.push(['time', text.slice(start, timeEnd)])
      at = timeEnd
    } else if (pair !== null && (!hasLevel || text[start - 1] === '-')) {
      said.push(pair.said)
      at = pair.end
    } else if (box !== null) {
      const content = box[1] ?? box[2] ?? box[3] ?? box[4] ?? ''
      const isClass = !hasLogger && content.includes('.') && QUALIFIED.test(content)
      const isOwn = isClass || pairAt(content, 0) !== null || (boxes === 0 && NAME.test(content))
      if (hasLevel && !isOwn) break
      if (!take(content)) {
        said.push(['thread', content])
        boxes++
      }
      at = BOX.lastIndex
    } else if (word === '') break
    else if (hasLevel) {
      // Behind the level a class and what calls there still belong to the head, and not to the message.
      const logger = CALL.exec(word)?.[1]
      const isCell = NAME.test(word) && /^\s*\|/.test(text.slice(start + word.length))
      if (isCell) said.push(['thread', word])
      else if (hasLogger || (logger === undefined && !isNamed(text, start, word))) break
      else if (logger !== undefined) said.push(['logger', logger])
      else if (!take(word)) said.push(['logger', word])
      hasLogger ||= !isCell
      at = start + word.length
    } else {
      if (!take(word)) said.push([`head ${++words}`, word])
      if (words > MAX_WORDS) return null
      at = start + word.length
    }
  }
  if (!hasTime || (end === undefined && !hasLevel)) return null
  return { said, end: messageStart(text, at) }
}

/** A word without the signs at its end; of several that colons divide, the first. */
function wordIn(text: string): string {
  const word = text.replace(/[:,;-]+$/, '')
  const isWhole = [CALL, CALLER, QUALIFIED, IS_ID].some((form) => form.test(word))
  return isWhole ? word : (word.split(':', 1)[0] ?? '')
}

/** Whether a word behind the level is a class: it is qualified, and a sign stands between it and the message. */
function isNamed(text: string, start: number, word: string): boolean {
  const behind = text.slice(start + word.length)
  return (
    (QUALIFIED.test(word) || CALLER.test(word)) && (word.includes('.') || /^\s*[|:-]/.test(behind))
  )
}

function messageStart(text: string, at: number): number {
  return at + (/^[\s|:>-]*/.exec(text.slice(at))?.[0].length ?? 0)
}
