import { sum } from 'd3-array'
import { most } from '../../core/options.ts'
import { amountsName, formatAmount } from '../../core/quantity.ts'
import { counted, grouped, tooltipText } from '../../core/words.ts'
import type { Anomalies, Anomaly, AnomalyGroup } from '../../explain/variance/find-anomalies.ts'
import { durationAxis } from './axes.ts'
import {
  apart,
  colorBy,
  distinctTexts,
  on,
  rowNames,
  spread,
  textBeside,
  tooltip,
} from './builders.ts'
import { defineChart, framedChart, onlyFirst, PALETTE } from './chart-frame.ts'
import { thinned } from './ecdf-curves.ts'
import { rootName } from './node-names.ts'

const WIDTH = 340
const STRIP = 36
const DOT = { usual: 14, unlike: 44, typical: 60 } as const
/** Dots of a strip; of more requests, some at even distances of the ascending times. */
const MAX_USUAL = 150
const MAX_UNLIKE = 60
/** A logarithmic axis when the longest time is more than this many times the shortest. */
const WIDE = 8
const KINDS = [
  { name: 'usual', color: PALETTE.rest },
  { name: 'the median of these', color: PALETTE.text },
  { name: 'far out', color: PALETTE.change },
] as const

/** Returns the requests of a group that are drawn as unlike the others. */
export function unlikeOf({ members }: AnomalyGroup): readonly number[] {
  return thinned(members, MAX_UNLIKE)
}

/**
 * Draws each kind of request that has anomalies as a strip of response times: those far out, on one
 * scale with the others.
 */
export const anomaliesChart = defineChart(
  { limit: most(12, 'kinds of request', 'Maximum number of kinds of request drawn') },
  (found: Anomalies, { limit }) => {
    const { categories, groups: all } = found
    const { quantity: of } = categories.flows
    const strips = all.slice(0, limit)
    const labels = distinctTexts(strips, 44, (strip) => nameOf(found, strip))
    const rows = strips.flatMap((strip, i) => dotsOf(found, strip, labels[i] as string))
    const times = rows.map(({ us }) => us)
    const [lowUs, highUs] = [Math.min(...times), Math.max(...times)]
    const x = durationAxis({ lowUs, highUs, title: amountsName(of), of }, WIDE)
    const y = rowNames({ grid: true })
    const color = colorBy(KINDS, rows)
    const unlike = sum(found.anomalies, ({ requests }) => requests)
    return framedChart(
      {
        title: 'Requests unlike the others of their kind',
        none: strips.length === 0 && 'No request is far out.',
        subtitle: `Each dot is a request. ${counted(unlike, 'request')} in ${counted(all.length, 'kind')} of request are unlike the others.`,
        omissions: onlyFirst(limit, all.length, 'kind'),
        width: 740,
      },
      {
        width: WIDTH,
        height: strips.length * STRIP,
        data: { values: rows },
        layer: [
          {
            mark: { type: 'point', filled: true, opacity: 0.75 },
            encoding: {
              x: on(x, 'us'),
              y,
              yOffset: apart('offset'),
              color,
              size: { field: 'size', type: 'quantitative', scale: null, legend: null },
              tooltip: tooltip({ trace: 'trace', took: 'took' }),
            },
          },
          {
            data: {
              values: strips.map((strip, i) => textOf(found, strip, labels[i] as string)),
            },
            ...textBeside({ field: 'said', x: { value: 'width' }, y }),
          },
        ],
      },
    )
  },
)

function nameOf({ categories, anomalies }: Anomalies, strip: AnomalyGroup): string {
  const [{ category, period }] = strip.anomalies as [Anomaly]
  const when = anomalies.some((other) => other.period !== period) ? `, ${period}` : ''
  return `${rootName(categories, category, 30)} (${category}${when})`
}

function textOf({ categories }: Anomalies, { anomalies }: AnomalyGroup, label: string) {
  const [{ of, medianUs, usualUs }] = anomalies as [Anomaly]
  const amount = (us: number) => formatAmount(us, categories.flows.quantity)
  const requests = sum(anomalies, (each) => each.requests)
  return {
    label,
    said: `${grouped(requests)} of ${grouped(of)}: ${amount(medianUs)}, usually ${amount(usualUs)}`,
  }
}

function dotsOf({ categories }: Anomalies, strip: AnomalyGroup, label: string) {
  const { ids, responseTimeUs, quantity } = categories.flows
  const dot =
    (kind: (typeof KINDS)[number]['name'], size: number) => (request: number, i: number) => {
      const us = responseTimeUs[request] as number
      const trace = tooltipText(ids[request] ?? '')
      return {
        label,
        kind,
        size,
        offset: size === DOT.typical ? 0 : spread(i, 1),
        us,
        trace,
        took: formatAmount(us, quantity),
      }
    }
  return [
    ...thinned(strip.usual, MAX_USUAL).map(dot('usual', DOT.usual)),
    ...strip.typical.map(dot('the median of these', DOT.typical)),
    ...unlikeOf(strip).map(dot('far out', DOT.unlike)),
  ]
}
