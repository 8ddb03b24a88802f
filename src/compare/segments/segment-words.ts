// Runs once a request and column: the loops index with `!`.

import { greatest, range, sum } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { divided, getOrInsert } from '../../core/entries.ts'
import { condition, type Subject } from '../../traces/selection/condition.ts'
import { ALL } from '../thresholds.ts'
import type { Measured } from './measured.ts'
import {
  type CodedRows,
  FIRST_VALUE,
  MISSING,
  RARE,
  type RequestColumn,
} from './request-columns.ts'
import type { Candidate, Condition } from './scan-conditions.ts'
import type { Segment, SegmentCondition } from './segments.ts'

export interface Coded extends CodedRows {
  readonly equal: CodedRows[]
}

/** A condition in words, and the column that it is of. */
interface Told {
  readonly column: RequestColumn
  readonly told: SegmentCondition
}

/**
 * Returns single conditions that the same requests meet; for versions, which replace others, the same requests after.
 */
export function equivalentsOf(
  candidate: Candidate,
  {
    columns,
    isInside,
    measured,
  }: { columns: readonly Coded[]; isInside: Uint8Array; measured: Measured },
): Told[] {
  const { stratum, conditions } = candidate
  const { offsets, values } = measured
  const [from, to] =
    stratum === null ? [0, values.length] : [offsets[2 * stratum]!, offsets[2 * stratum + 2]!]
  const inAfter = new Uint8Array(values.length)
  for (let group = 1; group < offsets.length - 1; group += 2) {
    inAfter.fill(1, offsets[group]!, offsets[group + 1]!)
  }
  const [all, after] = [0, 1].map((least) =>
    sum(isInside, (is, row) => +(inAfter[row]! >= least && is)),
  )
  const asked = new Set(conditions.map(({ column }) => column))
  const each = columns.flatMap((coded) => [coded, ...coded.equal])
  return each.flatMap(({ column, codes }) => {
    if (asked.has(column)) return []
    const isVersion = column.attribute === 'version'
    const size = isVersion ? after! : all!
    const counts = new Map<number, [inside: number, all: number]>()
    for (let row = from; row < to; row++) {
      if (isVersion && inAfter[row] === 0) continue
      const code = codes[row]!
      const count = getOrInsert(counts, code, (): [number, number] => [0, 0])
      count[0] += isInside[row]!
      count[1]++
    }
    const within = [...counts].filter(([, [some, every]]) => some > every / 2)
    const some = sum(within, ([, [inside]]) => inside)
    const every = sum(within, ([, [, any]]) => any)
    if (some < ALL * size || some < ALL * every || every === 0) return []
    // A value common to all rows is not reported.
    if (within.length === counts.size) return []
    const own = new Set(within.map(([code]) => code))
    const others = [...counts.keys()].filter((code) => !own.has(code))
    const chosen = column.kind === 'numbers' ? asRange(own, others, column.values.length) : own
    if (chosen === null) return []
    return [{ column, told: conditionOf({ column, codes: chosen }, codesAfter(codes, measured)) }]
  })
}

/** Codes of all numbers below or from one, as far as rows have them; `null` where others lie between. */
function asRange(
  own: ReadonlySet<number>,
  others: readonly number[],
  size: number,
): ReadonlySet<number> | null {
  const missing = [MISSING, RARE].filter((code) => own.has(code))
  const [inside, outside] = [[...own], others].map((some) => some.filter((code) => code > RARE))
  const [low, high] = [Math.min(...inside!), Math.max(...inside!)]
  if (inside!.length === 0) return own
  if (outside!.length > 0 && high < Math.min(...outside!)) {
    return new Set([...missing, ...range(FIRST_VALUE, high + 1)])
  }
  if (low < Math.max(...outside!)) return null
  return new Set([...missing, ...range(outside!.length === 0 ? FIRST_VALUE : low, size)])
}

/**
 * Conditions and equivalents as told: of places that alone run a version, that, as it can be taken back; of a
 * place that names the same as one of which there are more, that: a host alone in its zone.
 */
export function placesFirst(found: readonly Told[], same: readonly Told[]) {
  const place = found.find(({ told }) => isOfPlace(told.attribute) && told.attribute !== 'version')
  const ofService = same.filter(({ told }) => told.service === place?.told.service)
  const ofOne = [...found.filter(isOnePlace), ...ofService.filter(isOnePlace)]
  const closest = greatest(ofOne, ({ column }) => column.values.length)
  const first = ofService.find(({ told }) => told.attribute === 'version') ?? closest
  const [conditions, equivalents] = [found, same].map((some) => some.map(({ told }) => told))
  if (place === undefined || first === undefined || found.includes(first))
    return { conditions: conditions!, equivalents: textsOf(equivalents!) }
  const others = equivalents!.filter((one) => one !== first.told)
  return { conditions: [first.told], equivalents: [textOf(conditions!), ...textsOf(others)] }
}

function isOnePlace({ told: { attribute, op, values } }: Told): boolean {
  return isOfPlace(attribute) && attribute !== 'version' && op === 'is' && values.length === 1
}

function textsOf(conditions: readonly SegmentCondition[]): string[] {
  return conditions.map(({ text }) => text)
}

export function textOf(conditions: readonly SegmentCondition[]): string {
  return textsOf(conditions).join(' and ')
}

export function operationIs(step: Segment['step'], operation: string | null): string {
  const subject = { service: step?.service ?? null, attribute: 'operation', isAttribute: false }
  return operation === null ? '' : condition(subject, 'is', [operation]).text
}

/** Codes that rows after have. */
export function codesAfter(codes: Uint16Array, { offsets }: Measured): ReadonlySet<number> {
  const after = new Set<number>()
  for (let group = 1; group < offsets.length - 1; group += 2) {
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) after.add(codes[row]!)
  }
  return after
}

/** Returns the name of a column in conditions. */
export function subjectOf({ service, attribute }: Pick<Subject, 'service' | 'attribute'>): Subject {
  return { service, attribute, isAttribute: !['host', 'version'].includes(attribute) }
}

/** @param occurring codes that are reported; others are of before alone */
export function conditionOf(
  { column, codes }: Condition,
  occurring: ReadonlySet<number>,
): SegmentCondition {
  const { attribute, service, kind, values, hasMissing, hasRare } = column
  const subject = subjectOf({ service, attribute })
  const isOfNumbers = kind === 'numbers'
  // Numbers are never rare: they were not recorded there.
  const holdsMissing = (hasMissing && codes.has(MISSING)) || (isOfNumbers && codes.has(RARE))
  if (kind === 'called') return condition(subject, holdsMissing ? 'does not call' : 'calls')
  const all = range(FIRST_VALUE, values.length)
  const known = isOfNumbers ? all : all.filter((code) => occurring.has(code))
  const [used, unused] = divided(known, (code) => codes.has(code))
  const texts = (some: readonly number[]) => some.map((code) => values[code]!)
  if (used.length === 0) return condition(subject, 'not recorded')
  const holdsRare = hasRare && codes.has(RARE)
  if (unused.length === 0 && (isOfNumbers || holdsRare === hasRare) && !holdsMissing) {
    return condition(subject, 'recorded')
  }
  if (isOfNumbers) {
    const isBelow = codes.has(FIRST_VALUE)
    const limit = isBelow ? used.at(-1)! + 1 : used[0]!
    return condition(subject, isBelow ? 'below' : 'from', texts([limit]), holdsMissing)
  }
  const isRest = holdsRare || (!hasRare && known.length > 2 && used.length > unused.length)
  return isRest
    ? condition(subject, 'is not', texts(unused), hasMissing && !holdsMissing)
    : condition(subject, 'is', texts(used), holdsMissing)
}
