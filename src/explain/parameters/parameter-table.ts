import { FlowdeltaError } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { equalPartitions } from '../../stats/decision-tree/equal-partitions.ts'
import { type RowOrder, reasonToLeaveOut } from './left-out.ts'
import type { LeftOutParameter, Parameter } from './parameter.ts'

/** What the rows of a table are, beside their parameters. */
export interface ParameterRows extends RowOrder {
  /** Row of each one's request in `flows`. */
  readonly requests: Uint32Array
  /** What is asked to be slow or not, in µs; NaN where a row has none. */
  readonly timeUs: Float64Array
}

/** Parameters that the user puts back or takes out, by name. */
export interface ParameterChoice {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/**
 * Low-level parameters, one row a request (or a call), one column a parameter; and which were left
 * out, and why.
 */
export class ParameterTable extends Stage {
  /** Those that may separate the rows. */
  readonly parameters: readonly Parameter[]
  readonly leftOut: readonly LeftOutParameter[]
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
    const reasons = all.map((parameter) => reasonFor(parameter, rows, choice))
    this.parameters = all.filter((_, i) => reasons[i] === null)
    this.leftOut = all.flatMap(({ name }, i) => {
      const reason = reasons[i] ?? null
      return reason === null ? [] : [{ column: name, reason }]
    })
  }

  /** Rows in the table. */
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
    const columns = this.parameters.map(
      (parameter) => [parameter.name, valuesOf(parameter)] as const,
    )
    return stageTable({ ...own, ...Object.fromEntries(columns) })
  }
}

/** The values of a parameter; null where a row has none. */
export function valuesOf(parameter: Parameter): (number | string | null)[] {
  return parameter.kind === 'numeric'
    ? Array.from(parameter.values, (value) => (Number.isNaN(value) ? null : value))
    : Array.from(parameter.codes, (code) => parameter.levels[code] ?? null)
}

/** The tables that questions are asked of; `null` for a question that is not asked. */
export interface QuestionTables {
  /** Precursors and mutations. */
  readonly differs: ParameterTable | null
  /** The period after alone. */
  readonly slow: ParameterTable | null
}

/** The tables that there are. */
export function tablesOf({ differs, slow }: QuestionTables): ParameterTable[] {
  return [differs, slow].filter((table) => table !== null)
}

/** @throws FlowdeltaError for a column that no table has, with names that there are */
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

function reasonFor(
  parameter: Parameter,
  rows: RowOrder,
  { include, exclude }: ParameterChoice,
): LeftOutParameter['reason'] | null {
  if (exclude.includes(parameter.name)) return 'excluded'
  const reason = reasonToLeaveOut(parameter, rows)
  return reason !== 'constant' && include.includes(parameter.name) ? null : reason
}
