import { sort } from 'd3-array'
import type { Categories } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { FlowdeltaError, OptionError } from '../../../core/errors.ts'
import { counted, formatDuration, grouped } from '../../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import { rootName } from '../../charts/node-names.ts'
import { toNanoseconds } from '../../drawing/time-range.tsx'
import { defineWidget } from '../define-widget.ts'
import {
  lanesIn,
  SWIMLANE_OPTIONS,
  type SwimlaneData,
  type SwimlaneOptions,
  type SwimlaneSide,
  type SwimlaneTraces,
  tracksOf,
} from './swimlane-model.ts'
import { requestTraffic } from './swimlane-traffic.ts'
import { SWIMLANE_STYLE, SwimlaneView } from './swimlane-view.tsx'

/**
 * Messages between components over time, before and after on one scale, like trains of a railway;
 * of a category, the real request with the median response time, or that of its likeliest
 * precursor. Source: Sambasivan 2013, §7.5.
 */
export const swimlanesWidget = defineWidget({
  name: 'swimlanes',
  title: 'Swimlanes',
  description: ({ sides, title }: SwimlaneData) => {
    const said = sides.map(
      ({ period, responseTimeUs, messages, choice }) =>
        `${period} ${formatDuration(responseTimeUs)} with ${grouped(messages.length)} messages (${choice})`,
    )
    return `${title}: ${said.join('; ')}.`
  },
  options: SWIMLANE_OPTIONS,
  data,
  initial: (comparison: Comparison, options: SwimlaneOptions) => ({
    ...options,
    category: options.traces === null ? categoryOf(comparison, options) : null,
  }),
  view: SwimlaneView,
  style: SWIMLANE_STYLE,
})

function data(comparison: Comparison, options: SwimlaneOptions): SwimlaneData {
  const { traces, lanes: by } = options
  const { flows, categories } = comparison
  const category = traces === null ? categoryOf(comparison, options) : null
  const chosen =
    category === null ? ofTraces(flows, traces ?? {}) : ofCategory(comparison, category)
  const sides = chosen.map(({ request, choice }): SwimlaneSide => {
    const { visits, messages } = requestTraffic(flows, request, by)
    const tracks = tracksOf(visits)
    return {
      visits: visits.map((visit, i) => ({ ...toNanoseconds(visit), track: tracks[i] as number })),
      messages: messages.map(toNanoseconds),
      traceId: flows.ids[request] ?? '',
      period: flows.period[request] === BEFORE ? 'before' : 'after',
      responseTimeUs: flows.responseTimeUs[request] ?? 0,
      choice,
    }
  })
  const ends = sides.flatMap(({ visits, responseTimeUs }) => [
    responseTimeUs,
    ...visits.map(({ endUs }) => endUs),
  ])
  return {
    sides,
    lanes: lanesIn(sides),
    lengthUs: Math.max(MIN_LENGTH_US, ...ends),
    title:
      category === null
        ? 'Chosen requests'
        : `${rootName(categories, category, 80)}, category ${category}`,
  }
}

function categoryOf({ ranking }: Comparison, { category }: SwimlaneOptions): number {
  const chosen = category ?? ranking.mutations[0]?.category
  if (chosen !== undefined) return chosen
  throw new FlowdeltaError('The comparison has no mutation. Give a category or traces.')
}

/** A request that took no time is drawn on an axis of this length. */
const MIN_LENGTH_US = 1

interface Chosen {
  readonly request: number
  readonly choice: string
}

/** The request with the median response time, before and after; fewer where there is none. */
function ofCategory({ categories, ranking }: Comparison, category: number): Chosen[] {
  if (!Number.isInteger(category) || category < 0 || category >= categories.size) {
    const last = categories.size - 1
    throw new OptionError('category', category, `a category from 0 to ${last}`)
  }
  const isNew = categories.count(category, BEFORE) === 0
  const mutation = ranking.mutations.find(
    (each) => each.category === category && each.precursors.length > 0,
  )
  const origin = isNew ? (mutation?.precursors[0]?.category ?? category) : category
  return [BEFORE, AFTER].flatMap((period) =>
    medianRequest(categories, period === BEFORE ? origin : category, period as Period),
  )
}

function medianRequest(categories: Categories, category: number, period: Period): Chosen[] {
  const members = Array.from(categories.members(category, period))
  const { responseTimeUs } = categories.flows
  const byTime = sort(members, (request) => responseTimeUs[request] as number)
  const request = byTime[(byTime.length - 1) >> 1]
  if (request === undefined) return []
  const choice = `the median of ${counted(members.length, 'request')} of category ${category}`
  return [{ request, choice }]
}

function ofTraces(flows: FlowSet, traces: string | SwimlaneTraces): Chosen[] {
  const rows = (id: string, periods: readonly Period[]) => {
    const found = flows.ids.findIndex(
      (each, row) => each === id && periods.includes(flows.period[row] as Period),
    )
    if (found < 0) throw new OptionError('traces', id, 'the id of a trace of that period')
    return [{ request: found, choice: 'chosen' }]
  }
  if (typeof traces === 'string') return rows(traces, [BEFORE, AFTER])
  return [
    ...(traces.before === undefined ? [] : rows(traces.before, [BEFORE])),
    ...(traces.after === undefined ? [] : rows(traces.after, [AFTER])),
  ]
}
