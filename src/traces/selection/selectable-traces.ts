// Counts once a trace: indexes with `!`.
import { FlowdeltaError, nearestName, show } from '../../core/errors.ts'
import { memoized } from '../../core/remembered.ts'
import { Stage } from '../../core/stage.ts'
import {
  counted,
  firstOf,
  formatDuration,
  grouped,
  naturally,
  printable,
  readDuration,
} from '../../core/words.ts'
import type { AttributeValue } from '../attributes.ts'
import { isoTime, readMoment } from '../epoch-clock.ts'
import type { Quality, Selected } from '../quality.ts'
import {
  ANY_SERVICE,
  builtIn,
  type Condition,
  condition,
  conditionsText,
  dividedBy,
  oppositeText,
  parseConditions,
  parseValues,
  type Subject,
} from './condition.ts'

/** Returns the values of a subject for a trace's request: none, one, or those of several spans. */
export type Reader = (trace: number) => readonly AttributeValue[]

/** A moment: text as on the command line, a `Date`, or µs since 1970. */
export type Moment = string | Date | number

const MAX_GROUPS = 100
const MAX_LISTED = 8

/** The traces of one period, some of which can be selected, always whole. */
export abstract class SelectableTraces extends Stage {
  static readonly madeBy: string = 'traces: what loadTraces loads'
  /** Name of the period in messages and charts. */
  readonly name: string
  readonly #quality: Quality
  abstract readonly ids: readonly string[]
  abstract readonly epochNs: bigint

  constructor(name: string, quality: Quality) {
    super()
    this.name = name
    this.#quality = quality
  }

  get size(): number {
    return this.ids.length
  }

  /** Returns the omissions of this load, and their reasons. */
  quality(): Quality {
    return this.#quality
  }

  /** Returns a reader for a condition's subject; `undefined` if nothing recorded has that name. */
  abstract reader(subject: Subject): Reader | undefined
  /** Returns whether a request calls a service or an operation; `undefined` if nothing has that name. */
  abstract callers(called: Subject): ((trace: number) => boolean) | undefined
  abstract names(): Readonly<Record<'attributes' | 'services' | 'operations', readonly string[]>>
  /** Some of the traces, by row, as traces of their own. */
  abstract pick(
    rows: ArrayLike<number>,
    as?: { readonly name?: string; readonly selected?: Selected },
  ): this

  /** Saves the traces; see `SpanTraces.save`. Trace-point graphs cannot be saved. */
  async save(path: string): Promise<void> {
    throw new FlowdeltaError(
      `${this.name} has trace-point graphs, which ${path} cannot hold. Keep their DOT or X-Trace files; traces with spans can be saved.`,
    )
  }

  /**
   * Returns the traces of requests for which conditions hold: `'tenant.tier = enterprise and duration > 500ms'`.
   * Accepts the text that a finding prints after "only where".
   *
   * A condition asks for one of `service`, `operation`, `host`, `version`, `duration`, `outcome` (`ok`, `error` or
   * `unset`), `time`, or an attribute: of the root if any root has it, else of any span. With a service before it, it
   * asks for the first span, by time, with which a request enters that service: `database db.shard = 7`. `is not` also
   * holds if nothing was recorded. Traces with several roots are selected by the first. `quality().selected` counts the
   * traces left out.
   *
   * @param conditions see `parseConditions` for all forms
   * @throws FlowdeltaError for text of another form, a name that nothing recorded has (with the one that was probably
   *   meant), and if nothing is left (with the values present)
   *
   * @example
   * before.where('duration > 1us').size
   */
  where(conditions: string): this {
    const parsed = parseConditions(conditions)
    return this.#only(parsed, conditionsText(parsed))
  }

  /**
   * Returns the traces of requests that arrived from one moment (inclusive) to another (exclusive).
   *
   * @param from text (`'2026-10-01T10:00Z'`, `'10:00Z'`, `'5min'` after the recording began; UTC
   *   unless it says otherwise), a `Date`, or µs since 1970; `null` for the beginning
   * @param to the same; `null` for the end
   * @throws FlowdeltaError for a value that is no moment, and if no request arrived
   *
   * @example
   * before.between('0s', '10min').size
   */
  between(from: Moment | null, to: Moment | null): this {
    const conditions = this.#rangeOf(from, to)
    return this.#only(conditions, conditionsText(conditions))
  }

  /**
   * Divides the traces into groups, to be compared with each other.
   *
   * - conditions, `'duration > 500ms'`: those for which they do not hold, then those for which they do;
   * - values, `'version = 1.42 | 1.43'`: one group for each;
   * - an attribute, `'region'`: one group for each value, in order;
   * - a moment, `'2026-10-01T11:15Z'`: those before, then those from then on;
   * - stretches of time, `'10:00Z..10:30Z | 11:00Z..11:30Z'`: one group for each.
   *
   * Requests of which nothing is recorded that conditions ask for are in no group, and so are those
   * that would be in several. `quality().selected` of each group counts these.
   *
   * @param by one of these; conditions are those of `where`
   * @throws FlowdeltaError as `where` does, for every group that is empty
   *
   * @example
   * const [usual, slow] = before.split('duration > 250us')
   */
  split(by: string): this[] {
    const groups = this.#groupsOf(by)
    const memberships = new Uint8Array(this.size)
    for (const { rows } of groups) for (const row of rows) memberships[row]!++
    const leftOut = this.size - memberships.filter((count) => count === 1).length
    return groups.map(({ text, rows, conditions }) => {
      const own = rows.filter((row) => memberships[row] === 1)
      if (own.length === 0) throw nothingSelected(this, conditions, text)
      const selected = { condition: text, traces: own.length, of: this.size, leftOut }
      return this.pick(own, { name: text, selected })
    })
  }

  /** Marks the traces for which conditions hold; what no trace has recorded holds for none. */
  matching(conditions: readonly Condition[]): Uint8Array {
    return this.#marked(conditions.map((one) => conditionTest(this, one)).map(({ holds }) => holds))
  }

  /** Whether anything that was recorded is called as a condition says. */
  knows(one: Condition): boolean {
    return conditionTest(this, one).isKnown
  }

  /** @throws FlowdeltaError for the first condition on something that nothing recorded has */
  requireKnown(conditions: readonly Condition[]): void {
    for (const one of conditions) if (!this.knows(one)) throw unknownName(this, one)
  }

  #only(conditions: readonly Condition[], text: string): this {
    this.requireKnown(conditions)
    const rows = rowsOf(this.matching(conditions))
    if (rows.length === 0) throw nothingSelected(this, conditions, text)
    const [traces, of] = [rows.length, this.size]
    return this.pick(rows, { selected: { condition: text, traces, of, leftOut: of - traces } })
  }

  #marked(tests: readonly ((trace: number) => boolean)[]): Uint8Array {
    return Uint8Array.from({ length: this.size }, (_, trace) =>
      Number(tests.every((holds) => holds(trace))),
    )
  }

  #groupsOf(by: string): Group[] {
    const stretches = dividedBy('\\|', String(by)).map((part) =>
      /^([^=<>]*)\.\.([^=<>]*)$/.exec(part),
    )
    if (stretches.every((stretch) => stretch !== null)) {
      return stretches.map(([, from, to]) => this.#group(this.#rangeOf(from || null, to || null)))
    }
    if (momentUs(this, by) !== null) {
      return [this.#group(this.#rangeOf(null, by)), this.#group(this.#rangeOf(by, null))]
    }
    const subject = this.#subjectOf(by)
    if (subject !== null) return this.#groupsOfValues(subject)
    const clauses = dividedBy('\\s+and\\s+', by)
    const divided = clauses.map((clause) => dividedBy('\\|', clause))
    const conditions = parseConditions(divided.map(([first]) => first).join(' and '))
    const at = divided.findIndex((values) => values.length > 1)
    const isDivided = divided.filter((values) => values.length > 1).length
    if (at < 0) return this.#bothSides(conditions)
    const dividing = conditions[at] as Condition
    if (isDivided > 1 || dividing.op !== 'is') {
      throw new FlowdeltaError(
        `${show(by)} divides by ${isDivided > 1 ? 'two names' : dividing.op}. Write the values of one name: 'version = 1.42 | 1.43'.`,
      )
    }
    const groups = (divided[at] as string[]).slice(1).map((text) => parseValues(text))
    return [dividing, ...groups].map(({ values, orNotRecorded }) =>
      this.#group(conditions.with(at, condition(dividing, 'is', values, orNotRecorded))),
    )
  }

  /** Divides traces by whether conditions hold, among those where they could. */
  #bothSides(conditions: readonly Condition[]): Group[] {
    this.requireKnown(conditions)
    const inside = this.matching(conditions)
    const read = conditions.map((one) => conditionTest(this, one).isRecorded)
    const outside = this.#marked([(trace) => inside[trace] === 0, ...read])
    return [
      { conditions, text: oppositeText(conditions), rows: rowsOf(outside) },
      { conditions, text: conditionsText(conditions), rows: rowsOf(inside) },
    ]
  }

  #group(conditions: readonly Condition[]): Group {
    this.requireKnown(conditions)
    const rows = rowsOf(this.matching(conditions))
    return { conditions, text: conditionsText(conditions), rows }
  }

  #groupsOfValues(subject: Subject): Group[] {
    const values = valuesOf(this, subject).map(([value]) => value)
    if (values.length > MAX_GROUPS) {
      const some = `${subject.attribute} = ${values.slice(0, 2).join(' | ')}`
      throw new FlowdeltaError(
        `${subject.attribute} has ${counted(values.length, 'value')}. Give those to compare: ${show(some)}.`,
      )
    }
    return values.sort(naturally).map((value) => this.#group([condition(subject, 'is', [value])]))
  }

  /** Returns the subject that a text without comparison names; `null` for other text. */
  #subjectOf(by: string): Subject | null {
    if (/[=<>!≠≤≥|]|\sis\s/.test(by)) return null
    const asked = parseConditions(`${by} is recorded`)
    this.requireKnown(asked)
    return asked[0] as Subject
  }

  #rangeOf(from: Moment | null, to: Moment | null): Condition[] {
    const time = { service: null, attribute: 'time', isAttribute: false }
    const epochUs = Number(this.epochNs) / 1e3
    const fromUs = from === null ? null : requireMoment(this, from)
    const toUs = to === null ? null : requireMoment(this, to, fromUs)
    if (fromUs !== null && toUs !== null && fromUs >= toUs) {
      throw new FlowdeltaError(
        `No time lies between ${show(from)} and ${show(to)}. Give the earlier moment first.`,
      )
    }
    return [
      ...(fromUs === null ? [] : [condition(time, 'from', [isoTime(fromUs, epochUs)])]),
      ...(toUs === null ? [] : [condition(time, 'below', [isoTime(toUs, epochUs)])]),
    ]
  }
}

/** Returns the base of traces whose columns are their fields; see `columnarStage`. */
export function columnarTraces<Columns extends { readonly ids: readonly string[] }>() {
  abstract class ColumnarTraces extends SelectableTraces {
    declare readonly ids: Columns['ids']

    constructor(name: string, columns: Columns, quality: Quality) {
      super(name, quality)
      Object.assign(this, columns)
    }
  }
  return ColumnarTraces as unknown as abstract new (
    name: string,
    columns: Columns,
    quality: Quality,
  ) => SelectableTraces & Readonly<Columns>
}

interface Group {
  readonly conditions: readonly Condition[]
  readonly text: string
  readonly rows: readonly number[]
}

function rowsOf(marks: Uint8Array): number[] {
  return Array.from(marks.keys()).filter((row) => marks[row] === 1)
}

function conditionTest(recorded: SelectableTraces, asked: Condition) {
  const { op, values, orNotRecorded } = asked
  const always = () => true
  if (op === 'calls' || op === 'does not call') {
    const calls = recorded.callers(asked)
    const holds = (trace: number) => (calls?.(trace) ?? false) === (op === 'calls')
    return { holds, isKnown: calls !== undefined, isRecorded: always }
  }
  const reader = recorded.reader(asked)
  const read: Reader = reader ?? (() => [])
  const isKnown = reader !== undefined
  const isRecorded = (trace: number) => read(trace).length > 0
  if (op === 'recorded' || op === 'not recorded') {
    const holds = (trace: number) => isRecorded(trace) === (op === 'recorded')
    return { holds, isKnown, isRecorded: always }
  }
  if (!isKnown) return { holds: () => false, isKnown, isRecorded: always }
  const fits = op === 'is' || op === 'is not' ? isOneOf(values) : orderTest(recorded, asked)
  const isAny = (trace: number) => {
    const own = read(trace)
    return own.length === 0 ? orNotRecorded : own.some(fits)
  }
  const holds = op === 'is not' ? (trace: number) => !isAny(trace) : isAny
  return { holds, isKnown, isRecorded: orNotRecorded ? always : isRecorded }
}

/** Properties that are compared with a number, with the notation of their values. */
const ORDERED = {
  duration: { needs: "a number with a unit, as '500ms'", read: readDuration },
  time: { needs: "a time, as '2026-10-01T11:15Z'", read: () => Number.NaN },
  attribute: {
    needs: 'a number, in the unit in which it was recorded',
    read: (written: string) => Number(written || Number.NaN),
  },
}

function orderTest(
  recorded: SelectableTraces,
  asked: Condition,
): (value: AttributeValue) => boolean {
  const [written = ''] = asked.values
  const name = builtIn(asked)
  const { needs, read } = ORDERED[name === 'duration' || name === 'time' ? name : 'attribute']
  const limit = name === 'time' ? (momentUs(recorded, written) ?? Number.NaN) : read(written)
  if (Number.isNaN(limit)) {
    throw new FlowdeltaError(
      `Condition ${asked.text} compares with ${show(written)}. Give ${needs}.`,
    )
  }
  return (value) => {
    const number = value === '' || typeof value === 'boolean' ? Number.NaN : Number(value)
    if (asked.op === 'from') return number >= limit
    if (asked.op === 'above') return number > limit
    return asked.op === 'below' ? number < limit : number <= limit
  }
}

/** Whether a value is one of some, as it was recorded or as it is printed; equal numbers are one. */
function isOneOf(texts: readonly string[]): (value: AttributeValue) => boolean {
  const wanted = new Set(texts)
  const numbers = new Set(texts.map((text) => Number(text || Number.NaN)))
  return memoized((value: AttributeValue) => {
    const text = String(value)
    const isNumber = typeof value === 'number' && numbers.has(value)
    return isNumber || wanted.has(text) || wanted.has(printable(text))
  })
}

/** Returns a moment in µs since 1970, a time of day from `notBeforeUs` on; throws if it is none. */
function requireMoment(
  recorded: SelectableTraces,
  moment: Moment,
  notBeforeUs: number | null = null,
): number {
  const us = momentUs(recorded, moment, notBeforeUs)
  if (us !== null) return us
  throw new FlowdeltaError(
    `${show(moment)} is no time. Give '2026-10-01T11:15Z', '11:15Z' on the day of the recording, or '5min' after it began.`,
  )
}

/** Works as `requireMoment`, but returns `null` for other values. */
function momentUs(
  { epochNs }: SelectableTraces,
  moment: unknown,
  notBeforeUs: number | null = null,
): number | null {
  if (typeof moment === 'string') {
    return readMoment(moment, { epochUs: Number(epochNs) / 1e3, notBeforeUs })
  }
  const us = moment instanceof Date ? moment.getTime() * 1e3 : moment
  return typeof us === 'number' && Number.isFinite(us) ? us : null
}

/** Returns the values of a condition's subject, and the number of traces with each, frequent ones first. */
function valuesOf(recorded: SelectableTraces, subject: Subject): [value: string, traces: number][] {
  const read = recorded.reader(subject)
  const counts = new Map<string, number>()
  for (let trace = 0; trace < recorded.size; trace++) {
    for (const value of new Set(read?.(trace))) {
      counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a)
}

function unknownName(recorded: SelectableTraces, asked: Condition): FlowdeltaError {
  const { attributes, services, operations } = recorded.names()
  const isCall = asked.op === 'calls' || asked.op === 'does not call'
  const { service, attribute } = asked
  const isService = service !== null && service !== ANY_SERVICE && !services.includes(service)
  const [what, name, known] = isService
    ? (['service', service, services] as const)
    : !isCall
      ? (['attribute', attribute, attributes] as const)
      : service !== null
        ? (['operation', attribute, operations] as const)
        : (['service', attribute, services] as const)
  const meant = nearestName(name, known)
  const there =
    known.length === 0 ? `There are no ${what}s` : `It has ${firstOf(known, { most: MAX_LISTED })}`
  const isOperation = isCall && service === null && operations.includes(attribute)
  const next = isOperation
    ? `That is an operation: write ${calledText(attribute, ANY_SERVICE)}.`
    : meant === undefined
      ? `${there}.`
      : `Did you mean ${meant}?`
  const mayBeResource = meant === undefined && what === 'attribute'
  return new FlowdeltaError(
    `Condition ${asked.text}: ${recorded.name} has no ${what} ${printable(name)}. ${next}` +
      (mayBeResource ? ' Attributes of resources are loaded with `resourceAttributes`.' : ''),
    mayBeResource ? { resourceAttributes: true } : {},
  )
}

function nothingSelected(
  recorded: SelectableTraces,
  conditions: readonly Condition[],
  text: string,
): FlowdeltaError {
  const each = conditions.map((asked) => {
    const { holds } = conditionTest(recorded, asked)
    return { asked, count: Array.from({ length: recorded.size }, (_, i) => i).filter(holds).length }
  })
  const counts = each.map(({ asked, count }) => `${asked.text} holds for ${grouped(count)}`)
  const empty = each.filter(({ count }) => count === 0)
  const said = empty.map(({ asked }) => valuesText(recorded, asked))
  return new FlowdeltaError(
    [
      `None of the ${counted(recorded.size, 'trace')} of ${recorded.name} has ${text}.`,
      ...(conditions.length > 1 ? [`${counts.join(', ')}.`] : []),
      ...new Set(said),
    ].join(' '),
  )
}

function valuesText(recorded: SelectableTraces, asked: Condition): string {
  if (asked.op === 'calls' || asked.op === 'does not call') return 'Give another one.'
  const name = condition(asked, 'recorded').text.replace(/ is recorded$/, '')
  const values = valuesOf(recorded, asked)
  const called = calledInstead(recorded, asked)
  const texts = values.map(([value]) => value)
  if (texts.length === 0) return `${name} is not recorded in any of them.`
  const numbers = Float64Array.from(texts, (text) => Number(text || Number.NaN)).sort()
  if (texts.length > MAX_LISTED && numbers.every(Number.isFinite)) {
    const kind = builtIn(asked)
    const epochUs = Number(recorded.epochNs) / 1e3
    const shown = (value = Number.NaN) =>
      kind === 'duration'
        ? formatDuration(value)
        : kind === 'time'
          ? isoTime(value, epochUs)
          : `${value}`
    return `${name} goes from ${shown(numbers[0])} to ${shown(numbers.at(-1))}.`
  }
  const meant = asked.values.flatMap((value) => nearestName(value, texts) ?? [])[0]
  const hint = meant === undefined ? '' : ` Did you mean ${printable(meant)}?`
  const textOf = (value: string) =>
    builtIn(asked) === 'duration' ? formatDuration(Number(value)) : printable(value) || '""'
  const all = values.map(([value, traces]) => `${textOf(value)} (${grouped(traces)})`)
  return `${name} is ${firstOf(all, { most: MAX_LISTED })}.${called ?? hint}`
}

/** Suggests the condition that was meant if no root but some call has that service or operation. */
function calledInstead(recorded: SelectableTraces, asked: Condition): string | undefined {
  const name = builtIn(asked)
  if (asked.service !== null || (name !== 'service' && name !== 'operation')) return undefined
  const { services, operations } = recorded.names()
  const known = name === 'service' ? services : operations
  const inside = asked.values.find((value) => known.includes(value))
  if (inside === undefined) return undefined
  const meant = calledText(inside, name === 'service' ? null : ANY_SERVICE)
  return ` That matches only roots; write ${meant}.`
}

function calledText(attribute: string, service: string | null): string {
  return condition({ service, attribute, isAttribute: false }, 'calls').text
}
