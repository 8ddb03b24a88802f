import type { Categories } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { exemplars } from '../../../compare/ranking/exemplars.ts'
import type { RankedMutation } from '../../../compare/ranking/ranking.ts'
import { codeText } from '../../../core/code-literals.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped } from '../../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import { rootName } from '../../charts/node-names.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import { Widget } from '../widget.ts'
import {
  type Arrangement,
  type LaneBy,
  lanesIn,
  requestTraffic,
  type SwimlaneData,
  type SwimlaneSide,
  type Traffic,
  tracksOf,
  USUAL_SWIMLANES,
} from './swimlane-model.ts'
import { SwimlanePicture } from './swimlane-picture.tsx'

/** What the swimlanes begin with. */
export interface SwimlaneOptions {
  /**
   * `'below'`: both requests over one axis of time, so that they compare at a glance; `'beside'`:
   * next to each other, on the same scale. Default `'below'`.
   */
  readonly arrangement?: Arrangement
  /** The part of the time that is shown, in µs since each request began. Default `null`: all. */
  readonly range?: StretchUs | null
  /**
   * A lane for every `'service'`, or for every `'host'`; of trace points always for every host.
   * Default `'service'`.
   */
  readonly lanes?: LaneBy
  /**
   * Whether the components that matter least are drawn as one lane where there are more than 16
   * lines. The picture that stands where no script runs is always folded. Default `true`.
   */
  readonly folded?: boolean
  /** What the comparison is called in the line of code. Default `'comparison'`. */
  readonly name?: string
}

/** Ids of the traces to show: of both periods, or of one alone. */
export interface SwimlaneTraces {
  readonly before?: string
  readonly after?: string
}

/**
 * A request as the messages between its components over time, before and after on one scale of
 * time, like the trains of a railway. A component's line is thick where it works and thin where it
 * waits; what is on the critical path is dark.
 *
 * For a category, the request with the median response time of each period stands for all: a real
 * one, as medians of single steps belong to no request and need not add up. Where a category is new,
 * the request before is one of its likeliest precursor.
 *
 * @param comparison from `compare`
 * @param what a category, a trace id, or `{ before, after }` with trace ids
 * @param options see {@link SwimlaneOptions}
 * @throws OptionError for a category or a trace that is not there or a value that an option cannot
 *   have, FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §7.5.
 *
 * @example
 * exploreSwimlanes(comparison, 0).title // 'Swimlanes'
 */
export function exploreSwimlanes(
  comparison: Comparison,
  what: number | string | SwimlaneTraces,
  options: SwimlaneOptions = {},
): Widget {
  rejectUnknownOptions(options, ['arrangement', 'range', 'lanes', 'folded', 'name'])
  const { lanes: by = 'service', name = 'comparison', ...given } = options
  const initial = { ...USUAL_SWIMLANES, ...given }
  oneOf('lanes', by, ['service', 'host'])
  oneOf('arrangement', initial.arrangement, ['below', 'beside'])
  if (typeof initial.folded !== 'boolean') {
    throw new OptionError('folded', initial.folded, 'true or false')
  }
  const range = initial.range
  if (range !== null && !(Number.isFinite(range[0]) && range[1] > range[0])) {
    throw new OptionError('range', `[${range}]`, 'two numbers of µs, the smaller first, or null')
  }
  const { flows } = comparison
  const chosen = typeof what === 'number' ? ofCategory(comparison, what) : ofTraces(flows, what)
  if (chosen.length === 0) {
    throw new OptionError('what', codeText(what), 'a category, a trace id, or { before, after }')
  }
  const sides = chosen.map(({ request, choice }): SwimlaneSide => {
    const traffic = rounded(requestTraffic(flows, request, by))
    return {
      traceId: flows.ids[request] as string,
      period: flows.period[request] === BEFORE ? 'before' : 'after',
      responseTimeUs: flows.responseTimeUs[request] as number,
      choice,
      ...traffic,
      tracks: tracksOf(traffic.visits),
    }
  })
  const ends = sides.flatMap(({ visits, responseTimeUs }) => [
    responseTimeUs,
    ...visits.map(({ endUs }) => endUs),
  ])
  const data: SwimlaneData = {
    ...{ sides, initial, by, lanes: lanesIn(sides), lengthUs: Math.max(SHORTEST_US, ...ends) },
    title:
      typeof what === 'number' ? categoryTitle(comparison.categories, what) : 'Chosen requests',
    subject: [name, codeText(what)],
  }
  return new Widget({
    ...{ view: 'swimlanes', title: 'Swimlanes', data, description: description(data) },
    picture: () => renderSvg(SwimlanePicture({ data })),
  })
}

/** A request that took no time is drawn on an axis of this length. */
const SHORTEST_US = 1

interface Chosen {
  readonly request: number
  readonly choice: string
}

/** The request with the median response time, before and after; fewer where there is none. */
function ofCategory({ categories, ranking }: Comparison, category: number): Chosen[] {
  if (!Number.isInteger(category) || category < 0 || category >= categories.size) {
    const last = categories.size - 1
    throw new OptionError('what', category, `a category from 0 to ${last}, or trace ids`)
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
  const alone = { category, kind: 'response-time', precursors: [] } as unknown as RankedMutation
  const typical = exemplars(categories, alone, { count: 1 })
  const [id] = period === BEFORE ? typical.before : typical.after
  const members = categories.members(category, period)
  const request = members.find((row) => categories.flows.ids[row] === id)
  if (request === undefined) return []
  const choice = `the median of ${counted(members.length, 'request')} of category ${category}`
  return [{ request, choice }]
}

function ofTraces(flows: FlowSet, what: string | SwimlaneTraces): Chosen[] {
  const rows = (id: string, periods: readonly Period[]) => {
    const found = flows.ids.findIndex(
      (each, row) => each === id && periods.includes(flows.period[row] as Period),
    )
    if (found < 0) throw new OptionError('what', id, 'the id of a trace of that period')
    return [{ request: found, choice: 'chosen' }]
  }
  if (typeof what === 'string') return rows(what, [BEFORE, AFTER])
  if (typeof what !== 'object' || what === null || Object.keys(what).length === 0) {
    throw new OptionError(
      'what',
      what,
      'a category, a trace id, or { before, after } with trace ids',
    )
  }
  rejectUnknownOptions(what, ['before', 'after'])
  return [
    ...(what.before === undefined ? [] : rows(what.before, [BEFORE])),
    ...(what.after === undefined ? [] : rows(what.after, [AFTER])),
  ]
}

function oneOf(option: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return
  throw new OptionError(option, value, allowed.map((each) => `'${each}'`).join(' or '))
}

function categoryTitle(categories: Categories, category: number): string {
  return `${rootName(categories, category, 80)}, category ${category}`
}

/** Nanoseconds are as exact as any trace. */
function rounded({ visits, messages }: Traffic): Traffic {
  const round = (us: number) => Math.round(us * 1e3) / 1e3
  const stretch = ([fromUs, toUs]: StretchUs): StretchUs => [round(fromUs), round(toUs)]
  return {
    visits: visits.map((visit) => ({
      ...{ ...visit, startUs: round(visit.startUs), endUs: round(visit.endUs) },
      ...{ work: visit.work.map(stretch), critical: visit.critical.map(stretch) },
    })),
    messages: messages.map((message) => ({
      ...message,
      ...{ sentUs: round(message.sentUs), arrivedUs: round(message.arrivedUs) },
    })),
  }
}

function description({ sides, title }: SwimlaneData): string {
  const said = sides.map(
    ({ period, responseTimeUs, messages, choice }) =>
      `${period} ${formatDuration(responseTimeUs)} with ${grouped(messages.length)} messages (${choice})`,
  )
  return `${title}: ${said.join('; ')}.`
}
