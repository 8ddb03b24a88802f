import { ascending, permute, rollups, sort, sum } from 'd3-array'
import {
  type AttributeColumn,
  AttributeReader,
  countsUnits,
  numbersOf,
  reasonOfNames,
} from '../../calls/attribute-columns.ts'
import { addAt } from '../../core/entries.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { Stage, type StageTable, stageTable } from '../../core/stage.ts'
import { naturally } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { NodeRecords } from '../../flows/node-records.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import { equalPartitions } from '../../stats/decision-tree/equal-partitions.ts'
import type { TreeColumn } from '../../stats/decision-tree/tree.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import { isTestable } from '../../stats/two-sample.ts'
import { ascendingSample, worthOf } from '../../stats/weighted-sample.ts'
import {
  type LeftOutReason,
  NEARLY_UNIQUE,
  PRESENCE,
  reasonOfName,
} from '../../traces/attribute-names.ts'
import { gather } from '../../traces/growing-columns.ts'

interface ParameterRows extends RowOrder {
  /** Row of each one's request in `flows`. */
  readonly requests: Uint32Array
  /** Number of rows that each counts as; undefined if each counts once. */
  readonly weights?: Float64Array | undefined
  /** Time to judge as slow or not, in µs; NaN for a row without one. */
  readonly timeUs: Float64Array
}

/** A request, or a call of it. */
export interface TableRow {
  readonly request: number
  /** Group that it is in, of the two. */
  readonly label: number
  readonly timeUs: number
  /** Node where each place is recorded. */
  readonly nodes: readonly number[]
  /** Name of the request, where the first place begins requests of several kinds. */
  readonly name?: string
}

/** Whether a parameter is no reason that rows have their labels. */
export type LeftOutRule = (parameter: Parameter, labels: Uint8Array) => boolean

/** Reads what rows recorded at some places of the flow: a column a place and attribute. */
export function readTable(
  flows: FlowSet,
  { places, rows }: { readonly places: readonly NodeLabel[]; readonly rows: readonly TableRow[] },
  choice: ParameterChoice,
  isLeftOut: LeftOutRule = () => false,
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
  /** Parameters that may separate the rows. */
  readonly parameters: readonly Parameter[]
  readonly leftOut: readonly LeftOutParameter[]
  /** Parameters that changed with the period alone, with their difference between the periods. */
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
    this.leftOut = [
      ...unusable,
      ...Array.from(gone, (column) => ({ column, reason: 'period' as const })),
    ]
    this.parameters = left.filter(({ name }) => !gone.has(name))
  }

  get size(): number {
    return this.rows.requests.length
  }

  /** Returns the same rows with another choice of parameters. */
  choose(choice: ParameterChoice): ParameterTable {
    return new ParameterTable(this.#flows, { all: this.#all, rows: this.rows }, choice)
  }

  /** Whether there is a parameter of this name, in use or left out. */
  has(column: string): boolean {
    return this.#all.some(({ name }) => name === column)
  }

  /** Returns a parameter in use together with all that divide the rows in the same way. */
  equalTo(column: string): readonly string[] {
    this.#groups ??= equalPartitions(this.parameters)
    return this.#groups.find((group) => group.includes(column)) ?? [column]
  }

  /** Returns all parameters with the attribute of `column`, wherever in the flow. */
  sameAttribute(column: string): readonly string[] {
    const attribute = this.#all.find(({ name }) => name === column)?.source.attribute
    return this.#all.filter(({ source }) => source.attribute === attribute).map(({ name }) => name)
  }

  /** Returns one row per request: trace, label (`'precursor'` or `'mutation'`), time, and every parameter. */
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

/** Reads one column per place and attribute, in their order; numbers places of the same name. */
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
      // Requests may have in common that a value was not recorded.
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

/** Returns a column of a tree: numeric if its values are numbers, else categorical with sorted levels. */
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

/** Number of requests that a table is made from. */
export type Sampling = 'all' | 'tenth' | number

const FEWEST = 100
const SHARE = 0.1

/**
 * Returns the same share of both groups: a tenth but at least 100 (`'tenth'`), a number, or all. Source: Sambasivan
 * 2013, §2.6.6, for the tenth; the groups are sampled apart.
 */
export function sampleRequests<T>(
  groups: readonly (readonly T[])[],
  { sample, seed }: { sample: Sampling; seed: number },
): (readonly T[])[] {
  const total = groups.reduce((sum, { length }) => sum + length, 0)
  const tenth = Math.max(FEWEST, Math.floor(SHARE * total))
  const size = sample === 'all' ? total : sample === 'tenth' ? tenth : sample
  if (size >= total) return [...groups]
  const random = randomSource(seed)
  return groups.map((group) => {
    const count = Math.max(Math.min(1, group.length), Math.round((size * group.length) / total))
    const chosen = random.shuffle([...group.keys()]).slice(0, count)
    return chosen.sort((a, b) => a - b).map((at) => group[at] as T)
  })
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

/** Returns why a parameter is of no use for telling requests apart; `null` where it may be. */
export function reasonToLeaveOut(parameter: Parameter, rows: RowOrder): LeftOutReason | null {
  const { attribute } = parameter.source
  if (parameter.kind === 'categorical') {
    const { codes, levels } = parameter
    return reasonOfNames(attribute, levels, codes.filter((code) => code >= 0).length)
  }
  const { values } = parameter
  const known = Array.from(values.keys()).filter((row) => !Number.isNaN(values[row]))
  const distinct = new Set(permute(values, known)).size
  const named = reasonOfName(attribute) ?? (distinct < 2 ? 'constant' : null)
  if (named !== null || distinct <= NEARLY_UNIQUE * values.length) return named
  const arrived = [BEFORE, AFTER].map((period) =>
    permute(
      values,
      sort(
        known.filter((row) => rows.periods[row] === period),
        (row) => rows.startUs[row],
      ),
    ),
  )
  return countsUnits(arrived) ? 'counter' : null
}

/** Place in the flow where a parameter was recorded, and its name there. */
export interface ParameterSource {
  readonly node: NodeLabel
  /** Counts nodes of that label in the template, from 1; 0 where there is only one. */
  readonly occurrence: number
  readonly attribute: string
}

/** A low-level parameter: one value a row, with the place it was recorded at. */
export type Parameter = TreeColumn & { readonly source: ParameterSource }

/** Difference of one parameter between two groups of requests. */
export interface ParameterDifference {
  readonly column: string
  readonly kind: Parameter['kind']
  readonly before: ParameterSummary
  readonly after: ParameterSummary
  /**
   * Effect size from 0 (same distribution) to 1 (nothing in common). For numbers: the largest gap between the shares of
   * both groups below a value (Kolmogorov-Smirnov D). For names: the share of requests that would need another name
   * (total variation). Both groups count equally, whatever their size; missing is a value of its own.
   */
  readonly effect: number
  readonly p: number
  /** p corrected over all parameters (Benjamini-Hochberg). */
  readonly q: number
}

/** The values of one group; rows count as often as they weigh. */
export interface ParameterSummary {
  readonly known: number
  readonly missing: number
  /** Smallest, quartiles and largest of numbers; null without known values, or for names. */
  readonly quartiles: readonly [number, number, number, number, number] | null
  /** The commonest names with their share of the group, without missing ones. */
  readonly commonest: readonly (readonly [level: string, share: number])[]
}

const COMMONEST = 5
/** Smallest separation of a parameter that explains something. */
export const LEAST_SEPARATION = 0.05
/** Level for q, corrected over all parameters. */
const LEVEL = 0.05

export function isSignificant({ q }: ParameterDifference): boolean {
  return q < LEVEL
}

/**
 * Compares every parameter by itself: significant ones first, as names of many kinds differ much by
 * chance; then the most different. With weights, each row counts as often as its weight says; tests
 * are of as many rows as they are worth.
 */
export function parameterDifferences(
  parameters: readonly Parameter[],
  labels: Uint8Array,
  weights?: Float64Array,
): ParameterDifference[] {
  const groups = [0, 1].map((label): RowGroup => {
    const rows = Uint32Array.from(labels.keys()).filter((row) => labels[row] === label)
    return { rows, weights: weights && gather(weights, rows) }
  }) as [RowGroup, RowGroup]
  const found = parameters.map((parameter) => ({
    column: parameter.name,
    kind: parameter.kind,
    before: summary(parameter, groups[0]),
    after: summary(parameter, groups[1]),
    ...(parameter.kind === 'numeric'
      ? compareNumbers(parameter.values, groups)
      : compareNames(parameter.codes, parameter.levels.length, groups)),
  }))
  const q = benjaminiHochberg(found.map(({ p }) => p))
  return found
    .map((difference, i) => ({ ...difference, q: q[i] as number }))
    .sort(
      (a, b) =>
        Number(isSignificant(b)) - Number(isSignificant(a)) ||
        b.effect - a.effect ||
        ascending(a.column, b.column),
    )
}

/**
 * Returns the parameters whose values differ between the periods, although in neither period they separate rows of one
 * label from the other. If each period has hardly more than one label, because all requests changed, the period itself
 * tells as much as any parameter that changed with it, and none is returned.
 */
function changesOfPeriod(
  parameters: readonly Parameter[],
  { labels, periods, weights }: Pick<ParameterRows, 'labels' | 'periods' | 'weights'>,
): ParameterDifference[] {
  const rowsIn = (period: Period) =>
    Uint32Array.from(periods.keys()).filter((row) => periods[row] === period)
  const both = [rowsIn(BEFORE), rowsIn(AFTER)]
  const telling = both.filter((rows) => {
    const ofMutation = rows.filter((row) => labels[row] === 1).length
    const fewer = Math.min(ofMutation, rows.length - ofMutation)
    return (
      isTestable(rows.length - ofMutation, ofMutation) && fewer >= LEAST_SEPARATION * rows.length
    )
  })
  if (telling.length === 0 || both.some(({ length }) => length === 0)) return []
  const differing = (rows: Uint32Array) =>
    parameterDifferences(
      parameters.map((parameter) =>
        parameter.kind === 'numeric'
          ? { ...parameter, values: gather(parameter.values, rows) }
          : { ...parameter, codes: gather(parameter.codes, rows) },
      ),
      gather(labels, rows),
      weights && gather(weights, rows),
    ).filter(isSignificant)
  const tells = new Set(telling.flatMap((rows) => differing(rows).map(({ column }) => column)))
  return parameterDifferences(parameters, periods, weights).filter(
    (difference) => isSignificant(difference) && !tells.has(difference.column),
  )
}

/** Rows of one group, and how many each counts as; undefined where each once. */
interface RowGroup {
  readonly rows: Uint32Array
  readonly weights: Float64Array | undefined
}

function compareNumbers(values: Float64Array, groups: readonly [RowGroup, RowGroup]) {
  const [before, after] = groups.map(({ rows }) => gather(values, rows))
  const [beforeWeights, afterWeights] = groups.map(({ weights }) => weights)
  const { statistic, p } = ksTwoSample(before!, after!, { beforeWeights, afterWeights })
  const isMissing = values.map((value) => Number(Number.isNaN(value)))
  const missing = compareNames(Int32Array.from(isMissing), 2, groups)
  return missing.effect > (statistic || 0) ? missing : { effect: statistic || 0, p }
}

function compareNames(codes: Int32Array, levels: number, groups: readonly [RowGroup, RowGroup]) {
  const countNames = ({ rows, weights }: RowGroup) => {
    const counts = new Float64Array(levels + 1)
    rows.forEach((row, i) => {
      const code = codes[row] as number
      addAt(counts, code < 0 ? levels : code, weights?.[i] ?? 1)
    })
    const size = Math.max(1, sum(counts))
    const scale = rows.length === 0 ? 1 : worthOf(rows, weights) / size
    // Counts of as many values as they are worth.
    return { counts, size, worth: counts.map((count) => count * scale) }
  }
  const [before, after] = [countNames(groups[0]), countNames(groups[1])]
  const apart = before.counts.reduce(
    (all, count, at) => all + Math.abs(count / before.size - Number(after.counts[at]) / after.size),
    0,
  )
  return { effect: apart / 2, p: chiSquareTest(before.worth, after.worth).p }
}

function summary(parameter: Parameter, { rows, weights }: RowGroup): ParameterSummary {
  const isKnown = (row: number) =>
    parameter.kind === 'numeric'
      ? !Number.isNaN(parameter.values[row])
      : (parameter.codes[row] as number) >= 0
  const weightOf = (i: number) => weights?.[i] ?? 1
  const places = Uint32Array.from(rows.keys()).filter((i) => isKnown(rows[i] as number))
  const known = sum(places, weightOf)
  const missing = weights === undefined ? rows.length - known : sum(weights) - known
  if (parameter.kind === 'numeric') {
    const sorted = ascendingSample(
      Float64Array.from(places, (i) => parameter.values[rows[i] as number] as number),
      weights && gather(weights, places),
    )
    const at = (share: number) => quantile(sorted.values, share, sorted.weights)
    const quartiles = [at(0), at(0.25), at(0.5), at(0.75), at(1)] as const
    return { known, missing, commonest: [], quartiles: places.length === 0 ? null : quartiles }
  }
  const commonest = rollups(
    places,
    (same) => sum(same, weightOf),
    (i) => parameter.codes[rows[i] as number] as number,
  )
    .sort(([a, m], [b, n]) => n - m || a - b)
    .slice(0, COMMONEST)
    .map(([code, count]) => [parameter.levels[code] as string, count / (known + missing)] as const)
  return { known, missing, quartiles: null, commonest }
}
