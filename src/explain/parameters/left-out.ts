import type { TreeColumn } from '../../stats/decision-tree/tree.ts'
import { reasonOfName } from './attribute-names.ts'
import type { LeftOutReason, Parameter } from './parameter.ts'

const ADDRESS_TEXT =
  /^(\/?\d{1,3}(\.\d{1,3}){3}(:\d+)?|0x[0-9a-f]{6,}|[0-9a-f]{0,4}(:[0-9a-f]{0,4}){4,7})$/i
const MOMENT_TEXT = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/

/** Text of which there are more values than this share of the rows names rows, not kinds. */
const NEARLY_UNIQUE = 0.5
/** A number that rises in this share of the steps from request to request counts them. */
const RISING = 0.98
const FEWEST_FOR_COUNTER = 20
/** Rows that an id needs on average to be the id of a kind. */
const FEWEST_OF_A_KIND = 10

/** What is known of the rows of a table. */
export interface RowOrder {
  /** 0 precursor, 1 mutation. */
  readonly labels: Uint8Array
  /** When each row's request arrived, in µs since the start of its period. */
  readonly startUs: Float64Array
}

/** Why a parameter is of no use for telling requests apart; `null` where it may be. */
export function reasonToLeaveOut(parameter: Parameter, rows: RowOrder): LeftOutReason | null {
  const named = reasonOfName(parameter.source.attribute)
  if (named !== null && !(named === 'identifier' && namesFew(parameter))) return named
  return parameter.kind === 'numeric'
    ? reasonOfNumbers(parameter.values, rows)
    : reasonOfTexts(parameter)
}

/** Ids of a few tenants, shards or customers are kinds of request. */
function namesFew(parameter: Parameter): boolean {
  if (parameter.kind === 'numeric') return false
  const known = parameter.codes.reduce((count, code) => count + Number(code >= 0), 0)
  return parameter.levels.length > 1 && parameter.levels.length * FEWEST_OF_A_KIND <= known
}

function reasonOfNumbers(values: Float64Array, rows: RowOrder): LeftOutReason | null {
  const distinct = new Set(values.filter((value) => !Number.isNaN(value))).size
  if (distinct < 2) return 'constant'
  return distinct > NEARLY_UNIQUE * values.length && countsRequests(values, rows) ? 'counter' : null
}

/** Whether a number goes up, or down, from one request to the next in both groups. */
function countsRequests(values: Float64Array, { labels, startUs }: RowOrder): boolean {
  const groups = [0, 1].map((label) =>
    Array.from(values, (_, row) => row)
      .filter((row) => labels[row] === label && !Number.isNaN(values[row] as number))
      .sort((a, b) => (startUs[a] as number) - (startUs[b] as number)),
  )
  const long = groups.filter(({ length }) => length >= FEWEST_FOR_COUNTER)
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

function reasonOfTexts({
  codes,
  levels,
}: Extract<TreeColumn, { kind: 'categorical' }>): LeftOutReason | null {
  if (levels.length < 2) return levels.length === 1 && isMoment(levels) ? 'timestamp' : 'constant'
  if (levels.every((level) => ADDRESS_TEXT.test(level))) return 'address'
  if (isMoment(levels)) return 'timestamp'
  const known = codes.reduce((count, code) => count + Number(code >= 0), 0)
  return levels.length > NEARLY_UNIQUE * known ? 'unique' : null
}

function isMoment(levels: readonly string[]): boolean {
  return levels.every((level) => MOMENT_TEXT.test(level))
}
