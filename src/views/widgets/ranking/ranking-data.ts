import type { Comparison } from '../../../compare/comparison.ts'
import { exemplars, type RankedMutation } from '../../../compare/ranking/rank-mutations.ts'
import { explainMutation } from '../../../explain/parameters/explain-mutation.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { quantile } from '../../../stats/quantile.ts'
import { rootName } from '../../charts/node-names.ts'
import { type ViewProps, widgetProps } from '../define-widget.ts'
import { type ExplanationData, explanationData } from '../explanation/explanation-data.ts'
import type { FlowData } from '../flows/flow-scene.ts'
import { flowsWidget } from '../flows/flows-widget.ts'
import type { FlowOptions } from '../flows/options.ts'
import { type TableData, tableData } from '../table/table-columns.ts'

/** What the ranking browser carries into a page. */
export interface RankingData {
  /** The columns of `ranking.table()` that are shown: one row an entry, in the same order. */
  readonly table: TableData
  readonly entries: readonly RankingEntry[]
  /** What the comparison is called in code. */
  readonly name: string
  /** Rank of the mutation that is open at first; `null` for none. */
  readonly opened: number | null
}

/** One mutation, with all that it opens into. */
export interface RankingEntry {
  readonly rank: number
  readonly kind: 'structural' | 'response-time'
  readonly category: number
  readonly name: string
  readonly requests: number
  readonly contributionUs: number
  /** p of the test of its response times; `null` where there was none. */
  readonly p: number | null
  /** Response times of what its requests were before, and of its requests after. */
  readonly before: TimesSketch
  readonly after: TimesSketch
  /** Changed ones first. */
  readonly edges: readonly RankingEdge[]
  readonly edgeCount: number
  /** Likeliest first. */
  readonly precursors: readonly RankingPrecursor[]
  readonly precursorCount: number
  /** Its flow before and after; `null` where it is not carried along. */
  readonly flows: ViewProps<FlowData, FlowOptions> | null
  /** Its low-level parameters; `null` where there are none, or they are not carried along. */
  readonly explanation: ExplanationData | null
  /** Typical requests. */
  readonly exemplars: Readonly<Record<'before' | 'after', readonly RankingExemplar[]>>
}

/** A distribution of response times, small. */
export interface TimesSketch {
  readonly category: number
  readonly count: number
  /** Quantiles at equal steps from the smallest to the largest; empty without requests. */
  readonly quantilesUs: readonly number[]
}

export interface RankingEdge {
  readonly from: string
  readonly to: string
  readonly occurrence: number
  readonly changed: boolean
  /** `null` where no request has it. */
  readonly beforeMeanUs: number | null
  readonly afterMeanUs: number | null
  readonly p: number | null
  readonly onCriticalPath: boolean
}

export interface RankingPrecursor {
  readonly category: number
  readonly name: string
  readonly weight: number
  readonly nsed: number
  readonly lost: number
}

export interface RankingExemplar {
  readonly id: string
  /** `null` when nobody said where traces are shown. */
  readonly link: string | null
}

export interface RankingDataOptions {
  readonly limit: number
  /** The first so many come with their flows, and so many with their parameters. */
  readonly flows: number
  readonly explanations: number
  readonly name: string
  readonly opened: number | null
  readonly link: (traceId: string) => string | null
}

/** The columns of `ranking.table()` that are shown, searched and filtered, in this order. */
const COLUMNS = ['rank', 'kind', 'category', 'root', 'direction', 'requests', 'contributionUs']

/** Steps of a sketch: more than a small drawing has pixels of height. */
const STEPS = 40
const LONGEST_NAME = 80
const MOST_EDGES = 100
const MOST_PRECURSORS = 20
const PAGE_SIZE = 100
/** Steps of a flow that is still small beside the rest of the page. */
const MOST_STEPS = 400
const MOST_CHARACTERS = 60_000

/** The first mutations of a comparison, with all that they open into. */
export function rankingData(
  comparison: Comparison,
  { limit, flows, explanations, name, opened, link }: RankingDataOptions,
): RankingData {
  const { ranking } = comparison
  const code = { name: `${name}.ranking.table()`, title: 'Ranked mutations' }
  return {
    name,
    opened,
    table: tableData(ranking.table().select(...COLUMNS), { ...code, pageSize: PAGE_SIZE, limit }),
    entries: ranking.mutations.slice(0, limit).map((mutation, at) => ({
      ...entryOf(comparison, mutation, link),
      flows: at < flows ? smallFlows(comparison, mutation, name) : null,
      explanation: at < explanations ? smallExplanation(comparison, mutation) : null,
    })),
  }
}

function entryOf(
  comparison: Comparison,
  mutation: RankedMutation,
  link: (traceId: string) => string | null,
): Omit<RankingEntry, 'flows' | 'explanation'> {
  const { categories, responseTime, structural } = comparison
  const { rank, kind, category, requests, contributionUs, precursors } = mutation
  const origin = kind === 'structural' ? (precursors[0]?.category ?? category) : category
  const edges = edgesOf(comparison, category)
  const typical = exemplars(categories, mutation)
  const linked = (ids: readonly string[]) => ids.map((id) => ({ id, link: link(id) }))
  return {
    ...{ rank, kind, category, requests, contributionUs },
    name: rootName(categories, category, LONGEST_NAME),
    p: kind === 'response-time' ? finite(responseTime.test(category).p) : null,
    before: sketch(comparison, origin, BEFORE),
    after: sketch(comparison, category, AFTER),
    ...{ edges: edges.slice(0, MOST_EDGES), edgeCount: edges.length },
    precursors: precursors.slice(0, MOST_PRECURSORS).map((candidate) => ({
      ...{ category: candidate.category, weight: candidate.weight, nsed: candidate.nsed },
      name: rootName(categories, candidate.category, LONGEST_NAME),
      lost: -(structural.changes[candidate.category] as number),
    })),
    precursorCount: precursors.length,
    exemplars: { before: linked(typical.before), after: linked(typical.after) },
  }
}

function smallFlows(
  comparison: Comparison,
  mutation: RankedMutation,
  name: string,
): ViewProps<FlowData, FlowOptions> | null {
  const { categories } = comparison
  if (categories.structure(mutation.category).labels.length > MOST_STEPS) return null
  return widgetProps(flowsWidget, comparison, { mutation }, { name, kind: 'flows' })
}

function smallExplanation(
  comparison: Comparison,
  mutation: RankedMutation,
): ExplanationData | null {
  const explanation = explainMutation(comparison, mutation)
  if (explanation.questions.every(({ table }) => table.parameters.length === 0)) return null
  return explanationData(explanation, MOST_CHARACTERS)
}

function sketch({ categories }: Comparison, category: number, period: Period): TimesSketch {
  const times = categories.responseTimes(category, period).sort()
  const steps = times.length === 0 ? [] : Array.from({ length: STEPS + 1 }, (_, i) => i / STEPS)
  const quantilesUs = steps.map((share) => Number(quantile(times, share).toPrecision(5)))
  return { category, count: times.length, quantilesUs }
}

function edgesOf({ responseTime }: Comparison, category: number): RankingEdge[] {
  const shift = ({ beforeMeanUs, afterMeanUs }: RankingEdge) =>
    Math.abs((afterMeanUs ?? 0) - (beforeMeanUs ?? 0))
  return responseTime
    .edges(category)
    .map(({ edge, test, onCriticalPath, beforeMeanUs, afterMeanUs }) => ({
      ...{ from: edge.from, to: edge.to, occurrence: edge.occurrence, onCriticalPath },
      changed: test?.rejected ?? false,
      ...{ beforeMeanUs: finite(beforeMeanUs), afterMeanUs: finite(afterMeanUs) },
      p: finite(test?.p ?? Number.NaN),
    }))
    .sort((a, b) => Number(b.changed) - Number(a.changed) || shift(b) - shift(a))
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
