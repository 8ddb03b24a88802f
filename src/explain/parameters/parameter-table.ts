import {
  type AttributeColumn,
  AttributeReader,
  countsUnits,
  numbersOf,
  reasonOfNames,
} from '../../calls/attribute-columns.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { Stage, type StageTable, stageTable } from '../../core/stage.ts'
import { naturally } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { NodeRecords } from '../../flows/node-records.ts'
import { equalPartitions } from '../../stats/decision-tree/equal-partitions.ts'
import type { TreeColumn } from '../../stats/decision-tree/tree.ts'
import { randomSource } from '../../stats/random.ts'
import {
  type LeftOutReason,
  NEARLY_UNIQUE,
  PRESENCE,
  reasonOfName,
} from '../../traces/attribute-names.ts'
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

/** A request, or a call of it. */
export interface TableRow {
  readonly request: number
  /** Which of the two groups it is in. */
  readonly label: number
  readonly timeUs: number
  /** Of each place, the node where it is recorded. */
  readonly nodes: readonly number[]
  /** Name of the request, where the first place begins requests of several kinds. */
  readonly name?: string
}

/** Reads what rows recorded at some places of the flow: a column a place and attribute. */
export function readTable(
  flows: FlowSet,
  { places, rows }: { readonly places: readonly NodeLabel[]; readonly rows: readonly TableRow[] },
  choice: ParameterChoice,
  isLeftOut: (parameter: Parameter, labels: Uint8Array) => boolean = () => false,
): ParameterTable {
  const requests = Uint32Array.from(rows, ({ request }) => request)
  const labels = Uint8Array.from(rows, ({ label }) => label)
  const all = readParameters(flows, places, rows)
  return new ParameterTable(
    flows,
    {
      all: all.filter((parameter) => !isLeftOut(parameter, labels)),
      rows: {
        requests,
        labels,
        periods: Uint8Array.from(requests, (request) => flows.period[request] as number),
        timeUs: Float64Array.from(rows, ({ timeUs }) => timeUs),
        startUs: Float64Array.from(requests, (request) => flows.startUs[request] as number),
        weights: flows.countsOf(requests),
      },
    },
    choice,
  )
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

/** One column a place and attribute, in their order; places of one name are counted. */
function readParameters(
  flows: FlowSet,
  places: readonly NodeLabel[],
  rows: readonly TableRow[],
): Parameter[] {
  const records = new NodeRecords(flows)
  const readers = places.map(() => new AttributeReader(rows.length))
  rows.forEach(({ request, nodes, name }, row) => {
    if (name !== undefined) readers[0]?.add(row, 'operation', name)
    nodes.forEach((node, place) => {
      for (const record of [records.of(request, node), records.logged(request, node)]) {
        for (const [key, value] of record) readers[place]?.add(row, key, value)
      }
    })
  })
  const found = readers.flatMap((reader, place) => {
    const node = places[place] as NodeLabel
    const columns = reader.finish().sort((a, b) => (a.attribute < b.attribute ? -1 : 1))
    return columns.length === 0 ? [] : [{ node, name: placeName(node), columns }]
  })
  return found.flatMap(({ node, name, columns }, at) => {
    const alike = [...found.keys()].filter((other) => found[other]?.name === name)
    const occurrence = alike.length === 1 ? 0 : alike.indexOf(at) + 1
    const place = occurrence === 0 ? name : `${name}#${occurrence}`
    return columns.flatMap((column) => {
      const { attribute, codes, known } = column
      const source = { node, occurrence, attribute }
      const own = { ...typedColumn(`${place} · ${attribute}`, column), source }
      if (known === rows.length) return [own]
      // That something was not recorded may be what requests have in common.
      const presence = `${attribute}${PRESENCE}`
      const isThere = Int32Array.from(codes, (code) => Math.min(1, code))
      return [
        own,
        {
          name: `${place} · ${presence}`,
          kind: 'categorical',
          codes: isThere,
          levels: ['no', 'yes'],
          source: { ...source, attribute: presence },
        },
      ]
    })
  })
}

export function placeName({ service, operation }: NodeLabel): string {
  const what = operation.replace(/\n|\\n/g, ' ')
  return [service, what].filter((part) => part !== '').join(' ')
}

/** A column of a tree: numeric if its values are numbers, else categorical with sorted levels. */
export function typedColumn(name: string, column: AttributeColumn): TreeColumn {
  const { codes, values } = column
  const numbers = numbersOf(column)
  if (numbers !== null) {
    const own = Float64Array.from(codes, (code) => numbers[code - 1] ?? Number.NaN)
    return { name, kind: 'numeric', values: own }
  }
  const texts = values.map(String)
  const levels = [...new Set(texts)].sort(naturally)
  const levelOf = new Map(levels.map((level, at) => [level, at]))
  return {
    name,
    kind: 'categorical',
    codes: Int32Array.from(codes, (code) => levelOf.get(texts[code - 1] as string) ?? -1),
    levels,
  }
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

export interface RowOrder {
  /** 0 precursor, 1 mutation. */
  readonly labels: Uint8Array
  readonly periods: Uint8Array
  /** When each row's request arrived, in µs since the start of its period. */
  readonly startUs: Float64Array
}

/** Why a parameter is of no use for telling requests apart; `null` where it may be. */
export function reasonToLeaveOut(parameter: Parameter, rows: RowOrder): LeftOutReason | null {
  const { attribute } = parameter.source
  if (parameter.kind === 'numeric') {
    return reasonOfName(attribute) ?? reasonOfNumbers(parameter.values, rows)
  }
  const { codes, levels } = parameter
  const known = codes.reduce((count, code) => count + Number(code >= 0), 0)
  return reasonOfNames(attribute, levels, known)
}

function reasonOfNumbers(
  values: Float64Array,
  { periods, startUs }: RowOrder,
): LeftOutReason | null {
  const distinct = new Set(values.filter((value) => !Number.isNaN(value))).size
  if (distinct < 2) return 'constant'
  if (distinct <= NEARLY_UNIQUE * values.length) return null
  const arrived = [BEFORE, AFTER].map((period) =>
    Array.from(values.keys())
      .filter((row) => periods[row] === period && !Number.isNaN(values[row] as number))
      .sort((a, b) => (startUs[a] as number) - (startUs[b] as number))
      .map((row) => values[row] as number),
  )
  return countsUnits(arrived) ? 'counter' : null
}
