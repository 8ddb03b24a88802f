import { extent, least, range, sort } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { type EdgeSamples, type Latencies, pairOf } from '../../compare/categories/class-times.ts'
import type { FindingStep } from '../../compare/findings/finding.ts'
import { timesOfFinding } from '../../compare/findings/slow-examples.ts'
import { testText } from '../../compare/mutations/compare-samples.ts'
import type {
  EdgeComparison,
  FamilyTest,
  ResponseTimeMutations,
} from '../../compare/mutations/find-response-time-mutations.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { OptionError } from '../../core/errors.ts'
import { oneOf, optionalNumber, optionalText } from '../../core/options.ts'
import {
  amountsName,
  changeWords,
  formatAmount,
  fromToText,
  type Quantity,
  TIME,
} from '../../core/quantity.ts'
import {
  certaintyText,
  counted,
  grouped,
  percent,
  pValue,
  shortText,
  spoken,
} from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { type Ecdf, ecdf } from '../../stats/ecdf.ts'
import type { SamplePair } from '../../stats/two-sample.ts'
import { type Axis, durationAxis, shareAxis } from './axes.ts'
import { alongAxis, curves, quantity, tooltip } from './builders.ts'
import { defineChart, framedChart, PALETTE, type SpecPart } from './chart-frame.ts'
import { shareAt, stepsBetween } from './ecdf-curves.ts'
import { rootName } from './node-names.ts'

/** A logarithmic axis when the longest time is more than this many times the shortest. */
const WIDE = 20

export const CATEGORY_OPTION = optionalNumber(
  'Category; by default the one whose response times differ most surely',
)

/** Draws response times of a category as cumulative shares, and their largest gap. Source: Sambasivan 2013, §2.6.2. */
export const responseTimesChart = defineChart(
  { category: CATEGORY_OPTION },
  (responseTime: ResponseTimeMutations, { category: asked }) => {
    const category = asked ?? tellingCategory(responseTime)
    const { categories } = responseTime
    const of = categories.flows.quantity
    return gapChart(responseTime, {
      title: `${of === TIME ? 'Response times' : of.name} of ${rootName(categories, category, 100)} (category ${category})`,
      amounts: amountsName(of),
      ended: 'had finished',
      counted: 'request',
      quantity: of,
      test: responseTime.test(category),
      times: categories.samples(category),
    })
  },
)

/** Draws times of an edge as cumulative shares, also every round of a loop. Source: Sambasivan 2013, Figure 3.6b. */
export const edgeTimesChart = defineChart(
  {
    category: CATEGORY_OPTION,
    edge: optionalNumber(
      'Number of the edge in its category; by default the changed one whose mean moved furthest',
    ),
    each: oneOf(['request', 'round'], {
      default: 'request',
      sentence:
        'Draw one time a request, as tested, or every time that it passes the edge, as folded loops do',
    }),
  },
  (responseTime: ResponseTimeMutations, { category: asked, edge: askedEdge, each }) => {
    const category = asked ?? tellingCategory(responseTime)
    const { categories } = responseTime
    const edges = responseTime.edges(category)
    const edge = askedEdge == null ? tellingEdge(edges) : edges[askedEdge]
    if (edge === undefined) {
      const wanted = edges.length === 0 ? 'a category that has edges' : `0 to ${edges.length - 1}`
      throw new OptionError('edge', askedEdge, wanted)
    }
    const { from, to, fromRoundBefore } = edge.edge
    const samples = categories.edgeSamples(category)[edge.number] as EdgeSamples
    const again = fromRoundBefore ? ' of the next round' : ''
    const ofAll = each === 'round'
    return gapChart(responseTime, {
      title: `${shortText(from, 45)} → ${shortText(to, 45)}${again} (category ${category})`,
      amounts: ofAll ? 'time of each round' : 'time on the edge',
      ended: 'were through',
      counted: ofAll ? 'round' : 'request',
      quantity: categories.flows.quantity,
      test: ofAll ? null : edge.test,
      untested: '; not tested.',
      times: ofAll ? everyTimes(categories, category, edge.number) : pairOf(samples),
    })
  },
)

/** Draws the times of the step that a finding rests on as cumulative shares, one a request of its segment. */
export const stepTimesChart = defineChart(
  {
    finding: optionalText('Id of the finding; by default the first that rests on a step', null),
  },
  ({ findings: { findings }, steps }: Comparison, { finding: asked }) => {
    const rested = findings.filter((one) => one.steps.length > 0)
    const finding = rested.find(({ id }) => asked === null || id === asked)
    if (finding === undefined) {
      if (asked !== null) {
        const ids = rested.map(({ id }) => id).join(', ')
        throw new OptionError('finding', asked, ids || 'none: no finding rests on a step')
      }
      const none = 'No finding rests on a step.'
      const title = 'Times of a step that changed'
      return framedChart({ title, none, subtitle: [], width: 560 }, {})
    }
    const { of, isOfSegment } = timesOfFinding(steps, finding)
    const { quantity } = steps.flows
    const { service, operation } = finding.steps[0] as FindingStep
    const step = `${service}${operation && `: ${operation}`}`
    const where = spoken([step, isOfSegment && finding.segment?.text])
    return gapChart(null, {
      quantity,
      title: shortText(where.join(', where '), 200),
      amounts: 'time of the step in a request',
      ended: 'had finished',
      counted: 'request',
      test: null,
      untested: `, ${certaintyText(finding.p)}.`,
      times: sampledTimes(steps.flows, of),
    })
  },
)

function tellingEdge(edges: readonly EdgeComparison[]): EdgeComparison | undefined {
  const [edge] = sort(
    edges,
    ({ test }) => Number(test.rejected !== true),
    ({ beforeMeanUs, afterMeanUs }) => -Math.abs(afterMeanUs - beforeMeanUs) || 0,
  )
  return edge
}

/** Times of an edge class in every request, as often as each has it. */
function everyTimes(categories: Categories, category: number, edge: number): SamplePair {
  const flows = recordedFlows(categories.flows)
  return sampledTimes(flows, (period) =>
    [...categories.members(category, period)].flatMap((request) => {
      const latencies = flows.latencies(request)
      return [...categories.recordedClassOf(request)].flatMap((number, at) =>
        number === edge ? [{ us: latencies[at] as number, request }] : [],
      )
    }),
  )
}

/** Returns times of requests of both periods, with weights where requests count more or less than one. */
function sampledTimes(
  { counted }: FlowSet,
  timesOf: (period: Period) => readonly { readonly us: number; readonly request: number }[],
): SamplePair {
  const [before, after] = ([BEFORE, AFTER] as const).map((period) => {
    const times = timesOf(period)
    return {
      latencyUs: Float64Array.from(times, ({ us }) => us),
      weights: counted && Float64Array.from(times, ({ request }) => counted[request] as number),
    }
  }) as [Latencies, Latencies]
  return pairOf({ before, after })
}

interface Distributions {
  readonly title: string
  readonly amounts: string
  /** Words for what requests did by a time. */
  readonly ended: string
  readonly counted: string
  readonly quantity: Quantity
  /** Test of the two; `null` where none was made, or another, which `untested` says. */
  readonly test: FamilyTest | null
  readonly untested?: string
  /** Times before and after, in µs. */
  readonly times: SamplePair
}

function gapChart(responseTime: ResponseTimeMutations | null, of: Distributions) {
  const { times, quantity } = of
  const before = ecdf(times.before, times.beforeWeights)
  const after = ecdf(times.after, times.afterWeights)
  const [lowUs = 0, highUs = 1000] = extent([...before.x, ...after.x])
  const x = durationAxis({ lowUs, highUs, title: of.amounts, of: quantity }, WIDE)
  const gap = responseTime !== null && of.test !== null && gapOf(of, of.test, [before, after])
  return framedChart(
    {
      title: of.title,
      subtitle:
        gap === false
          ? `Median ${fromToText(quantileOf(before), quantileOf(after), quantity)}: ${counted(before.count, of.counted)} before, ${grouped(after.count)} after${of.untested ?? ''}`
          : [
              responseTime.options.test !== 'ks' && gap.test.testable
                ? `Median ${fromToText(quantileOf(before), quantileOf(after), quantity)}.`
                : finding(gap, quantity),
              verdict(gap.test, responseTime),
            ],
      width: 560,
    },
    curves({
      x,
      y: shareAxis(
        quantity === TIME
          ? `share of ${of.counted}s ${of.ended.replace(/^\w+ /, '')}`
          : `share of ${of.counted}s up to`,
      ),
      curves: [
        { name: 'before', color: PALETTE.before, points: stepsBetween(before, x.domain) },
        { name: 'after', color: PALETTE.after, points: stepsBetween(after, x.domain) },
      ],
      over: gap === false ? [] : gapMark(gap, x, quantity),
      fields: ['period', 'timeUs', 'share'],
    }),
  )
}

function gapOf(of: Distributions, test: FamilyTest, curves: readonly [Ecdf, Ecdf]) {
  const [before, after] = curves.map((curve) => shareAt(curve, test.location)) as [number, number]
  /** Times at which the curves are half-way between the two shares. */
  const crossings = curves.map((curve) => quantileOf(curve, (before + after) / 2))
  return { ...of, test, before, after, crossings }
}

type Gap = ReturnType<typeof gapOf>

function quantileOf({ x, y }: Ecdf, part = 0.5): number {
  return x[y.findIndex((share) => share >= part)] ?? Number.NaN
}

export function tellingCategory(responseTime: ResponseTimeMutations): number {
  const all = range(responseTime.categories.size)
  const testable = all.filter((category) => responseTime.test(category).testable)
  return least(testable, (category) => responseTime.test(category).p) ?? 0
}

function finding({ test, before, after, ended, counted }: Gap, of: Quantity): string {
  const { beforeCount, afterCount, location, direction, statistic } = test
  if (beforeCount === 0 || afterCount === 0) {
    return `No ${counted}s of this category ${beforeCount === 0 ? 'before' : 'after'}: nothing to compare.`
  }
  if (statistic === 0)
    return `${of === TIME ? 'Response times are' : `${of.name} is`} the same in both periods.`
  const shares =
    of === TIME
      ? `by ${formatAmount(location, of)}, ${percent(before)} of the ${counted}s before and ${percent(after)} of those after ${ended}.`
      : `${percent(before)} of the requests before and ${percent(after)} of those after have up to ${formatAmount(location, of)}.`
  return test.rejected && direction !== 'none'
    ? `After is ${changeWords(of, direction === 'slower').how}: ${shares}`
    : `Largest gap: ${shares}`
}

function verdict(test: FamilyTest, { options }: ResponseTimeMutations): string {
  const { beforeCount, afterCount } = test
  const sizes = `${counted(beforeCount, 'request')} before, ${grouped(afterCount)} after`
  if (!test.testable) return `Too few requests for a test: ${sizes}.`
  const q = options.correction === 'bh' ? `, ${certaintyText(test.q)} corrected` : ''
  const level = `${Number((options.alpha * 100).toPrecision(3))} %`
  const says = test.rejected ? 'significant' : 'not significant'
  return `${testText(options.test, test)}${q}; ${says} at the ${level} level; ${sizes}.`
}

/** Share of the axis that the name of a gap takes. */
const NAME = 0.25

/** Returns where the name of a gap begins, and whether it ends there: where no curve strikes it through. */
function placeOfName(all: readonly number[], x: Axis): readonly [us: number, isRight: boolean] {
  const known = all.filter((us) => !Number.isNaN(us))
  const [location = 0] = known
  const places = known.map((us) => alongAxis(x, us))
  const after = (at: number) => Math.min(1, ...places.filter((place) => place > at)) - at
  const before = (at: number) => at - Math.max(0, ...places.filter((place) => place < at))
  const at = alongAxis(x, location)
  if (after(at) > NAME || before(at) > NAME) return [location, after(at) <= NAME]
  return after(Math.max(...places)) > NAME
    ? [Math.max(...known), false]
    : [Math.min(...known), true]
}

function gapMark({ test, before, after, crossings }: Gap, x: Axis, of: Quantity): SpecPart[] {
  if (Number.isNaN(test.location)) return []
  const [textUs, isRight] = placeOfName([test.location, ...crossings], x)
  const color = test.rejected ? PALETTE.change : PALETTE.rest
  const value = {
    timeUs: test.location,
    low: Math.min(before, after),
    high: Math.max(before, after),
    middle: (before + after) / 2,
    textUs,
    text: `D = ${test.statistic.toFixed(2)} at ${formatAmount(test.location, of)}`,
    p: pValue(test.p),
    finishedBefore: percent(before),
    finishedAfter: percent(after),
  }
  const side = isRight ? { align: 'right', dx: -7 } : { align: 'left', dx: 7 }
  const text = { type: 'text', fontSize: 12, fontWeight: 'bold', baseline: 'middle', ...side }
  const at = { x: quantity('textUs'), y: quantity('middle'), text: { field: 'text' } }
  return [
    {
      data: { values: [value] },
      layer: [
        {
          mark: { type: 'rule', color, strokeWidth: 3 },
          encoding: {
            x: quantity('timeUs'),
            y: quantity('low'),
            y2: { field: 'high' },
            tooltip: tooltip({
              'largest gap': 'text',
              'p-value': 'p',
              'finished by then, before': 'finishedBefore',
              'finished by then, after': 'finishedAfter',
            }),
          },
        },
        { mark: { ...text, color: 'white', stroke: 'white', strokeWidth: 4 }, encoding: at },
        {
          mark: { ...text, color: test.rejected ? PALETTE.changeText : PALETTE.softText },
          encoding: at,
        },
      ],
    },
  ]
}
