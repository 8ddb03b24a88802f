import { group } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { codeText } from '../../core/code-literals.ts'
import type { OptionAdvice } from '../../core/errors.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { moments } from '../../stats/moments.ts'
import { Dictionary } from '../../traces/dictionary.ts'

import {
  type CategorySizes,
  categorySizes,
  type ExplosionVariants,
  type Variant,
} from './find-causes.ts'

/** An attribute that could become part of labels, and what comes of it. */
export interface Split extends CategorySizes {
  readonly attribute: string
  readonly labelBy: readonly string[]
}

/**
 * Tries attributes as parts of labels: those first that explain most of the variance of response times
 * within categories (ω², which many small groups do not raise).
 */
export function findSplits(variants: ExplosionVariants, most: number): Split[] {
  const { categories } = variants
  const { labelBy } = categories.flows.options
  if (most === 0) return []
  const tried = attributesOf(categories.flows)
    .filter((attribute) => !labelBy.includes(attribute))
    .map((attribute) => ({ attribute, explained: explainedBy(attribute, categories) }))
    .filter(({ explained }) => explained > 0)
    .sort((a, b) => b.explained - a.explained)
    .slice(0, most)
  return tried.map(({ attribute }) => {
    const variant: Variant = { labelBy: [...labelBy, attribute] }
    const sizes = categorySizes(variants.categorize(variant))
    return { attribute, labelBy: [...labelBy, attribute], ...sizes }
  })
}

const RESOURCE = 'resource.'

function attributesOf({ periods }: FlowSet): string[] {
  const keys = periods.flatMap((traces) =>
    traces.kind === 'spans' ? traces.attributes.keys.values : [],
  )
  return [
    ...new Set(keys.map((key) => (key.startsWith(RESOURCE) ? key.slice(RESOURCE.length) : key))),
  ]
}

/** Share of the variance within categories and periods that lies between requests of other values. */
function explainedBy(attribute: string, categories: Categories): number {
  const { flows, categoryOf } = categories
  const values = new Dictionary()
  const readers = flows.periods.map((traces) =>
    traces.reader({ attribute, service: null, isAttribute: true }),
  )
  const rows = Array.from(flows.shapeOf, (_, row) => {
    const [value = ''] =
      readers[flows.recordedIn[row] as number]?.(flows.traceOf[row] as number) ?? []
    return { row, value: values.code(bucketOf(value)) }
  })
  let [within, total, groups, cells] = [0, 0, 0, 0]
  const byCategory = group(
    rows,
    ({ row }) => 2 * (categoryOf[row] as number) + (flows.period[row] as number),
  )
  for (const own of byCategory.values()) {
    const timesOf = (some: typeof own) =>
      moments(Float64Array.from(some, ({ row }) => flows.responseTimeUs[row] as number))
    const sumOfSquares = ({ count, variance }: ReturnType<typeof moments>) =>
      count < 2 ? 0 : variance * (count - 1)
    total += sumOfSquares(timesOf(own))
    groups++
    for (const cell of group(own, ({ value }) => value).values()) {
      within += sumOfSquares(timesOf(cell))
      cells++
    }
  }
  const error = within / (rows.length - cells)
  return rows.length <= cells ? 0 : (total - within - (cells - groups) * error) / (total + error)
}

/** Roughly as labels have it: numbers by their power of two. */
function bucketOf(value: unknown): string {
  return typeof value === 'number' && value >= 1
    ? `2^${Math.floor(Math.log2(value))}`
    : String(value)
}

/** A change of categories that gains something and loses nothing. */
export interface Proposal extends CategorySizes {
  readonly change: 'merge' | 'split'
  /** Remedy that merges, or attribute that splits. */
  readonly by: string
  readonly code: string
  readonly options: OptionAdvice | null
}

interface Tried {
  readonly sizes: CategorySizes
  readonly remedies: readonly (Omit<Proposal, 'change' | 'by'> & { readonly remedy: string })[]
  readonly splits: readonly Split[]
}

/** What makes more requests testable or lowers C², and not the other worse; the best first. */
export function proposalsOf({ sizes: now, remedies, splits }: Tried): Proposal[] {
  const merges = remedies.map(({ remedy, ...rest }): Proposal => {
    return { ...rest, change: 'merge', by: remedy }
  })
  const divides = splits.map(({ attribute, labelBy, ...sizes }): Proposal => {
    const options = { labelBy }
    return { ...sizes, change: 'split', by: attribute, options, code: codeOf(options) }
  })
  const isGain = (proposal: Proposal) => {
    const { gains, loses } = effectOf(proposal, now)
    return gains !== '' && loses === ''
  }
  return [...merges, ...divides].filter(isGain).sort(bestFirst)
}

/** Most requests testable, then the least C², then most categories. */
export function bestFirst(a: CategorySizes, b: CategorySizes): number {
  return shareOf(b) - shareOf(a) || spreadOf(a) - spreadOf(b) || b.categories - a.categories
}

export function codeOf(options: OptionAdvice = {}): string {
  return Object.entries(options)
    .map(([name, value]) => `${name}: ${codeText(value)}`)
    .join(', ')
}

/** What of the two a change makes better, and what worse; both as they are shown, in two digits. */
export function effectOf(now: CategorySizes, before: CategorySizes) {
  const changes = [
    { what: 'testable requests', by: shareOf(now) - shareOf(before) },
    { what: 'C²', by: spreadOf(before) - spreadOf(now) },
  ] as const
  const names = (found: readonly (typeof changes)[number][]) =>
    found.map(({ what }) => what).join(' and ')
  return {
    gains: names(changes.filter(({ by }) => by > 0)),
    loses: names(changes.filter(({ by }) => by < 0)),
  }
}

function shareOf({ testableShare }: CategorySizes): number {
  return Math.round(100 * (testableShare || 0))
}

/** C² in hundredths; none is as bad as any. */
function spreadOf({ medianC2 }: CategorySizes): number {
  return Number.isNaN(medianC2) ? Number.MAX_VALUE : Math.round(medianC2 * 100)
}
