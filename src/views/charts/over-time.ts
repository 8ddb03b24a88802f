import { extent, max, min, range, sort, sum } from 'd3-array'
import { type Failure, failuresOf } from '../../compare/findings/error-findings.ts'
import { expectedAtLoad, loadWindows, predictor } from '../../compare/findings/load-findings.ts'
import { EVENT_OPTIONS } from '../../compare/onset/events.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { OptionError } from '../../core/errors.ts'
import { optionalCount } from '../../core/options.ts'
import { counted, formatDuration, grouped, percent, shortText } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { proportionInterval } from '../../stats/proportion-interval.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { linearDurationAxis, logAxis, openShareAxis } from './axes.ts'
import { on, panelTitle, periodColor, quantity, tooltip } from './builders.ts'
import {
  defineChart,
  framedChart,
  mostDrawn,
  PALETTE,
  PERIOD_NAMES,
  type SpecPart,
} from './chart-frame.ts'
import { MARKS_MEANING, marksOfPeriod, placedMarks, timeMarks, withMarks } from './time-marks.ts'

const WIDTH = 640
const HEIGHT = 110
const MAX_PARTS = 40
const MIN_REQUESTS = 30
const MAX_TITLE = 76

/**
 * Draws the share of requests of after that failed over time, and the share with the failing call of a finding, beside
 * the share of before. Each share covers equally many requests and has an exact 95 % interval; marks show when changes
 * began.
 */
export const errorsChart = defineChart(
  {
    rank: optionalCount('Rank of the finding of errors that is drawn; by default all of them'),
    limit: mostDrawn(4, 'findings', 'the first ones'),
    ...EVENT_OPTIONS,
  },
  (comparison: Comparison, { rank, limit, events }) => {
    const { flows, findings, steps } = comparison
    const all = findings.findings.filter(({ kind }) => kind === 'errors')
    const chosen = rank === null ? all : all.filter((finding) => finding.rank === rank)
    if (rank !== null && chosen.length === 0) {
      const known = all.map((finding) => finding.rank).join(', ')
      throw new OptionError('rank', rank, known === '' ? 'null: no finding is of errors' : known)
    }
    const shown = chosen.slice(0, limit).map((finding) => ({
      title: shortText(`#${finding.rank} ${finding.where} ${finding.operation ?? ''}`, MAX_TITLE),
      failures: failuresOf(finding, steps),
    }))
    const ofAll = {
      title: 'all requests',
      failures: failuresOf({ calls: [], services: [] }, steps),
    }
    const failing = (rank === null ? [ofAll, ...shown] : shown).filter(({ failures }) =>
      failures.some(({ value }) => value > 0),
    )
    const marks = marksOfPeriod(timeMarks(comparison, events), flows, AFTER)
    const whole = timeRange(flows)
    return framedChart(
      {
        title: 'Failures over time',
        none:
          failing.length === 0 &&
          (flows.outcomes === undefined
            ? 'Trace points do not record what fails.'
            : `None of ${counted(flows.size, 'request')} failed, before or after.`),
        subtitle: [
          'Shares of requests that fail, or have such a failing call, with exact 95 % intervals. Dashed: all of before.',
          marks.length > 0 && MARKS_MEANING,
        ],
        omissions:
          chosen.length > limit &&
          `Shows the first ${limit} of ${counted(chosen.length, 'finding')} of errors.`,
        width: WIDTH,
      },
      {
        vconcat: failing.map(({ title, failures }, i) => {
          const isLast = i === failing.length - 1
          const panel = ratesPanel(flows, failures, { title, whole, isLast })
          const placed = placedMarks(marks, { ...whole, width: WIDTH, height: HEIGHT })
          return withMarks(panel, placed, quantity)
        }),
        spacing: 18,
      },
    )
  },
)

function timeRange({ startUs }: FlowSet) {
  const times = startUs.filter(Number.isFinite)
  const fromUs = Math.min(0, min(times) ?? 0)
  return { fromUs, toUs: Math.max(fromUs + 1, max(times) ?? 0) }
}

function ratesPanel(
  flows: FlowSet,
  failures: readonly Failure[],
  look: { title: string; whole: ReturnType<typeof timeRange>; isLast: boolean },
): SpecPart {
  const { title, whole, isLast } = look
  const rows = [
    // Before is one reference, after runs along time.
    ...ratesOf(flows, failures, { period: BEFORE, mostParts: 1 }).map((one) => {
      return { ...one, fromUs: whole.fromUs, toUs: whole.toUs }
    }),
    ...ratesOf(flows, failures, { period: AFTER, mostParts: MAX_PARTS }),
  ]
  const ofPeriod = ([BEFORE, AFTER] as const).map((period) => {
    const own = failures.filter(({ request }) => flows.period[request] === period)
    const { failed, all } = countFailures(flows, own)
    const requests = period === BEFORE ? 'requests ' : ''
    return `${grouped(failed)} of ${grouped(all)} ${requests}${PERIOD_NAMES[period]}`
  })
  const ends = { lowUs: whole.fromUs, highUs: whole.toUs, ticks: 9, nice: false }
  const time = linearDurationAxis({ ...ends, title: 'time since the start of the period' })
  const axis = isLast ? time.axis : { ...time.axis, title: null, labels: false, ticks: false }
  const x = on({ ...time, axis }, 'atUs')
  const y = on(openShareAxis([0, max(rows, ({ high }) => high) ?? 1], null), 'rate')
  const color = periodColor('period', { title: null, symbolOpacity: 1 })
  const said = tooltip({ period: 'period', time: 'when', failed: 'failed' })
  const only = (period: Period) => [{ filter: { field: 'period', equal: PERIOD_NAMES[period] } }]
  return {
    width: WIDTH,
    height: HEIGHT,
    title: panelTitle(`${title}: ${ofPeriod.join(', ')}`),
    data: { values: rows },
    layer: [
      {
        transform: only(BEFORE),
        mark: { type: 'rule', strokeWidth: 1.5, strokeDash: [6, 4], aria: false },
        encoding: { x: { ...x, field: 'fromUs' }, x2: { field: 'toUs' }, y, color, tooltip: said },
      },
      {
        transform: only(AFTER),
        mark: { type: 'area', opacity: 0.2, aria: false },
        encoding: { x, y: { ...y, field: 'low' }, y2: { field: 'high' }, color },
      },
      {
        transform: only(AFTER),
        mark: { type: 'line', strokeWidth: 2, point: { size: 18 }, aria: false },
        encoding: { x, y, color, tooltip: said },
      },
    ],
  }
}

/** Returns the shares of requests of a period that fail, each of as many requests. */
function ratesOf(
  flows: FlowSet,
  failures: readonly Failure[],
  { period, mostParts }: { readonly period: Period; readonly mostParts: number },
) {
  const { startUs } = flows
  const timeOf = ({ request }: Failure) => startUs[request] as number
  const own = failures.filter(
    (one) => flows.period[one.request] === period && timeOf(one) < Infinity,
  )
  const sorted = sort(own, timeOf)
  const parts = Math.min(mostParts, Math.max(1, Math.floor(sorted.length / MIN_REQUESTS)))
  return range(sorted.length === 0 ? 0 : parts).map((part) => {
    const [from, to] = [part, part + 1].map((end) => Math.round((end * sorted.length) / parts))
    const members = sorted.slice(from, to)
    const { failed, all, worth } = countFailures(flows, members)
    const rate = failed / all
    // Weighted, as many requests as those are worth.
    const [low, high] = proportionInterval(Math.round(rate * worth), Math.round(worth))
    const [fromUs, toUs] = extent(members, timeOf) as [number, number]
    return {
      period: PERIOD_NAMES[period],
      fromUs,
      toUs,
      atUs: (fromUs + toUs) / 2,
      rate,
      low,
      high,
      when: `${formatDuration(fromUs)} to ${formatDuration(toUs)}`,
      failed: `${grouped(failed)} of ${grouped(all)}`,
    }
  })
}

function countFailures(flows: FlowSet, own: readonly Failure[]) {
  const counts = own.map(({ request }) => flows.countOf(request))
  return {
    failed: sum(own, ({ value }, i) => value * (counts[i] as number)),
    all: sum(counts),
    worth: worthOf(
      own.map(({ value }) => value),
      counts,
    ),
  }
}

/** Draws how long requests take at which load, and the time expected from before: more has another reason. */
export const loadChart = defineChart({}, ({ flows }: Comparison) => {
  const learned = loadWindows(flows, BEFORE)
  const predict = predictor(learned)
  const rows = [learned, loadWindows(flows, AFTER)].flatMap((windows, period) =>
    windows.map((window) => ({
      rate: window.rate,
      share: 1 + window.excess,
      kind: PERIOD_NAMES[period] as string,
      took: percent(1 + window.excess),
      ...(period === BEFORE && { expected: 1 + predict(window) }),
    })),
  )
  const rangeOf = (values: readonly number[]) => {
    const [low = 1, high = 1] = extent(values.filter((value) => value > 0))
    return [low / 1.1, high * 1.1] as const
  }
  const [rates, shares] = [rows.map(({ rate }) => rate), rows.map(({ share }) => share)]
  const x = on(logAxis(rangeOf(rates), 'requests a second'), 'rate')
  const y = logAxis(rangeOf(shares), 'response time, relative to the same type before')
  const axis = { ...y.axis, labelExpr: "format(datum.value * 100, ',~r') + ' %'" }
  const { verdict, contributionUs } = expectedAtLoad(flows)
  const much = `${formatDuration(Math.abs(contributionUs))} ${contributionUs < 0 ? 'less' : 'more'}`
  const meanings = {
    unseen: 'The before period never had the load of after, so its effect is unknown.',
    independent: 'Before, times do not depend on the load.',
    few: 'Too few stretches to learn from: the line is a guess.',
    known: `At the load of after, requests should take ${much} in all.`,
  }
  return framedChart(
    {
      title: 'Response time against load',
      subtitle: [
        rows.length === 0
          ? 'Too few requests arrive to compute a rate.'
          : 'Each point is a stretch of time. Line: the time expected at each load, learned from before.',
        meanings[verdict],
      ],
      width: 560,
    },
    {
      width: 520,
      height: 300,
      layer: [
        {
          data: { values: rows },
          mark: { type: 'point', filled: true, opacity: 0.7 },
          encoding: {
            x,
            y: on({ ...y, axis }, 'share'),
            color: periodColor('kind', { title: null }),
            tooltip: tooltip({
              period: 'kind',
              'requests a second': ['rate', ',.3~r'],
              time: 'took',
            }),
          },
        },
        {
          data: { values: rows.slice(0, learned.length) },
          mark: { type: 'line', color: PALETTE.text, strokeWidth: 1.5, interpolate: 'step-after' },
          encoding: { x, y: on({ ...y, axis }, 'expected') },
        },
      ],
    },
  )
})
