import { bisectRight, range } from 'd3-array'
import { exemplars, type RankedMutation } from '../../../compare/ranking/rank-mutations.ts'
import type { Comparison } from '../../../comparison/comparison.ts'
import { takeSnapshot } from '../../../comparison/snapshot.ts'
import { codeText } from '../../../core/code-literals.ts'
import { OptionError } from '../../../core/errors.ts'
import { defineOptions, flag, most, type OptionsOf, optionalCount } from '../../../core/options.ts'
import { TIME } from '../../../core/quantity.ts'
import { columnIn } from '../../../core/stage.ts'
import { explainMutation } from '../../../explain/parameters/explain.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { quantile } from '../../../stats/quantile.ts'
import { findingChart } from '../../charts/finding-chart.ts'
import { rootName } from '../../charts/node-names.ts'
import { ribbonIsClear } from '../../charts/ribbon.ts'
import { STAGE_NAME, TRACE_URL, widgetProps } from '../define-widget.ts'
import { type ExplanationData, explanationData } from '../explanation/explanation-widget.tsx'
import { shownFindings, traceLinks } from '../findings/findings-list.tsx'
import { flowsWidget } from '../flows/flows-widget.ts'
import { tableData } from '../table/table-columns.ts'
import { carriedRequests, timelineData } from '../timeline/timeline-model.tsx'

/** Data of the ranking browser in a page: the ranking itself is computed there, by the same code. */
export type RankingData = ReturnType<typeof rankingData>

export type MutationDetails = RankingData['details'][number]

export const RANKING_WIDGET_OPTIONS = defineOptions({
  limit: most(30, 'mutations', 'Mutations shown, the first ones'),
  flows: most(
    10,
    'mutations',
    'Mutations that open into their flows, unless these have more than 400 steps',
    0,
  ),
  explanations: most(
    5,
    'mutations',
    'Mutations that open into their parameters, about 60,000 characters each',
    0,
  ),
  opened: optionalCount('Rank of the mutation that is open at first; null for none', 'rank'),
  threshold: flag({
    default: false,
    sentence: 'Whether the slider for the threshold and the level is open at first',
  }),
  traceUrl: TRACE_URL,
  name: STAGE_NAME,
})

export type RankingWidgetOptions = OptionsOf<typeof RANKING_WIDGET_OPTIONS>

const MAX_EDGES = 100
const EDGE_COLUMNS = 'from to changed beforeMeanUs afterMeanUs shiftUs p onCriticalPath'.split(' ')
const MAX_STEPS = 400
const MAX_CHARACTERS = 60_000

/** Returns the data that a page carries; rejects ranks that are not shown. */
export function rankingData(comparison: Comparison, options: RankingWidgetOptions) {
  const { categories, ranking } = comparison
  const { limit, flows, explanations, opened, traceUrl } = options
  const name = options.name ?? 'comparison'
  const mutations = ranking.mutations.slice(0, limit)
  if (opened !== null && opened > mutations.length) {
    throw new OptionError('opened', opened, `a rank from 1 to ${mutations.length}, or null`)
  }
  const isTimed = comparison.flows.quantity === TIME
  // An address without a place for ids is refused here.
  traceLinks(traceUrl)
  return {
    snapshot: takeSnapshot(comparison),
    isClear: ribbonIsClear(comparison),
    findings: shownFindings(comparison, findingChart),
    none: comparison.findings.nothingText(),
    /** Arrivals, and the data to compare a stretch of time; `null` if the comparison is not of times. */
    timeline: isTimed
      ? { ...timelineData(comparison), carried: carriedRequests(comparison) }
      : null,
    details: mutations.map((mutation, place) => {
      const { category, kind } = mutation
      const typical = exemplars(categories, mutation)
      const isSmall = categories.structure(category).labels.length <= MAX_STEPS
      return {
        category,
        kind,
        ...edgesOf(comparison, category, name),
        /** Flow before and after; `null` if the page does not carry it. */
        flows:
          place < flows && isSmall && isTimed
            ? widgetProps(flowsWidget, comparison, { mutation }, { name, kind: 'flows' })
            : null,
        explanation: place < explanations ? explanationOf(comparison, mutation) : null,
        exemplars: typical,
      }
    }),
  }
}

function explanationOf(comparison: Comparison, mutation: RankedMutation): ExplanationData | null {
  const explanation = explainMutation(comparison, mutation)
  if (explanation.questions.every(({ table }) => table.parameters.length === 0)) return null
  return explanationData(explanation, MAX_CHARACTERS)
}

function edgesOf({ responseTime }: Comparison, category: number, name: string) {
  const edges = responseTime.edges(category)
  const { quantity } = responseTime.categories.flows
  const columns = EDGE_COLUMNS.map((column) => columnIn(column, quantity))
  return {
    edges: tableData(responseTime.edgeTable(category).select(...columns), {
      name: `${name}.responseTime.edgeTable(${category})`,
      title: `Edges of category ${category}`,
      pageSize: 8,
      limit: MAX_EDGES,
    }),
    changedEdges: edges.filter(({ changed }) => changed).length,
    isNew: edges.every(({ beforeMeanUs }) => Number.isNaN(beforeMeanUs)),
  }
}

export type TimesSketch = ReturnType<typeof sketch>

export type RankingEntry = ReturnType<typeof rankingEntries>[number]

/** Steps of a sketch: more than a small drawing has pixels of height. */
const SKETCH_STEPS = 40
const MAX_NAME_LENGTH = 80

export function rankingEntries(comparison: Comparison, limit: number) {
  const { categories, ranking, responseTime } = comparison
  const { quantity } = categories.flows
  return ranking.mutations.slice(0, limit).map((mutation) => {
    const { category, kind, precursors } = mutation
    const origin = kind === 'structural' ? (precursors[0]?.category ?? category) : category
    return {
      ...mutation,
      quantity,
      name: rootName(categories, category, MAX_NAME_LENGTH),
      /** p of the test of its response times; `NaN` where there was none. */
      p: kind === 'response-time' ? responseTime.test(category).p : Number.NaN,
      before: sketch(comparison, origin, BEFORE),
      after: sketch(comparison, category, AFTER),
    }
  })
}

function sketch({ categories }: Comparison, category: number, period: Period) {
  const { values, weights } = categories.ascendingTimes(category, period)
  const steps = values.length === 0 ? [] : range(SKETCH_STEPS + 1)
  return {
    category,
    count: values.length,
    quantilesUs: steps.map((step) => quantile(values, step / SKETCH_STEPS, weights)),
  }
}

export type ThresholdState = ReturnType<typeof thresholdState>

export function thresholdState({ options }: Comparison) {
  const { smPThreshold, alpha, correction, oneToN } = options
  return { smPThreshold, alpha, correction, oneToN }
}

/** Writes the code that leads from one state to another: `comparison.with({ smPThreshold: 12 })`. */
export function thresholdCode(name: string, from: ThresholdState, to: ThresholdState): string {
  const options = Object.keys(to) as (keyof ThresholdState)[]
  const changed = options.filter((option) => to[option] !== from[option])
  const given = changed.map((option) => `${option}: ${codeText(to[option])}`)
  return given.length === 0 ? name : `${name}.with({ ${given.join(', ')} })`
}

export type ThresholdCurve = ReturnType<typeof thresholdCurve>

const STEPS_PER_DECADE = 24

/** Counts mutations and precursors at all thresholds, from the changes of all categories. */
export function thresholdCurve(comparison: Comparison) {
  const { changes, suggestedThreshold: suggested } = comparison.with({ smPThreshold: 0 }).structural
  const ascending = changes.toSorted()
  const losses = ascending.map((change) => -change).reverse()
  const largest = Math.max(ascending.at(-1) ?? 0, losses.at(-1) ?? 0, suggested)
  const thresholds: number[] = []
  for (let step = 0; (thresholds.at(-1) ?? 0) < Math.max(1, largest); step++) {
    const threshold = Math.round(10 ** (step / STEPS_PER_DECADE))
    if (threshold !== thresholds.at(-1)) thresholds.push(threshold)
  }
  const above = (values: typeof ascending) => (threshold: number) =>
    values.length - bisectRight(values, threshold)
  return {
    /** Ascending, evenly spaced on a log scale, the last above every change. */
    thresholds,
    suggested,
    mutations: thresholds.map(above(ascending)),
    precursors: thresholds.map(above(losses)),
  }
}
