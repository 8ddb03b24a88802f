// Runs once a byte of files of gigabytes: the loops index with `!`.
import { memoized, remembered } from '../../core/remembered.ts'
import { maskedSpans } from './drain/log-templates.ts'
import type { LineBytes, Span } from './line-bytes.ts'
import type { LogDraft, LogRecord } from './log-draft.ts'
import type { ReadSettings } from './log-read-options.ts'

export interface Said {
  readonly text: string | number | boolean
  readonly at: Span | undefined
}

export type LinePlan = NonNullable<ReturnType<typeof planOf>>

/** Reads a line; `undefined` if it begins no message, or one that no plan can tell. */
type Reader = (text: string) => ReturnType<typeof outputsOf> | undefined

const MAX_FORMS = 1 << 16
/** Fewest lines for a plan, which costs as much as reading that many lines by themselves, or more. */
const MIN_LINES = 4
const MAX_VARIANTS = 4
const MAX_RUNS = 200
const MAX_LENGTH = 4_000
const MIN_HEX = 8
/** Shifts of characters that show which part of the content they belong to. */
const SHIFTS = [1, 5] as const
/** Placeholders for the part that a run belongs to: none and it may change, or none and it must stay as it is. */
const FREE = -1
const NOTHING = -2
const IS_DIGIT = 1
/** Kinds of characters: digits, a to f, other letters; 0 for all else. */
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const text = String.fromCharCode(code)
  return /\d/.test(text) ? IS_DIGIT : /[a-f]/i.test(text) ? 2 : /[a-z]/i.test(text) ? 4 : 0
})
const HEX = 3
const DIGIT = 48
const FOLD = Uint8Array.from({ length: 256 }, (_, code) =>
  KINDS[code] === IS_DIGIT ? DIGIT : code,
)

export type Found = LinePlan | 'none' | 'learn'

interface Form {
  readonly check: number
  lines: number
  readonly plans: LinePlan[]
}

/**
 * Reads the content of lines by earlier lines of the same form. Two lines are of one form if they are the same but for
 * their digits, and but for hexadecimal ids. Which of these a time, a text or a field is made of is found by trying:
 * each is changed in turn, and the line read again. What changes anything else must be the same in each line that the
 * plan is used for.
 *
 * Source: none; lines of a log have few forms (69 in 514,163 lines of a file written by log4j).
 */
export class LinePlans {
  readonly #forms = new Map<number, Form>()
  #plans = 0
  #key = 0
  #check = 0
  #bits = 0
  /** Places of the ids of the line that was searched last: from, to, from, to … */
  #ids: number[] = []

  find(line: LineBytes): Found {
    if (line.length > MAX_LENGTH) return 'none'
    // Most lines have their ids where the line before had its own.
    let form = this.#formOf(line)
    if (form === undefined) {
      this.#findIds(line)
      form = this.#formOf(line)
    }
    if (!line.isAscii) return 'none'
    if (form === undefined) {
      if (this.#forms.size === MAX_FORMS) this.#forms.clear()
      this.#forms.set(this.#key, { check: this.#check, lines: 1, plans: [] })
      return 'none'
    }
    const { plans } = form
    const { bytes, start } = line
    for (let i = 0; i < plans.length; i++) {
      const { at, codes } = plans[i]!.literals
      let same = 0
      while (same < at.length && bytes[start + at[same]!] === codes[same]) same++
      if (same === at.length) return hasOddNumber(line, plans[i]!) ? 'none' : plans[i]!
    }
    return plans.length === MAX_VARIANTS || ++form.lines < MIN_LINES ? 'none' : 'learn'
  }

  learn(text: string, read: Reader): void {
    const form = this.#forms.get(this.#key) as Form
    const plan = planOf(text, read, this.#plans++)
    if (plan === undefined) form.lines = Number.NEGATIVE_INFINITY
    else form.plans.push(plan)
  }

  #formOf(line: LineBytes): Form | undefined {
    const { bytes, start, end } = line
    const ids = this.#ids
    this.#key = end - start
    this.#check = 0
    this.#bits = 0
    let folded = start
    for (let i = 0; i < ids.length; i += 2) {
      const first = start + ids[i]!
      const last = start + ids[i + 1]!
      if (last > end || !isId(line, first, last)) continue
      this.#fold(line, folded, first)
      const id = (last - first) * 8 + KINDS[bytes[first]!]!
      this.#key = Math.imul(this.#key ^ id, 0x9e3779b1)
      this.#check = (Math.imul(this.#check, 37) + id) | 0
      folded = last
    }
    this.#fold(line, folded, end)
    line.isAscii = (this.#bits & 0x80808080) === 0
    const form = this.#forms.get(this.#key)
    return form?.check === this.#check ? form : undefined
  }

  #findIds(line: LineBytes): void {
    const { bytes, start, end } = line
    this.#ids.length = 0
    let after = start
    // An id covers at least one of the bytes at this distance.
    for (let at = start + MIN_HEX - 1; at < end; at += MIN_HEX) {
      if ((KINDS[bytes[at]!]! & HEX) === 0) continue
      let first = at
      while (first > after && KINDS[bytes[first - 1]!]! & HEX) first--
      let last = at
      while (last < end && KINDS[bytes[last]!]! & HEX) last++
      at = last - 1
      if (!isId(line, first, last)) continue
      this.#ids.push(first - start, last - start)
      after = last
    }
  }

  /** Takes part of a line into its numbers, eight bytes at a time; the last eight may overlap those before. */
  #fold({ bytes, view }: LineBytes, start: number, end: number): void {
    let one = this.#key
    let other = this.#check
    let bits = this.#bits
    const last = end - 8
    for (let next = start; next < end && last >= start; next += 8) {
      const at = next < last ? next : last
      const left = view.getInt32(at)
      const right = view.getInt32(at + 4)
      bits |= left | right
      one = Math.imul(one ^ withoutDigits(left), 0x9e3779b1)
      other = Math.imul(other ^ withoutDigits(right), 0x85ebca6b)
      one ^= other >>> 15
      other = (other + (one >>> 13)) | 0
    }
    for (let at = start; at < end && last < start; at++) {
      const code = bytes[at]!
      bits |= code
      one = (Math.imul(one, 31) + FOLD[code]!) | 0
      other = (Math.imul(other, 37) + FOLD[code]!) | 0
    }
    this.#key = one
    this.#check = other
    this.#bits = bits
  }
}

function planOf(text: string, read: Reader, id: number) {
  const runs = Array.from(text.matchAll(FOLDED), ({ 0: found, index }): Span => {
    return [index, index + found.length]
  })
  const base = runs.length < MAX_RUNS ? read(text) : undefined
  if (base === undefined) return undefined
  const { record, stream, values, structure } = base
  const runsOf: Span[][] = values.map(() => [])
  const literals: number[] = []
  for (const run of runs) {
    const partAfter = (by: number) => {
      const changed = read(perturbed(text, run, by))
      if (changed?.structure !== structure) return NOTHING
      const differing = [...values.keys()].filter((i) => changed.values[i] !== values[i])
      return differing.length < 2 ? (differing[0] ?? FREE) : NOTHING
    }
    // Digits may stand for how a number is written, as in `0x1f` and `::1`.
    const isNotation = text[run[1]] === 'x' || text.slice(run[0] - 2, run[0]) === '::'
    const part = isNotation ? NOTHING : partAfter(SHIFTS[0])
    if (part !== NOTHING && partAfter(SHIFTS[1]) === part) runsOf[part]?.push(run)
    else for (let at = run[0]; at < run[1]; at++) literals.push(at)
  }
  const said = values.map((value, i) => saidIn(text, value, runsOf[i] as Span[]))
  if (said.some((one) => one === undefined)) return undefined
  const [time, name, instance, value, ...fields] = said as [Said, Said, Said, Said, ...Said[]]
  const free = record.isText ? maskedSpans(record.name) : []
  const [start] = name.at ?? [0]
  for (const [from, to] of record.isText ? (runsOf[1] as Span[]) : []) {
    for (let at = from; at < to; at++) {
      const isFree = free.some((span) => at >= start + span[0] && at < start + span[1])
      if (!isFree) literals.push(at)
    }
  }
  return {
    id,
    record,
    stream,
    time,
    name,
    instance,
    value,
    fields,
    /** Places where masks match in a text: their content may vary. */
    free,
    /** Places where numbers of JSON with several digits begin: a leading 0 is not allowed. */
    numbers: runs.flatMap(([from, to]) =>
      to - from > 1 && /": ?-?$/.test(text.slice(0, from)) && text[from] !== '0' ? [from] : [],
    ),
    /** Characters that must be as they were in the line that the plan was made of. */
    literals: {
      at: Int32Array.from(literals),
      codes: Int32Array.from(literals, (at) => text.charCodeAt(at)),
    },
  }
}

function withoutDigits(four: number): number {
  // The high bit of each byte that is a digit: at least `0`, and below what follows `9`.
  const digits = (four + 0x50505050) & ~(four + 0x46464646) & 0x80808080
  return four & ~((digits >>> 3) - (digits >>> 7))
}

/** Whether bytes of a line are an id: letters up to f and digits, that are a word by themselves. */
function isId({ bytes, start, end }: LineBytes, first: number, last: number): boolean {
  if (last - first < MIN_HEX) return false
  let kinds = 0
  for (let at = first; at < last; at++) {
    const kind = KINDS[bytes[at]!]!
    if ((kind & HEX) === 0) return false
    kinds |= kind
  }
  return (
    kinds === HEX &&
    (first === start || KINDS[bytes[first - 1]!] === 0) &&
    (last === end || KINDS[bytes[last]!] === 0)
  )
}

/** Ids, as `isId` finds them in bytes, or other digits. */
const FOLDED = /(?<![0-9a-z])(?=[0-9a-f]*[a-f])(?=[a-f]*\d)[0-9a-f]{8,}(?![0-9a-z])|\d+/gi

function hasOddNumber({ bytes, start }: LineBytes, { numbers }: LinePlan): boolean {
  for (let i = 0; i < numbers.length; i++) if (bytes[start + numbers[i]!] === DIGIT) return true
  return false
}

export const plansFor = remembered((_: ReadSettings) => memoized((_: string) => new LinePlans()))

function perturbed(text: string, [start, end]: Span, by: number): string {
  const changed = text.slice(start, end).replace(/[0-9a-f]/gi, (char) => {
    const kind = char <= '9' ? '0123456789' : char <= 'F' ? 'ABCDEF' : 'abcdef'
    const other = kind[(kind.indexOf(char) + by) % kind.length] as string
    // A number must not begin with 0.
    return other === '0' ? '3' : other
  })
  return text.slice(0, start) + changed + text.slice(end)
}

/** Returns the content of a message, each part by itself, and the rest, which must not change. */
export function outputsOf({ time, value, stream }: LogDraft, record: LogRecord) {
  const { name, instance, fields = [], isText, level, component, origin } = record
  const said = [time, name, instance ?? '', value ?? '', ...fields.map(([, one]) => one)]
  const kinds = [instance, ...said].map((one) => typeof one)
  return {
    record,
    stream,
    /** Time, name, instance, value, and those of the fields. */
    values: said as Said['text'][],
    structure: `${isText} ${level} ${component} ${origin} ${kinds} ${fields.map(([key]) => key)}`,
  }
}

export function recordOf(
  { record, name, instance, fields }: LinePlan,
  line: LineBytes,
  { timeUs, value }: Pick<LogRecord, 'timeUs' | 'value'>,
): LogRecord {
  return {
    ...record,
    line: line.lineNumber,
    timeUs,
    instance: record.instance && String(valueIn(line, instance)),
    name: String(valueIn(line, name)),
    value,
    fields: record.fields.map(([key], i) => [key, valueIn(line, fields[i] as Said)]),
  }
}

export function valueIn(line: LineBytes, { at, text }: Said): Said['text'] {
  if (at === undefined) return text
  return typeof text === 'number' ? line.number(at[0], at[1]) : line.text(at[0], at[1])
}

/** Returns the place of a value that some runs are parts of; `undefined` if it does not occur literally. */
function saidIn(text: string, value: Said['text'], runs: readonly Span[]): Said | undefined {
  const [first] = runs
  const last = runs.at(-1)
  if (first === undefined || last === undefined) return { text: value, at: undefined }
  if (typeof value === 'number') {
    const start = first[0] - (/[-+.\d]*$/.exec(text.slice(0, first[0]))?.[0].length ?? 0)
    const literal = /^[-+.\deE]+/.exec(text.slice(start))?.[0] ?? ''
    const at: Span = [start, start + literal.length]
    return Number(literal) === value && at[1] >= last[1] ? { text: value, at } : undefined
  }
  const whole = String(value)
  for (let start = text.indexOf(whole); start >= 0; start = text.indexOf(whole, start + 1)) {
    const end = start + whole.length
    if (start <= first[0] && end >= last[1]) return { text: value, at: [start, end] }
    if (start > first[0]) break
  }
  return undefined
}
