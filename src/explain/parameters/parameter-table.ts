import type { Categories } from '../../compare/categories/categories.ts'
import { getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { Stage, type StageTable, stageTable } from '../../core/stage.ts'
import { naturally } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { type NodeRecord, NodeRecords } from '../../flows/node-records.ts'
import { equalPartitions } from '../../stats/decision-tree/equal-partitions.ts'
import type { TreeColumn } from '../../stats/decision-tree/tree.ts'
import { randomSource } from '../../stats/random.ts'
import {
  isNameLike,
  isNumberText,
  type LeftOutReason,
  NEARLY_UNIQUE,
  namesFew,
  PRESENCE,
  reasonOfName,
  reasonOfTexts,
} from '../../traces/attribute-names.ts'
import type { AttributeValue } from '../../traces/attributes.ts'
import {
  changesOfPeriod,
  type Parameter,
  type ParameterDifference,
} from './parameter-differences.ts'

export type { Parameter, ParameterSource } from './parameter-differences.ts'

interface ParameterRows extends RowOrder {
  /** Row of each one's request in `flows`. */
  readonly requests: Uint32Array
  /** How many rows each counts as; undefined where each once. */
  readonly weights?: Float64Array | undefined
  /** What is asked to be slow or not, in µs; NaN where a row has none. */
  readonly timeUs: Float64Array
}

/** Rows of requests, or of calls of them. */
export function parameterRows(
  flows: FlowSet,
  rows: readonly { readonly request: number; readonly label: number; readonly timeUs: number }[],
): ParameterRows {
  const requests = Uint32Array.from(rows, ({ request }) => request)
  return {
    requests,
    labels: Uint8Array.from(rows, ({ label }) => label),
    periods: Uint8Array.from(requests, (request) => flows.period[request] as number),
    timeUs: Float64Array.from(rows, ({ timeUs }) => timeUs),
    startUs: Float64Array.from(requests, (request) => flows.startUs[request] as number),
    weights: flows.countsOf(requests),
  }
}

/** Parameters that the user puts back or takes out, by name. */
export interface ParameterChoice {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** Low-level parameters: a row a request or call, a column each; which are left out, and why. */
export class ParameterTable extends Stage {
  /** Those that may separate the rows. */
  readonly parameters: readonly Parameter[]
  readonly leftOut: readonly LeftOutParameter[]
  /** Those that changed with the period alone: how they differ between the periods. */
  readonly changedWithPeriod: readonly ParameterDifference[]
  readonly rows: ParameterRows
  readonly #flows: FlowSet
  readonly #all: readonly Parameter[]
  #groups: readonly (readonly string[])[] | undefined

  constructor(
    flows: FlowSet,
    { all, rows }: { all: readonly Parameter[]; rows: ParameterRows },
    choice: ParameterChoice,
  ) {
    super()
    this.#flows = flows
    this.#all = all
    this.rows = rows
    const unusable = all.flatMap((parameter): LeftOutParameter[] => {
      const { name: column } = parameter
      if (choice.exclude.includes(column)) return [{ column, reason: 'excluded' }]
      const reason = reasonToLeaveOut(parameter, rows)
      const isUsed = reason !== 'constant' && choice.include.includes(column)
      return reason === null || isUsed ? [] : [{ column, reason }]
    })
    const leftOut = new Set(unusable.map(({ column }) => column))
    const left = all.filter(({ name }) => !leftOut.has(name))
    const isOfPeriod = ({ column }: ParameterDifference) => !choice.include.includes(column)
    this.changedWithPeriod = changesOfPeriod(left, rows).filter(isOfPeriod)
    const gone = new Set(this.changedWithPeriod.map(({ column }) => column))
    this.leftOut = [...unusable, ...Array.from(gone, periodAlone)]
    this.parameters = left.filter(({ name }) => !gone.has(name))
  }

  get size(): number {
    return this.rows.requests.length
  }

  /** The same rows with another choice of parameters. */
  choose(choice: ParameterChoice): ParameterTable {
    return new ParameterTable(this.#flows, { all: this.#all, rows: this.rows }, choice)
  }

  /** Whether there is a parameter of this name, in use or left out. */
  has(column: string): boolean {
    return this.#all.some(({ name }) => name === column)
  }

  /** A parameter in use together with all that divide the rows alike. */
  equalTo(column: string): readonly string[] {
    this.#groups ??= equalPartitions(this.parameters)
    return this.#groups.find((group) => group.includes(column)) ?? [column]
  }

  /** All parameters with the attribute of `column`, wherever in the flow. */
  sameAttribute(column: string): readonly string[] {
    const attribute = this.#all.find(({ name }) => name === column)?.source.attribute
    return this.#all.filter(({ source }) => source.attribute === attribute).map(({ name }) => name)
  }

  /** One row a request: trace, label (`'precursor'` or `'mutation'`), time, and every parameter. */
  table(): StageTable {
    const { requests, labels, timeUs } = this.rows
    const own = {
      request: requests,
      trace: Array.from(requests, (request) => this.#flows.ids[request]),
      label: Array.from(labels, (label) => (label === 0 ? 'precursor' : 'mutation')),
      timeUs,
    }
    const columns = this.parameters.map((parameter) => [
      parameter.name,
      parameter.kind === 'numeric'
        ? Array.from(parameter.values, (value) => (Number.isNaN(value) ? null : value))
        : Array.from(parameter.codes, (code) => parameter.levels[code] ?? null),
    ])
    return stageTable({ ...own, ...Object.fromEntries(columns) })
  }
}

function periodAlone(column: string): LeftOutParameter {
  return { column, reason: 'period' }
}

/** The tables that questions are asked of; `null` for a question that is not asked. */
export interface QuestionTables {
  /** Precursors and mutations. */
  readonly differs: ParameterTable | null
  /** The period after alone. */
  readonly slow: ParameterTable | null
}

export function tablesOf({ differs, slow }: QuestionTables): ParameterTable[] {
  return [differs, slow].filter((table) => table !== null)
}

export function requireColumns(questions: QuestionTables, names: readonly string[]): void {
  const tables = tablesOf(questions)
  const unknown = names.find((name) => !tables.some((table) => table.has(name)))
  if (unknown === undefined) return
  const known = tables.flatMap(({ parameters }) => parameters.map(({ name }) => name))
  const some = [...new Set(known)].slice(0, 8).map((name) => `'${name}'`)
  throw new FlowdeltaError(
    `There is no parameter ${JSON.stringify(unknown)}. ${some.length === 0 ? 'None can be used here.' : `Give one such as ${some.join(', ')}.`}`,
  )
}

/** Requests of one category, and where in its depth-first order the places of the template are. */
export interface ParameterSide {
  readonly requests: readonly number[]
  readonly category: number
  /** Which of the two groups they are in. */
  readonly label: 0 | 1
  readonly positions: readonly number[]
}

/** The parameters at the places of a template: a row a request, a column a place and attribute. */
export function collectParameters(
  categories: Categories,
  sides: readonly ParameterSide[],
): Parameter[] {
  const { flows } = categories
  const { category, positions } = sides[0] as ParameterSide
  const { preorder } = categories.structure(category)
  const places = positions.map((at) => categories.nodeLabel(category, preorder[at] as number))
  const rows = sides.reduce((sum, { requests }) => sum + requests.length, 0)
  const columns = new ParameterColumns(rows, places)
  const records = new NodeRecords(flows)
  let row = 0
  for (const side of sides) {
    for (const request of side.requests) {
      const nodes = categories.preorderOf(flows.shapeOf[request] as number)
      side.positions.forEach((position, place) => {
        const node = nodes[position] as number
        columns.add(row, place, records.of(request, node))
        columns.add(row, place, records.logged(request, node))
      })
      row++
    }
  }
  return columns.finish()
}

type Values = (AttributeValue | undefined)[]

export class ParameterColumns {
  readonly #rows: number
  readonly #places: readonly { readonly node: NodeLabel; readonly found: Map<string, Values> }[]

  constructor(rows: number, places: readonly NodeLabel[]) {
    this.#rows = rows
    this.#places = places.map((node) => ({ node, found: new Map() }))
  }

  add(row: number, place: number, record: NodeRecord): void {
    const attributes = this.#places[place]?.found as Map<string, Values>
    for (const [key, value] of record) {
      const values = getOrInsert(attributes, key, () => new Array(this.#rows).fill(undefined))
      values[row] = value
    }
  }

  /** One column a place and attribute, in their order; places of one name are counted. */
  finish(): Parameter[] {
    const places = this.#places
      .filter(({ found }) => found.size > 0)
      .map((place) => ({ ...place, name: placeName(place.node) }))
    return places.flatMap((place) => {
      const alike = places.filter(({ name }) => name === place.name)
      const occurrence = alike.length === 1 ? 0 : alike.indexOf(place) + 1
      const name = occurrence === 0 ? place.name : `${place.name}#${occurrence}`
      return [...place.found]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([attribute, values]) => {
          const column = (called: string, recorded: Values) => ({
            ...typedColumn(`${name} · ${called}`, recorded, { isName: isNameLike(attribute) }),
            source: { node: place.node, occurrence, attribute: called },
          })
          const own = column(attribute, values)
          if (!values.includes(undefined)) return [own]
          // That something was not recorded may be what requests have in common.
          const isThere = values.map((value) => (value === undefined ? 'no' : 'yes'))
          return [own, column(`${attribute}${PRESENCE}`, isThere)]
        })
    })
  }
}

export function placeName({ service, operation }: NodeLabel): string {
  const what = operation.replace(/\n|\\n/g, ' ')
  return [service, what].filter((part) => part !== '').join(' ')
}

/** Values as a column: numeric if all are finite numbers, else categorical with sorted levels. */
export function typedColumn(
  name: string,
  values: readonly (AttributeValue | undefined)[],
  { isName = false }: { readonly isName?: boolean } = {},
): TreeColumn {
  const known = new Set(values.filter((value) => value !== undefined))
  const all = [...known]
  // 1.1 and 1.10 are versions: two names, one number.
  const numbers = new Set(all.map(Number))
  if (!isName && all.length > 0 && all.every(isNumeric) && numbers.size === all.length) {
    return {
      name,
      kind: 'numeric',
      values: Float64Array.from(values, (value) =>
        value === undefined ? Number.NaN : Number(value),
      ),
    }
  }
  const texts = values.map((value) => (value === undefined ? undefined : String(value)))
  const levels = [...new Set(texts.filter((text) => text !== undefined))].sort(naturally)
  const codeOf = new Map(levels.map((level, code) => [level, code]))
  const codes = Int32Array.from(texts, (text) =>
    text === undefined ? -1 : (codeOf.get(text) ?? -1),
  )
  return { name, kind: 'categorical', codes, levels }
}

function isNumeric(value: AttributeValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value === 'string' && isNumberText(value)
}

/** How many requests a table is made from. */
export type Sampling = 'all' | 'tenth' | number

const FEWEST = 100
const SHARE = 0.1

/**
 * The same share of both groups: a tenth but at least 100 (`'tenth'`), a number, or all. Source:
 * Sambasivan 2013, §2.6.6, for the tenth; the groups are sampled apart.
 */
export function sampleRequests<T>(
  groups: readonly (readonly T[])[],
  { sample, seed }: { sample: Sampling; seed: number },
): (readonly T[])[] {
  const total = groups.reduce((sum, { length }) => sum + length, 0)
  const size = sampleSize(sample, total)
  if (size >= total) return [...groups]
  const random = randomSource(seed)
  return groups.map((group) => {
    const count = Math.max(Math.min(1, group.length), Math.round((size * group.length) / total))
    const chosen = random.shuffle([...group.keys()]).slice(0, count)
    return chosen.sort((a, b) => a - b).map((at) => group[at] as T)
  })
}

function sampleSize(sample: Sampling, total: number): number {
  if (sample === 'all') return total
  if (sample === 'tenth') return Math.min(total, Math.max(FEWEST, Math.floor(SHARE * total)))
  return sample
}

/** Why a parameter does not take part. */
export interface LeftOutParameter {
  readonly column: string
  readonly reason: LeftOutReason
}

/** A number that rises in this share of the steps from request to request counts them. */
const RISING = 0.98
const MIN_FOR_COUNTER = 20

export interface RowOrder {
  /** 0 precursor, 1 mutation. */
  readonly labels: Uint8Array
  readonly periods: Uint8Array
  /** When each row's request arrived, in µs since the start of its period. */
  readonly startUs: Float64Array
}

/** Why a parameter is of no use for telling requests apart; `null` where it may be. */
export function reasonToLeaveOut(parameter: Parameter, rows: RowOrder): LeftOutReason | null {
  const named = reasonOfName(parameter.source.attribute)
  if (parameter.kind === 'numeric') return named ?? reasonOfNumbers(parameter.values, rows)
  const { codes, levels } = parameter
  const known = codes.reduce((count, code) => count + Number(code >= 0), 0)
  const isKind = named === 'identifier' && namesFew(levels.length, known)
  return named !== null && !isKind ? named : reasonOfTexts(levels, known)
}

function reasonOfNumbers(values: Float64Array, rows: RowOrder): LeftOutReason | null {
  const distinct = new Set(values.filter((value) => !Number.isNaN(value))).size
  if (distinct < 2) return 'constant'
  return distinct > NEARLY_UNIQUE * values.length && countsRequests(values, rows) ? 'counter' : null
}

/** Whether a number goes up, or down, from one request to the next in both periods. */
function countsRequests(values: Float64Array, { periods, startUs }: RowOrder): boolean {
  const groups = [BEFORE, AFTER].map((period) =>
    Array.from(values, (_, row) => row)
      .filter((row) => periods[row] === period && !Number.isNaN(values[row] as number))
      .sort((a, b) => (startUs[a] as number) - (startUs[b] as number)),
  )
  const long = groups.filter(({ length }) => length >= MIN_FOR_COUNTER)
  return long.length > 0 && long.every((group) => isRising(group, values))
}

function isRising(group: readonly number[], values: Float64Array): boolean {
  let [up, down] = [0, 0]
  for (let i = 1; i < group.length; i++) {
    const step = (values[group[i] as number] as number) - (values[group[i - 1] as number] as number)
    if (step > 0) up++
    else if (step < 0) down++
  }
  return Math.max(up, down) >= RISING * (group.length - 1)
}
