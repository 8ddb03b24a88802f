import type { NodeLabel } from '../../flows/node-labels.ts'
import type { TreeColumn } from '../../stats/decision-tree/tree.ts'
import {
  type LeftOutReason,
  NEARLY_UNIQUE,
  namesFew,
  reasonOfName,
  reasonOfTexts,
} from '../../traces/attribute-names.ts'

/** Where in the flow a parameter was recorded, and under which name. */
export interface ParameterSource {
  readonly node: NodeLabel
  /** Counts nodes of that label in the template, from 1; 0 where there is only one. */
  readonly occurrence: number
  readonly attribute: string
}

/** A low-level parameter: one value a row, with the place it was recorded at. */
export type Parameter = TreeColumn & { readonly source: ParameterSource }

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

/** Whether a number goes up, or down, from one request to the next in both groups. */
function countsRequests(values: Float64Array, { labels, startUs }: RowOrder): boolean {
  const groups = [0, 1].map((label) =>
    Array.from(values, (_, row) => row)
      .filter((row) => labels[row] === label && !Number.isNaN(values[row] as number))
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
