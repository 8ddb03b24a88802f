import { InternalError } from '../../core/errors.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { Explanation, type ExplanationSubject } from './explanation.ts'
import type { Parameter } from './parameter.ts'
import type { ParameterQuestion, TreeChoice } from './parameter-question.ts'
import { ParameterTable } from './parameter-table.ts'

/** A parameter as JSON; numbers with few values, and names, as places in a list of them. */
export type CarriedParameter = {
  readonly name: string
  readonly attribute: string
  readonly occurrence: number
  /** Place in `places`. */
  readonly place: number
} & (
  | { readonly numbers: readonly (number | null)[] }
  | { readonly values: readonly number[]; readonly codes: readonly number[] }
  | { readonly levels: readonly string[]; readonly codes: readonly number[] }
)

/** A question's table as JSON. */
export interface CarriedTable {
  /** 0 precursor, 1 mutation, a digit a row. */
  readonly labels: string
  /** In µs; null where a row has none. */
  readonly timesUs: readonly (number | null)[]
  readonly parameters: readonly CarriedParameter[]
  /** Trace of each row; null where there was no room. */
  readonly traces: readonly string[] | null
  /** Parameters in the table that are not here. */
  readonly dropped: number
}

/** An explanation as JSON, from which it can be had again, parameters taken out and put back. */
export interface ExplanationRows {
  readonly subject: ExplanationSubject
  readonly places: readonly NodeLabel[]
  readonly differs: CarriedTable | null
  readonly slow: CarriedTable | null
  readonly slowAboveUs: number
  readonly excluded: readonly string[]
  readonly growth: TreeChoice
}

/**
 * The rows of an explanation with all parameters that it uses or that were taken out of it, as JSON
 * of at most about `limit` characters. Where there is not room for all, the names of traces go first,
 * then parameters, those that come last in `order`, and are counted.
 *
 * Numbers have at least 7 digits, and as many more as keep different values apart: trees of them
 * divide rows as before.
 *
 * @param order names of parameters, those that must not be dropped first
 */
export function explanationRows(
  explanation: Explanation,
  { order, limit }: { readonly order: readonly string[]; readonly limit: number },
): ExplanationRows {
  const { subject, excluded, growth, questions } = explanation
  const places: NodeLabel[] = []
  const each = limit / Math.max(1, questions.length)
  const carry = (name: ParameterQuestion['question']) => {
    const asked = explanation.question(name)
    return asked === undefined
      ? null
      : carriedTable(asked, { excluded, places, order, limit: each })
  }
  return {
    ...{ subject, places, differs: carry('what-differs'), slow: carry('what-is-slow') },
    slowAboveUs: explanation.question('what-is-slow')?.slowAboveUs ?? 0,
    ...{ excluded, growth },
  }
}

/** The explanation that rows were carried of: trees are grown by the same code from the same rows. */
export function restoreExplanation(rows: ExplanationRows): Explanation {
  const { subject, places, differs, slow, slowAboveUs, excluded, growth } = rows
  const names = [differs, slow].flatMap((table) =>
    table === null ? [] : table.parameters.map(({ name }) => name),
  )
  // What is here was in use, or can be put back: no name of an identifier takes it out once more.
  const include = [...new Set(names)].filter((name) => !excluded.includes(name))
  const choice = { include, exclude: excluded }
  const restore = (table: CarriedTable | null) =>
    table === null ? null : restoreTable(table, places, choice)
  const tables = { differs: restore(differs), slow: restore(slow), slowAboveUs }
  return new Explanation(subject, { tables, choice, growth })
}

interface Carrying {
  readonly excluded: readonly string[]
  readonly places: NodeLabel[]
  readonly order: readonly string[]
  readonly limit: number
}

function carriedTable(
  { table, slowAboveUs }: ParameterQuestion,
  { excluded, places, order, limit }: Carrying,
): CarriedTable {
  const include = [...table.parameters.map(({ name }) => name), ...excluded]
  const all = table.choose({ include, exclude: [] }).parameters
  const rankOf = new Map(order.map((name, rank) => [name, rank]))
  const rank = ({ name }: Parameter) => rankOf.get(name) ?? order.length
  const { labels, timeUs } = table.rows
  const own = { labels: labels.join(''), timesUs: shortNumbers(timeUs, slowAboveUs) }
  let size = JSON.stringify(own).length
  const kept = new Map<string, CarriedParameter>()
  for (const parameter of all.toSorted((a, b) => rank(a) - rank(b))) {
    const carried = carriedParameter(parameter, places)
    size += JSON.stringify(carried).length
    // A tree of nothing is no use: the first is there however large it is.
    if (size <= limit || kept.size === 0) kept.set(parameter.name, carried)
  }
  // In the order of the table: of equally good parameters, trees take the first.
  const parameters = all.flatMap(({ name }) => kept.get(name) ?? [])
  const traces = table.table().array('trace') as string[]
  const hasRoom = size + JSON.stringify(traces).length <= limit
  return {
    ...{ ...own, parameters, traces: hasRoom ? traces : null },
    dropped: all.length - parameters.length,
  }
}

function carriedParameter(parameter: Parameter, places: NodeLabel[]): CarriedParameter {
  const { name, source } = parameter
  const { node, occurrence, attribute } = source
  const known = places.findIndex((place) => isSame(place, node))
  const place = known < 0 ? places.push(node) - 1 : known
  const own = { name, attribute, occurrence, place }
  if (parameter.kind === 'categorical') {
    return { ...own, levels: parameter.levels, codes: Array.from(parameter.codes) }
  }
  const numbers = shortNumbers(parameter.values)
  const values = [...new Set(numbers)].filter((value) => value !== null).sort((a, b) => a - b)
  if (values.length > numbers.length / 2) return { ...own, numbers }
  const codeOf = new Map<number | null, number>(values.map((value, code) => [value, code]))
  return { ...own, values, codes: numbers.map((value) => codeOf.get(value) ?? -1) }
}

function isSame(a: NodeLabel, b: NodeLabel): boolean {
  return (
    a.service === b.service &&
    a.operation === b.operation &&
    a.host === b.host &&
    a.phase === b.phase
  )
}

/** How many digits numbers may have, the fewest first; 17 are always enough. */
const DIGITS = [7, 10, 13, 17]

/** Numbers without digits that are not needed to tell them from each other and from `apart`. */
function shortNumbers(values: Float64Array, apart: number | null = null): (number | null)[] {
  const known = values.filter((value) => !Number.isNaN(value))
  const distinct = [...new Set(apart === null ? known : [...known, apart])]
  const digits = DIGITS.find((count) => {
    const short = distinct.map((value) => Number(value.toPrecision(count)))
    // The border itself stays as it is: none may come to lie on its other side.
    const isAbove = (value: number) => apart !== null && value > apart
    return (
      new Set(short).size === distinct.length &&
      distinct.every((value, i) => isAbove(value) === isAbove(short[i] as number))
    )
  })
  return Array.from(values, (value) =>
    Number.isNaN(value) ? null : digits === undefined ? value : Number(value.toPrecision(digits)),
  )
}

function restoreTable(
  { labels, timesUs, parameters, traces }: CarriedTable,
  places: readonly NodeLabel[],
  choice: { readonly include: readonly string[]; readonly exclude: readonly string[] },
): ParameterTable {
  const numbers = (values: readonly (number | null)[]) =>
    Float64Array.from(values, (value) => value ?? Number.NaN)
  const all = parameters.map((carried): Parameter => {
    const { name, attribute, occurrence, place } = carried
    const node = places[place]
    if (node === undefined)
      throw new InternalError(`a parameter was carried without place ${place}`)
    const source = { node, occurrence, attribute }
    if ('levels' in carried) {
      const { levels, codes } = carried
      return { name, kind: 'categorical', levels, codes: Int32Array.from(codes), source }
    }
    if ('numbers' in carried) {
      return { name, kind: 'numeric', values: numbers(carried.numbers), source }
    }
    const { values, codes } = carried
    return {
      name,
      kind: 'numeric',
      values: numbers(codes.map((code) => values[code] ?? null)),
      source,
    }
  })
  const rows = {
    requests: Uint32Array.from(timesUs, (_, row) => row),
    labels: Uint8Array.from(labels, Number),
    timeUs: numbers(timesUs),
    startUs: new Float64Array(timesUs.length),
  }
  // The requests themselves are not carried: a table asks for nothing but their traces.
  const flows = { ids: traces ?? timesUs.map((_, row) => String(row)) } as unknown as FlowSet
  return new ParameterTable(flows, { all, rows }, choice)
}
