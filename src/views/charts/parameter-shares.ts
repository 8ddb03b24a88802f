import { sort, sum } from 'd3-array'
import { grouped } from '../../core/words.ts'
import type { Parameter } from '../../explain/parameters/parameter-table.ts'
import { quantile } from '../../stats/quantile.ts'
import { movedAlong, shareAlong } from './axes.ts'

export type SharePair = readonly [number, number]

export interface ValueShares {
  readonly label: string
  readonly shares: SharePair
  /** `value`; `others`: the rest, summed up; `missing`: rows without a value. */
  readonly kind: 'value' | 'others' | 'missing'
}

export type ParameterShares =
  | { readonly kind: 'values'; readonly values: readonly ValueShares[] }
  | {
      readonly kind: 'histogram'
      readonly bins: readonly {
        readonly from: number
        readonly to: number
        readonly shares: SharePair
      }[]
      readonly isLog: boolean
      /** Whether the first and the last bin also have all that lies beyond them. */
      readonly isClipped: readonly [low: boolean, high: boolean]
      readonly missing: SharePair
    }

/** Most values of numbers that are shown value by value. */
const FEW_VALUES = 6
const BINS = 24
/** Share of a group at the ends that does not stretch the axis. */
const TAIL = 0.01
/** Bins are equal in ratio where the largest value is this many times the smallest. */
const WIDE = 100

/** Distributes one parameter in two groups of rows, labelled 0 and 1; of names the commonest. */
export function parameterShares(
  parameter: Parameter,
  labels: Uint8Array,
  {
    limit = 5,
    weights,
  }: { readonly limit?: number | undefined; readonly weights?: Float64Array | undefined } = {},
): ParameterShares {
  const rows = { labels, weights }
  const sizes = [0, 1].map((label) =>
    sum(labels, (own, row) => (own === label ? (weights?.[row] ?? 1) : 0)),
  ) as [number, number]
  const share = ([zero, one]: SharePair): SharePair => [
    zero / Math.max(1, sizes[0]),
    one / Math.max(1, sizes[1]),
  ]
  if (parameter.kind === 'categorical') {
    const { codes, levels } = parameter
    const { counts, missing } = countCodes(codes, rows, levels.length)
    const values = counts.map((pair, code) => ({ label: levels[code] as string, pair }))
    return {
      kind: 'values',
      values: commonest(values, missingValue(share(missing)), { limit, share }),
    }
  }
  const distinct = sort(new Set(parameter.values)).filter((value) => !Number.isNaN(value))
  if (distinct.length > FEW_VALUES) return histogram(parameter.values, rows, share)
  const codes = Int32Array.from(parameter.values, (value) => distinct.indexOf(value))
  const { counts, missing } = countCodes(codes, rows, distinct.length)
  const values = counts.map((pair, code) => ({
    label: numberText(distinct[code] as number),
    shares: share(pair),
    kind: 'value' as const,
  }))
  return { kind: 'values', values: [...values, ...missingValue(share(missing))] }
}

export function numberText(value: number): string {
  const short = Number.isInteger(value) ? value : Number(value.toPrecision(4))
  const text = Number.isInteger(short) ? grouped(Math.abs(short)) : String(Math.abs(short))
  return short < 0 ? `−${text}` : text
}

type CountPair = [number, number]

/** The group of each row, and how many each counts as; undefined where each once. */
interface GroupedRows {
  readonly labels: Uint8Array
  readonly weights?: Float64Array | undefined
}

export function countCodes(codes: Int32Array, { labels, weights }: GroupedRows, size: number) {
  const counts = Array.from({ length: size }, (): CountPair => [0, 0])
  const missing: CountPair = [0, 0]
  codes.forEach((code, row) => {
    const pair = code < 0 ? missing : (counts[code] as CountPair)
    pair[labels[row] as 0 | 1] += weights?.[row] ?? 1
  })
  return { counts, missing }
}

function commonest(
  values: readonly { readonly label: string; readonly pair: CountPair }[],
  missing: ValueShares[],
  { limit, share }: { limit: number; share: (pair: SharePair) => SharePair },
): ValueShares[] {
  const known = values
    .filter(({ pair: [zero, one] }) => zero + one > 0)
    .map(({ label, pair }) => ({ label, shares: share(pair), kind: 'value' as const }))
    .sort((a, b) => Math.max(...b.shares) - Math.max(...a.shares))
  // A row of its own for one is no longer than a row that sums it up.
  const shown = known.length === limit + 1 ? known : known.slice(0, limit)
  const others = known.slice(shown.length)
  if (others.length === 0) return [...shown, ...missing]
  const of = (group: 0 | 1) => sum(others, ({ shares }) => shares[group])
  const label = `${grouped(others.length)} others`
  return [...shown, { label, shares: [of(0), of(1)], kind: 'others' }, ...missing]
}

function missingValue(shares: SharePair): ValueShares[] {
  return shares.some((one) => one > 0) ? [{ label: 'missing', shares, kind: 'missing' }] : []
}

function histogram(
  values: Float64Array,
  rows: GroupedRows,
  share: (pair: SharePair) => SharePair,
): ParameterShares {
  const groups = [0, 1].map((label) =>
    values.filter((value, row) => rows.labels[row] === label && !Number.isNaN(value)).sort(),
  )
  const some = groups.filter(({ length }) => length > 0)
  const least = Math.min(...some.map((group) => group[0] as number))
  const most = Math.max(...some.map((group) => group.at(-1) as number))
  const inner = [
    Math.min(...some.map((group) => quantile(group, TAIL))),
    Math.max(...some.map((group) => quantile(group, 1 - TAIL))),
  ] as const
  // Where nearly all values are one, the tails are all there is to see.
  const [low, high] = inner[0] < inner[1] ? inner : ([least, most] as const)
  const isLog = low > 0 && high / low > WIDE
  const span = { low, high, isLog }
  const edge = (at: number) => (at === BINS ? high : movedAlong(span, low, at / BINS))
  const codes = Int32Array.from(values, (value) => {
    if (Number.isNaN(value)) return -1
    return value <= low ? 0 : Math.min(BINS - 1, Math.floor(shareAlong(span, value) * BINS))
  })
  const { counts, missing } = countCodes(codes, rows, BINS)
  return {
    kind: 'histogram',
    isLog,
    isClipped: [least < low, most > high],
    bins: counts.map((pair, at) => ({ from: edge(at), to: edge(at + 1), shares: share(pair) })),
    missing: share(missing),
  }
}
