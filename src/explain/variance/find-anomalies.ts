import { greatest, group, range, sum } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { type LabelCount, labelDifference } from '../../compare/precursors/label-difference.ts'
import { defineOptions, level, type OptionsOf, readOptions } from '../../core/options.ts'
import { formatAmount, TIME } from '../../core/quantity.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { counted, firstOf, grouped, percent, tooltipText } from '../../core/words.ts'
import type { Period } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import { nameOfPeriod, type PeriodName, periodOfName } from '../../traces/period.ts'
import { flowForm } from '../flow-pair/flow-form.ts'
import { commonTemplate, responseTimes, tableOf } from '../parameters/explain.ts'
import {
  Explanation,
  explainSettings,
  type GroupWords,
  MUTATION_WORDS,
  pathSentence,
} from '../parameters/explanation.ts'
import { sampleRequests } from '../parameters/parameter-table.ts'
import { type EdgeVariance, requestEdges } from './category-variance.ts'
import { modesOf } from './merged-behaviors.ts'

export const ANOMALY_OPTIONS = defineOptions({
  tail: level({
    default: 0.01,
    sentence:
      'Share of a category that counts as its slowest requests if none is far out, and share of a type below which a structure is rare',
  }),
})

type AnomalyOptions = OptionsOf<typeof ANOMALY_OPTIONS>

/** An edge on which slow requests spend more time than the others of their category. */
export interface AnomalousEdge extends Pick<EdgeVariance, 'edge' | 'from' | 'to' | 'occurrence'> {
  /** Mean time on the critical path, in µs, of the slow requests and of the others. */
  readonly meanUs: number
  readonly usualUs: number
  /** Its share of the slow requests' excess time. */
  readonly share: number
}

/** Requests of one category and period that are unlike the others, with their distinguishing features. */
export interface Anomaly {
  /** `'slow'`: the slowest of their category; `'rare'`: of a structure that few of their kind have. */
  readonly kind: 'slow' | 'rare'
  readonly category: number
  readonly period: PeriodName
  readonly root: string
  /**
   * Number of anomalous requests, and of the requests that they are among: those of the category, or all with its root.
   * With `counts: 'weighted'`, the number that they stand for.
   */
  readonly requests: number
  readonly of: number
  /** Whether they lie beyond the rest rather than at its end; always for a rare structure. */
  readonly farOut: boolean
  /** Median of their response times, and of those they are compared with, in µs. */
  readonly medianUs: number
  readonly usualUs: number
  /** Total time they take longer, in µs; negative if faster. */
  readonly excessUs: number
  /** Category they are compared with: their own, or the most similar large one with its root. */
  readonly usual: number
  /** Edges with the excess time of slow requests, the largest share first. */
  readonly edges: readonly AnomalousEdge[]
  /** Nodes that rare requests have and the usual structure lacks, and the reverse. */
  readonly added: readonly LabelCount[]
  readonly removed: readonly LabelCount[]
  /** Numbers of the anomalous requests in the flows, the slowest first. */
  readonly members: readonly number[]
  /** Trace ids of the first of them. */
  readonly exemplars: readonly string[]
  /** Attributes that separate them from the others. */
  readonly explanation: Explanation
}

const MAX_EXEMPLARS = 3
const MAX_USUAL = 2000
const MAX_TOLD = { anomalies: 5, edges: 2, labels: 4 } as const
/** Edges with less of the excess are not told. */
const MIN_SHARE = 0.05

/**
 * Finds requests in the tail of their category's response times, and structures that few requests of their kind have. A
 * request is slow if it is far outside a mode of its category (cache hits and misses are two modes, for example):
 * beyond Tukey's outer fence of the mode's logarithms (upper quartile and three interquartile ranges), and before the
 * next mode. If no request is, the slowest `tail` of the category counts. With `counts: 'weighted'`, requests count as
 * often as their sampling weights say; the size of a category is its number of recorded requests.
 *
 * Source: Sambasivan 2013, §2.4, §6.1.1 and §7.6.1, which ask for tails and rare structures; the
 * fence is our own.
 */
export function findAnomalies(
  categories: Categories,
  of: { readonly large: number; readonly periods: readonly Period[] },
  given: Partial<AnomalyOptions> = {},
): Anomalies {
  const options = readOptions(ANOMALY_OPTIONS, given)
  const { large, periods } = of
  const found = periods.flatMap((period) => {
    const count = (category: number) => categories.count(category, period)
    const all = range(categories.size).filter((category) => count(category) > 0)
    const kinds = [...group(all, (category) => categories.requestKind(category)).values()]
    return [
      ...all
        .filter((category) => count(category) > large)
        .flatMap((category) => slowest(categories, { category, period, ...options })),
      ...kinds.flatMap((kind) => {
        const counted = (category: number) => categories.counted(category, period)
        const total = sum(kind, counted)
        const isRare = (category: number) => counted(category) <= options.tail * total
        const usual = kind.filter((category) => !isRare(category) && count(category) > large)
        return kind
          .filter(isRare)
          .flatMap((category) => rareStructure(categories, { category, period, usual, total }))
      }),
    ]
  })
  const anomalies = found.sort(
    (a, b) => Number(b.farOut) - Number(a.farOut) || Math.abs(b.excessUs) - Math.abs(a.excessUs),
  )
  return new Anomalies({ categories, options, periods: periods.map(nameOfPeriod), anomalies })
}

interface Place {
  readonly category: number
  readonly period: Period
}

function slowest(
  categories: Categories,
  { category, period, tail }: Place & { readonly tail: number },
): Anomaly[] {
  const { flows } = categories
  const timeOf = (request: number) => flows.responseTimeUs[request] as number
  const members = [...categories.members(category, period)].sort((a, b) => timeOf(a) - timeOf(b))
  const all = categories.counted(category, period)
  const beyond = modesOf(categories.ascendingTimes(category, period)).filter(
    (mode) => mode.beyond < mode.to,
  )
  const end = members.length
  const rest = slowestCount(members.map((one) => flows.countOf(one)).reverse(), tail * all)
  const found = beyond.length > 0 ? beyond : [{ beyond: end - rest, to: end }]
  return found.map((place) => {
    const [others, slow] = [members.slice(0, place.beyond), members.slice(place.beyond, place.to)]
    const edges = slowEdges(categories, { category, period }, { slow, others })
    const same = { before: { category, requests: others }, after: { category, requests: slow } }
    const own = { kind: 'slow', farOut: beyond.length > 0, of: Math.round(all), edges } as const
    return anomaly(categories, period, same, { ...own, added: [], removed: [] }, SLOW_WORDS)
  })
}

/** Returns how many of the first requests count as no more than `most`; at least one. */
function slowestCount(counts: readonly number[], most: number): number {
  let [first, counted] = [0, 0]
  while (first < counts.length && counted + (counts[first] as number) <= most) {
    counted += counts[first++] as number
  }
  return Math.max(1, first)
}

function slowEdges(
  categories: Categories,
  { category, period }: Place,
  sides: Readonly<Record<'slow' | 'others', readonly number[]>>,
): AnomalousEdge[] {
  const { edgeClasses } = categories.structure(category)
  const members = categories.members(category, period)
  const [usualCount, slowCount] = [sides.others, sides.slow].map((requests) =>
    sum(requests, (request) => categories.flows.countOf(request)),
  ) as [number, number]
  const [others, slow] = [new Set(sides.others), new Set(sides.slow)]
  const sums = [new Float64Array(edgeClasses.length + 1), new Float64Array(edgeClasses.length + 1)]
  let at = 0
  for (const { criticalUs, responseTimeUs, weight } of requestEdges(categories, category, period)) {
    const request = members[at++] as number
    const isSlow = slow.has(request)
    if (!isSlow && !others.has(request)) continue
    const means = sums[Number(isSlow)] as Float64Array
    const share = weight / (isSlow ? slowCount : usualCount)
    const add = (us: number, edge: number) => {
      means[edge] = (means[edge] as number) + us * share
    }
    criticalUs.forEach(add)
    add(responseTimeUs, edgeClasses.length)
  }
  const [usual, now] = sums as [Float64Array, Float64Array]
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

function rareStructure(
  categories: Categories,
  place: Place & { readonly usual: readonly number[]; readonly total: number },
): Anomaly[] {
  const { category, period, usual, total } = place
  const candidates = usual.map((other) => {
    const difference = labelDifference(categories.structure(other), categories.structure(category))
    const distance = sum([...difference.added, ...difference.removed], ({ count }) => count)
    return { other, distance, ...difference }
  })
  const near = greatest(
    candidates,
    (a, b) =>
      b.distance - a.distance ||
      categories.count(a.other, period) - categories.count(b.other, period),
  )
  if (near === undefined) return []
  const members = (each: number) => [...categories.members(each, period)]
  const sides = {
    before: { category: near.other, requests: members(near.other) },
    after: { category, requests: members(category) },
  }
  const { added, removed } = near
  const of = Math.round(total)
  const own = { kind: 'rare', farOut: true, of, edges: [], added, removed } as const
  return [anomaly(categories, period, sides, own, RARE_WORDS)]
}

interface Side {
  readonly category: number
  readonly requests: readonly number[]
}

type Sides = Readonly<Record<'before' | 'after', Side>>

const SLOW_WORDS = { ...MUTATION_WORDS, mutation: 'among the slowest', precursor: 'not' }
const RARE_WORDS = { ...MUTATION_WORDS, mutation: 'of the rare structure', precursor: 'usual' }

function anomaly(
  categories: Categories,
  period: Period,
  sides: Sides,
  own: Pick<Anomaly, 'kind' | 'farOut' | 'of' | 'edges' | 'added' | 'removed'>,
  words: GroupWords,
): Anomaly {
  const { flows } = categories
  const timeOf = (request: number) => flows.responseTimeUs[request] as number
  const countOf = (request: number) => flows.countOf(request)
  const medianOf = (some: readonly number[]) => {
    const { values, weights } = ascendingSample(some.map(timeOf), flows.countsOf(some))
    return quantile(values, 0.5, weights)
  }
  const { category, requests } = sides.after
  const usualUs = medianOf(sides.before.requests)
  const members = requests.toSorted((a, b) => timeOf(b) - timeOf(a))
  let explanation: Explanation | undefined
  return {
    ...own,
    category,
    period: nameOfPeriod(period),
    root: categories.root(category),
    requests: Math.round(sum(requests, countOf)),
    medianUs: medianOf(requests),
    usualUs,
    excessUs: sum(requests, (request) => countOf(request) * (timeOf(request) - usualUs)),
    usual: sides.before.category,
    members,
    exemplars: members.slice(0, MAX_EXEMPLARS).map((request) => flows.ids[request] as string),
    get explanation() {
      explanation ??= explainSides(categories, sides, words)
      return explanation
    },
  }
}

function explainSides(categories: Categories, sides: Sides, words: GroupWords): Explanation {
  const { choice, growth, seed } = explainSettings({})
  const form = ({ category }: Side) => flowForm(categories, category)
  const template = commonTemplate(form(sides.before), form(sides.after))
  const [usual = []] = sampleRequests([sides.before.requests], { sample: MAX_USUAL, seed })
  const times = responseTimes(categories.flows)
  const table = tableOf(
    categories,
    (['before', 'after'] as const).map((which) => ({
      category: sides[which].category,
      label: which === 'before' ? 0 : 1,
      positions: template.map((node) => node[which]),
      requests: which === 'before' ? usual : sides.after.requests,
    })),
    { times, choice },
  )
  const { category } = sides.after
  const title = `${categories.root(category)}, category ${category}`
  const tables = { differs: table, slow: null, slowAboveUs: Number.NaN }
  return new Explanation(
    { title, time: times.name, rows: 'request', words },
    { tables, choice, growth },
  )
}

/** Anomalies far out of one category and period, or of one rare structure. */
export interface AnomalyGroup {
  readonly anomalies: readonly Anomaly[]
  /** Numbers of the anomalous requests, those of an anomaly the slowest first. */
  readonly members: readonly number[]
  /** Numbers of the requests that they are compared with, the fastest first. */
  readonly usual: readonly number[]
  /** The one in the middle of these; empty if there are none. */
  readonly typical: readonly number[]
}

/** Requests unlike the others of their kind: what `variance.anomalies()` finds. */
export class Anomalies extends columnarStage<{
  readonly categories: Categories
  readonly options: AnomalyOptions
  readonly periods: readonly PeriodName[]
  /** Far out first, then what takes most time longer. */
  readonly anomalies: readonly Anomaly[]
}>() {
  /** Anomalies far out by category, period and kind, each with what they are compared with. */
  get groups(): AnomalyGroup[] {
    const { anomalies, categories } = this
    const { responseTimeUs } = categories.flows
    const groups = group(
      anomalies.filter(({ farOut }) => farOut),
      ({ kind, category, period }) => `${kind} ${category} ${period}`,
    )
    return Array.from(groups.values(), (found) => {
      const [{ usual: other, period }] = found as [Anomaly]
      const members = found.flatMap((each) => each.members)
      const unlike = new Set(members)
      const usual = [...categories.members(other, periodOfName(period))]
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
        ...own('kind category period root requests of farOut medianUs usualUs excessUs usual'),
        apart: (each) => apartText(each, categories).join('; '),
        exemplars: ({ exemplars }) => exemplars.join(', '),
      },
      categories.flows.quantity,
    )
  }

  /** Describes the first of each kind that are far out, with their distinguishing features. */
  text(): string {
    const { categories, anomalies, options } = this
    const told = (kind: Anomaly['kind']) =>
      anomalies.filter((each) => each.kind === kind && each.farOut)
    const heads = {
      slow: `${categories.flows.quantity === TIME ? 'Slow' : 'Large'} requests, far out in their category`,
      rare: `Rare structures, at most ${percent(options.tail)} of their type`,
    }
    return (['slow', 'rare'] as const)
      .flatMap((kind) => {
        const found = told(kind)
        const more = found.length - MAX_TOLD.anomalies
        return [
          `${heads[kind]}: ${
            found.length === 0
              ? 'none.'
              : `${counted(
                  sum(found, ({ requests }) => requests),
                  'request',
                )} in ${counted(found.length, 'category', 'categories')}.`
          }`,
          ...found.slice(0, MAX_TOLD.anomalies).flatMap((each) => this.#textOf(each)),
          ...(more > 0 ? [`   … and ${more} more`] : []),
        ]
      })
      .join('\n')
  }

  override displayText(): string {
    return this.text()
  }

  #textOf(each: Anomaly): string[] {
    const { kind, category, period, root, requests, of, medianUs, usualUs, exemplars } = each
    const amount = (us: number) => formatAmount(us, this.categories.flows.quantity)
    const [path] = each.explanation.paths.filter(({ predicts }) => predicts === 'mutation')
    const { rows, words } = each.explanation.subject
    const usual = kind === 'rare' ? ` in category ${each.usual}` : ''
    const when = this.periods.length > 1 ? `, ${period}` : ''
    return [
      `   category ${category}, ${tooltipText(root)}${when}: ${grouped(requests)} of ${counted(of, 'request')}, ${amount(medianUs)} against ${amount(usualUs)}${usual}`,
      ...apartText(each, this.categories).map((line) => `      ${line}`),
      ...(path === undefined ? [] : [`      ${pathSentence(path, { rows, words })}`]),
      `      traces ${exemplars.map(tooltipText).join(', ')}`,
    ]
  }
}

function apartText({ edges, added, removed }: Anomaly, categories: Categories): string[] {
  const { quantity } = categories.flows
  const amount = (us: number) => formatAmount(us, quantity)
  const labels = (what: string, counts: readonly LabelCount[]) => {
    const all = counts.map(
      ({ label, count }) => `${tooltipText(label)}${count === 1 ? '' : ` ×${count}`}`,
    )
    return all.length === 0 ? [] : [`${what}: ${firstOf(all, { most: MAX_TOLD.labels })}`]
  }
  return [
    ...edges
      .filter(({ share }) => share >= MIN_SHARE)
      .slice(0, MAX_TOLD.edges)
      .map(
        ({ from, to, share, meanUs, usualUs }) =>
          `${percent(share)} of the excess on ${tooltipText(from)} → ${tooltipText(to)}: ${amount(meanUs)} against ${amount(usualUs)}`,
      ),
    ...labels('more', added),
    ...labels('less', removed),
  ]
}
