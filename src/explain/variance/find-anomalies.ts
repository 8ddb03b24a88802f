import { group, permute, range, sum } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { formatAmount, TIME } from '../../core/quantity.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { counted, grouped, percent, tooltipText } from '../../core/words.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import { nameOfPeriod, type Period, type PeriodName, periodOfName } from '../../traces/period.ts'
import { answered, tableOf } from '../parameters/explain.ts'
import {
  type Explanation,
  explainSettings,
  MUTATION_WORDS,
  pathSentence,
} from '../parameters/explanation.ts'
import { sampleRequests } from '../parameters/parameter-table.ts'
import { type EdgeVariance, edgeTimes } from './category-variance.ts'
import { type Mode, modesOf } from './merged-behaviors.ts'

/** An edge on which requests far out spend more time than the others of their category. */
export interface AnomalousEdge extends Pick<EdgeVariance, 'edge' | 'from' | 'to' | 'occurrence'> {
  /** Mean time on the critical path, in µs, of the requests far out and of the others. */
  readonly meanUs: number
  readonly usualUs: number
  /** Its share of the excess time of the requests far out. */
  readonly share: number
}

/** Requests of one category and period that are far slower than the others, with their distinguishing features. */
export interface Anomaly {
  readonly category: number
  readonly period: PeriodName
  readonly root: string
  /**
   * Number of requests far out, and of all requests of the category. With `counts: 'weighted'`, the number that they
   * stand for.
   */
  readonly requests: number
  readonly of: number
  /** Median of their response times, and of those they are compared with, in µs. */
  readonly medianUs: number
  readonly usualUs: number
  /** Total time they take longer, in µs. */
  readonly excessUs: number
  /** Edges with the excess time, the largest share first. */
  readonly edges: readonly AnomalousEdge[]
  /** Numbers of the requests in the flows, the slowest first. */
  readonly members: readonly number[]
  /** Trace ids of the first of them. */
  readonly exemplars: readonly string[]
  /** Attributes that separate them from the others. */
  readonly explanation: Explanation
}

const MAX_EXEMPLARS = 3
const MAX_USUAL = 2000
const MAX_TOLD = { anomalies: 5, edges: 2 } as const
/** Edges with less of the excess are not told. */
const MIN_SHARE = 0.05

/**
 * Finds requests far outside a mode of their category's response times (cache hits and misses are two modes, for
 * example): beyond Tukey's outer fence of the mode's logarithms (upper quartile and three interquartile ranges), and
 * before the next mode. With `counts: 'weighted'`, a request counts its sampling weight; the size of a category is its
 * number of recorded requests.
 *
 * Source: Sambasivan 2013, §2.4, §6.1.1 and §7.6.1, which ask for tails; the fence is our own.
 */
export function findAnomalies(
  categories: Categories,
  { large, periods }: { readonly large: number; readonly periods: readonly Period[] },
): Anomalies {
  const anomalies = periods.flatMap((period) =>
    range(categories.size)
      .filter((category) => categories.count(category, period) > large)
      .flatMap((category) => anomaliesIn(categories, { category, period })),
  )
  return new Anomalies({
    categories,
    periods: periods.map(nameOfPeriod),
    anomalies: anomalies.sort((a, b) => b.excessUs - a.excessUs),
  })
}

interface Place {
  readonly category: number
  readonly period: Period
}

function anomaliesIn(categories: Categories, place: Place): Anomaly[] {
  const { category, period } = place
  const { responseTimeUs } = categories.flows
  const timeOf = (request: number) => responseTimeUs[request] as number
  const members = [...categories.members(category, period)].sort((a, b) => timeOf(a) - timeOf(b))
  return modesOf(categories.ascendingTimes(category, period))
    .filter((mode) => mode.beyond < mode.to)
    .map((mode) => anomaly(categories, place, { members, mode }))
}

function anomaly(
  categories: Categories,
  place: Place,
  { members, mode }: { readonly members: readonly number[]; readonly mode: Mode },
): Anomaly {
  const { flows } = categories
  const { category, period } = place
  const sides = { others: members.slice(0, mode.beyond), far: members.slice(mode.beyond, mode.to) }
  const timeOf = (request: number) => flows.responseTimeUs[request] as number
  const countOf = (request: number) => flows.countOf(request)
  const medianOf = (some: readonly number[]) => {
    const { values, weights } = ascendingSample(some.map(timeOf), flows.countsOf(some))
    return quantile(values, 0.5, weights)
  }
  const usualUs = medianOf(sides.others)
  const slowestFirst = sides.far.toSorted((a, b) => timeOf(b) - timeOf(a))
  let explanation: Explanation | undefined
  return {
    category,
    period: nameOfPeriod(period),
    root: categories.root(category),
    requests: Math.round(sum(sides.far, countOf)),
    of: Math.round(categories.counted(category, period)),
    medianUs: medianOf(sides.far),
    usualUs,
    excessUs: sum(sides.far, (request) => countOf(request) * (timeOf(request) - usualUs)),
    edges: edgesWithExcess(categories, place, sides),
    members: slowestFirst,
    exemplars: slowestFirst.slice(0, MAX_EXEMPLARS).map((request) => flows.ids[request] as string),
    get explanation() {
      explanation ??= explainSides(categories, category, sides)
      return explanation
    },
  }
}

type Sides = Readonly<Record<'others' | 'far', readonly number[]>>

function edgesWithExcess(
  categories: Categories,
  { category, period }: Place,
  sides: Sides,
): AnomalousEdge[] {
  const { edgeClasses } = categories.structure(category)
  const { requests, weights, criticalUs, responseTimeUs } = edgeTimes(categories, category, period)
  const meansOf = (side: readonly number[]) => {
    const own = new Set(side)
    const rows = [...requests.keys()].filter((row) => own.has(requests[row] as number))
    const counts = weights && permute(weights, rows)
    return [...criticalUs, responseTimeUs].map((us) => moments(permute(us, rows), counts).mean)
  }
  const [usual, now] = [meansOf(sides.others), meansOf(sides.far)]
  const longerUs = (edge: number) => (now[edge] as number) - (usual[edge] as number)
  return edgeClasses
    .map(({ intoJoin: _, ...ends }, edge) => ({
      edge,
      ...ends,
      meanUs: now[edge] as number,
      usualUs: usual[edge] as number,
      share: longerUs(edge) / longerUs(edgeClasses.length),
    }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share)
}

const WORDS = { ...MUTATION_WORDS, mutation: 'among the slowest', precursor: 'not' }

function explainSides(categories: Categories, category: number, { others, far }: Sides) {
  const settings = explainSettings({ question: 'what-differs' })
  const { choice, seed } = settings
  const [usual = []] = sampleRequests([others], { sample: MAX_USUAL, seed })
  const side = { category, positions: range(categories.nodeCount(category)) }
  const sides = [
    { ...side, label: 0, requests: usual },
    { ...side, label: 1, requests: far },
  ] as const
  const title = `${categories.root(category)}, category ${category}`
  const subject = { title, time: 'response time', rows: 'request', words: WORDS }
  const differs = () => tableOf(categories, sides, { choice })
  return answered(categories.flows, subject, { ...settings, differs })
}

/** Anomalies of one category and period. */
export interface AnomalyGroup {
  readonly anomalies: readonly Anomaly[]
  /** Numbers of the requests far out, those of an anomaly the slowest first. */
  readonly members: readonly number[]
  /** Numbers of the requests that they are compared with, the fastest first. */
  readonly usual: readonly number[]
  /** The one in the middle of these; empty if there are none. */
  readonly typical: readonly number[]
}

/** Requests far slower than the others of their kind: what `variance.anomalies()` finds. */
export class Anomalies extends columnarStage<{
  readonly categories: Categories
  readonly periods: readonly PeriodName[]
  /** Those that take most time longer first. */
  readonly anomalies: readonly Anomaly[]
}>() {
  /** Anomalies by category and period, each with what they are compared with. */
  get groups(): AnomalyGroup[] {
    const { anomalies, categories } = this
    const { responseTimeUs } = categories.flows
    const groups = group(anomalies, ({ category, period }) => `${category} ${period}`)
    return Array.from(groups.values(), (found) => {
      const [{ category, period }] = found as [Anomaly]
      const members = found.flatMap((each) => each.members)
      const unlike = new Set(members)
      const usual = [...categories.members(category, periodOfName(period))]
        .filter((request) => !unlike.has(request))
        .sort((a, b) => (responseTimeUs[a] as number) - (responseTimeUs[b] as number))
      const middle = usual.length >> 1
      return { anomalies: found, members, usual, typical: usual.slice(middle, middle + 1) }
    })
  }

  /** Returns one row per anomaly. */
  table(): StageTable {
    const { anomalies, categories } = this
    return rowTable(
      anomalies,
      {
        ...own('category period root requests of medianUs usualUs excessUs'),
        apart: (each) => this.#edgeTexts(each).join('; '),
        exemplars: ({ exemplars }) => exemplars.join(', '),
      },
      categories.flows.quantity,
    )
  }

  /** Describes the first of them, with their distinguishing features. */
  text(): string {
    const { anomalies, categories } = this
    const kind = categories.flows.quantity === TIME ? 'Slow' : 'Large'
    const requests = sum(anomalies, (each) => each.requests)
    const count =
      anomalies.length === 0
        ? 'none.'
        : `${counted(requests, 'request')} in ${counted(anomalies.length, 'category', 'categories')}.`
    const more = anomalies.length - MAX_TOLD.anomalies
    return [
      `${kind} requests, far out in their category: ${count}`,
      ...anomalies.slice(0, MAX_TOLD.anomalies).flatMap((each) => this.#textOf(each)),
      ...(more > 0 ? [`   … and ${more} more`] : []),
    ].join('\n')
  }

  override displayText(): string {
    return this.text()
  }

  #textOf(each: Anomaly): string[] {
    const { category, period, root, requests, of, medianUs, usualUs, exemplars } = each
    const [path] = each.explanation.paths.filter(({ predicts }) => predicts === 'mutation')
    const { rows, words } = each.explanation.subject
    const when = this.periods.length > 1 ? `, ${period}` : ''
    return [
      `   category ${category}, ${tooltipText(root)}${when}: ${grouped(requests)} of ${counted(of, 'request')}, ${this.#amount(medianUs)} against ${this.#amount(usualUs)}`,
      ...this.#edgeTexts(each).map((line) => `      ${line}`),
      ...(path === undefined ? [] : [`      ${pathSentence(path, { rows, words })}`]),
      `      traces ${exemplars.map(tooltipText).join(', ')}`,
    ]
  }

  #edgeTexts({ edges }: Anomaly): string[] {
    return edges
      .filter(({ share }) => share >= MIN_SHARE)
      .slice(0, MAX_TOLD.edges)
      .map(
        ({ from, to, share, meanUs, usualUs }) =>
          `${percent(share)} of the excess on ${tooltipText(from)} → ${tooltipText(to)}: ${this.#amount(meanUs)} against ${this.#amount(usualUs)}`,
      )
  }

  #amount(us: number): string {
    return formatAmount(us, this.categories.flows.quantity)
  }
}
