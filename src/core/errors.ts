import { displaySink, inspectHook } from './display.ts'
import { unicodeEscape } from './escape.ts'

/** Place of something in the input, as far as it is known. */
export interface Place {
  readonly file?: string | undefined
  /** 1-based line of `file`. */
  readonly line?: number | undefined
  readonly trace?: string | undefined
}

/** Options that would help, by name, with the values to give them; `null` where the user chooses. */
export type OptionAdvice = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>

/**
 * Codes that distinguish errors for programs: a wrong `'argument'` or `'option'` of a call, `'format'` for a file or
 * trace that cannot be read, `'input'` for bad content or an unreachable source.
 */
export type ErrorCode = 'argument' | 'option' | 'format' | 'input'

/** Wrong input or options: the message gives the value found, its place, and the next step. */
export class FlowdeltaError extends Error {
  override readonly name: string = 'FlowdeltaError'
  readonly code: ErrorCode
  readonly advice: OptionAdvice

  constructor(message: string, advice: OptionAdvice = {}, code: ErrorCode = 'input') {
    super(visibleText(String(message)))
    this.advice = advice
    this.code = code
  }

  /** Shows an error in a notebook as its sentence; elsewhere as Node shows it, with its stack. */
  [inspectHook](_depth: number, options: object, inspect: Inspect): string {
    if (displaySink() !== undefined) return this.message
    return inspect(this, { ...options, customInspect: false })
  }
}

type Inspect = (value: unknown, options: object) => string

/** File or trace that cannot be read as its claimed format. */
export class TraceFormatError extends FlowdeltaError {
  override readonly name = 'TraceFormatError'
  readonly place: Place
  /** Problem, without its place and the next step. */
  readonly problem: string

  constructor(problem: string, place: Place, nextStep: string, advice: OptionAdvice = {}) {
    super(`${describePlace(place ?? {})}${problem}. ${nextStep}`, advice, 'format')
    this.place = place ?? {}
    this.problem = visibleText(String(problem))
  }
}

/** An option with a value that it does not take. */
export class OptionError extends FlowdeltaError {
  override readonly name = 'OptionError'
  /** The option's name. */
  readonly option: string
  readonly value: unknown
  /** Values that the option takes, as a noun phrase. */
  readonly expected: string

  constructor(option: string, value: unknown, expected: string, advice: OptionAdvice = {}) {
    super(`Option ${option} is ${show(value)}. Give ${expected}.`, advice, 'option')
    this.option = option
    this.value = value
    this.expected = expected
  }
}

/** Rejects the first unknown option, and says which was meant; `path` is as `'mining.'`. */
export function rejectUnknownOptions(given: object, known: readonly string[], path = ''): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const name = path === '' ? 'options' : path.slice(0, -1)
    throw new OptionError(name, given, `an object with any of ${known.join(', ')}`)
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const meant = nearestName(name, known)
    const next =
      meant === undefined ? `Give one of ${known.join(', ')}.` : `Did you mean ${path}${meant}?`
    throw new FlowdeltaError(`There is no option ${path}${name}. ${next}`, {}, 'option')
  }
}

/**
 * Returns the entry of that name; rejects others.
 *
 * @param isNot description of other names, such as `'no picture of a comparison'`
 * @param there text before the existing names
 */
export function entryNamed<T>(
  record: Readonly<Record<string, T>>,
  name: unknown,
  isNot: string,
  there = 'Give',
): T {
  const names = Object.keys(record)
  if (typeof name === 'string' && names.includes(name)) return record[name] as T
  const meant = typeof name === 'string' ? nearestName(name, names) : undefined
  const hint = meant === undefined ? '' : `Did you mean '${meant}'? `
  const all = names.map((each) => `'${each}'`).join(', ')
  const given = show(name).replace(/^"|"$/g, "'")
  throw new FlowdeltaError(`${given} is ${isNot}. ${hint}${there} ${all}.`, {}, 'argument')
}

/**
 * Checks an argument of a public function.
 *
 * @param call how the function is called, with the argument's name: `'categorize(flows)'`
 * @param isRight whether the function takes the value
 * @param expected description of valid values, as a noun phrase
 * @throws FlowdeltaError with the code `'argument'`
 */
export function requireArgument(
  call: string,
  value: unknown,
  isRight: boolean,
  expected: string,
): asserts isRight {
  if (isRight) return
  const next = value instanceof Promise ? 'Write `await` before it' : `Give ${expected}`
  throw new FlowdeltaError(`${call} got ${show(value)}. ${next}.`, {}, 'argument')
}

/** A class whose objects a public function takes; `madeBy` says where they come from. */
interface StageClass<T> {
  readonly madeBy: string
  readonly prototype: T
}

/** Checks an argument that must be of a class; see `requireArgument`. */
// The class may be of another copy of flowdelta, as notebooks measure it with.
export function requireStage<T>(
  call: string,
  value: unknown,
  stage: StageClass<T>,
): asserts value is T {
  let isRight = false
  for (let one = value; isRecord(one) && !isRight; one = Object.getPrototypeOf(one)) {
    isRight = (one['constructor'] as Partial<StageClass<T>> | undefined)?.madeBy === stage.madeBy
  }
  requireArgument(call, value, isRight, stage.madeBy)
}

export function requireFields(call: string, value: unknown, ...fields: readonly string[]): void {
  requireArgument(call, value, hasFields(value, fields), `an object with ${fields.join(', ')}`)
}

function hasFields(value: unknown, fields: readonly string[]): boolean {
  return isRecord(value) && fields.every((field) => value[field] != null)
}

export function requireText(call: string, value: unknown): void {
  requireArgument(call, value, typeof value === 'string', 'text')
}

export function requireList(name: string, value: unknown, ...fields: readonly string[]): void {
  requireArgument(name, value, Array.isArray(value), 'an array')
  const wrong = value.findIndex((one) => !hasFields(one, fields))
  if (wrong >= 0) requireFields(`${name}[${wrong}]`, value[wrong], ...fields)
}

/** Checks samples or other columns of numbers, by the names of the arguments. */
export function requireNumbers(columns: Readonly<Record<string, unknown>>): void {
  // Runs for the samples of thousands of edges: no list of entries is made.
  for (const name in columns) {
    requireArgument(name, columns[name], areNumbers(columns[name]), 'an array of numbers')
  }
}

/**
 * Whether values are numbers, by the first hundred: samples hold millions of values, and are checked thousands of
 * times.
 */
function areNumbers(values: unknown): boolean {
  if (!isRecord(values) || !Number.isSafeInteger(values['length'])) return false
  const looked = ArrayBuffer.isView(values) ? 1 : 100
  for (let i = 0; i < Math.min(looked, values['length'] as number); i++) {
    if (typeof values[i] !== 'number') return false
  }
  return true
}

function isRecord(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null
}

/** Bug in flowdelta itself, not in its input. */
export class InternalError extends Error {
  override readonly name = 'InternalError'

  constructor(broken: string) {
    super(`flowdelta broke a promise of its own: ${broken}. Please report this with the input.`)
  }
}

export function show(value: unknown): string {
  const text = renderingOf(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

function renderingOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const kind = value.constructor
  if (Array.isArray(value)) return `[${value.slice(0, 8).map(renderingOf).join(', ')}]`
  if (kind !== Object && kind !== undefined) {
    return Object.hasOwn(kind.prototype, 'toString') ? String(value) : `a ${kind.name}`
  }
  const fields = Object.entries(value).map(([name, each]) => `${name}: ${show(each)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

/** `file:line, trace t: ` with the unknown parts left out. */
export function describePlace({ file, line, trace }: Place): string {
  const where = [
    file === undefined ? undefined : line === undefined ? file : `${file}:${line}`,
    trace === undefined ? undefined : `trace ${trace}`,
  ].filter((part) => part !== undefined)
  return where.length === 0 ? '' : `${where.join(', ')}: `
}

/** Returns the known name that a misspelt one most likely stands for. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((each) => editDistance(name.toLowerCase(), each.toLowerCase()))
  const least = Math.min(...distances)
  return least <= Math.max(1, Math.floor(name.length / 3))
    ? known[distances.indexOf(least)]
    : undefined
}

function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++) {
    rows.push([i])
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(i - 2, j - 2) + 1)
      }
      rows[i]?.push(cost)
    }
  }
  return at(a.length, b.length)
}

/** Characters that a terminal obeys, but for line ends and tabs. */
const CONTROL = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu

/** Returns text for a terminal or a message: characters that a terminal would obey appear as `\u001b`. */
export function visibleText(text: string): string {
  return text.replace(CONTROL, unicodeEscape)
}
