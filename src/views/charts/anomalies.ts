import { group, sum } from 'd3-array'
import { most } from '../../core/options.ts'
import { amountsName, formatAmount } from '../../core/quantity.ts'
import { counted, grouped, percent, tooltipText } from '../../core/words.ts'
import { nameOfPeriod } from '../../explain/variance/compare-spreads.ts'
import type { Anomalies, Anomaly } from '../../explain/variance/find-anomalies.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { durationAxis } from './axes.ts'
import {
  apart,
  colorBy,
  distinctTexts,
  emptyView,
  on,
  rowNames,
  spread,
  tooltip,
} from './builders.ts'
import { defineChart, framedChart, PALETTE } from './chart-frame.ts'
import { rootName } from './node-names.ts'

const WIDTH = 340
const STRIP = 36
const DOT = { usual: 14, unlike: 44, typical: 60 } as const
/** Dots of a strip; of more requests, some at even distances of the ascending times. */
const MAX_USUAL = 150
const MAX_UNLIKE = 60
/** A logarithmic axis when the longest time is more than this many times the shortest. */
const WIDE = 8
const RARE = 'rare structure'
const KINDS = [
  { name: 'usual', color: PALETTE.rest },
  { name: 'the median of these', color: PALETTE.text },
  { name: 'far out', color: PALETTE.change },
  { name: RARE, color: PALETTE.change },
] as const

/** A kind of request with requests unlike the others: a row of the picture. */
export interface Strip {
  readonly anomalies: readonly Anomaly[]
  /** Requests that they are compared with, the fastest first. */
  readonly usual: readonly number[]
}

/** Returns a strip for each category with requests far out, and for each rare structure. */
export function stripsOf({ anomalies, categories }: Anomalies): Strip[] {
  const { responseTimeUs } = categories.flows
  const strips = group(
    anomalies.filter(({ farOut }) => farOut),
    ({ kind, category, period }) => `${kind} ${category} ${period}`,
  )
  return Array.from(strips.values(), (found) => {
    const [{ usual, period }] = found as [Anomaly]
    const unlike = new Set(found.flatMap(({ members }) => members))
    const others = [...categories.members(usual, period === nameOfPeriod(BEFORE) ? BEFORE : AFTER)]
    return {
      anomalies: found,
      usual: others
        .filter((request) => !unlike.has(request))
        .sort((a, b) => (responseTimeUs[a] as number) - (responseTimeUs[b] as number)),
    }
  })
}

/** Returns the request in the middle of those that a strip's anomalies are compared with; none if there are none. */
export function typicalOf({ usual }: Strip): readonly number[] {
  return usual.slice(usual.length >> 1).slice(0, 1)
}

/** Returns the requests of a strip that are drawn as unlike the others. */
export function unlikeOf({ anomalies }: Strip): readonly number[] {
  return evenly(
    anomalies.flatMap(({ members }) => members),
    MAX_UNLIKE,
  )
}

/**
 * Draws each kind of request that has anomalies as a strip of response times: those far out, or of a rare structure, on
 * one scale with the others.
 */
export const anomaliesChart = defineChart(
  { limit: most(12, 'kinds of request', 'Maximum number of kinds of request drawn') },
  (found: Anomalies, { limit }) => {
    const { categories, options } = found
    const { flows } = categories
    const all = stripsOf(found)
    const strips = all.slice(0, limit)
    const labels = distinctTexts(strips, 44, (strip) => nameOf(found, strip))
    const rows = strips.flatMap((strip, i) => dotsOf(found, strip, labels[i] as string))
    const times = rows.map(({ us }) => us)
    const isRare = rows.some(({ kind }) => kind === RARE)
    const x = durationAxis(
      {
        lowUs: Math.min(...times),
        highUs: Math.max(...times),
        title: amountsName(flows.quantity),
        of: flows.quantity,
      },
      WIDE,
    )
    const y = rowNames({ grid: true })
    const color = colorBy(KINDS, rows)
    const domain = KINDS.map(({ name }) => name).filter((name) =>
      rows.some(({ kind }) => kind === name),
    )
    const shapeOf = (name: string) => (name === RARE ? 'diamond' : 'circle')
    return framedChart(
      {
        title: 'Requests unlike the others of their kind',
        subtitle:
          strips.length === 0
            ? 'No request is far out, and no structure is rare.'
            : [
                `Each dot is a request. ${counted(
                  sum(found.anomalies, ({ farOut, requests }) => (farOut ? requests : 0)),
                  'request',
                )} in ${counted(all.length, 'kind')} of request are unlike the others.`,
                isRare &&
                  `Diamonds: a structure that at most ${percent(options.tail)} of the requests with this root have.`,
              ],
        omissions:
          all.length > limit && `Shows the first ${limit} of ${counted(all.length, 'kind')}.`,
        width: 740,
      },
      strips.length === 0
        ? emptyView(WIDTH)
        : {
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
                  shape: { ...color, scale: { domain, range: domain.map(shapeOf) } },
                  size: { field: 'size', type: 'quantitative', scale: null, legend: null },
                  tooltip: tooltip({ trace: 'trace', took: 'took' }),
                },
              },
              {
                data: {
                  values: strips.map((strip, i) => textOf(found, strip, labels[i] as string)),
                },
                mark: { type: 'text', align: 'left', dx: 10, color: PALETTE.text, tooltip: false },
                encoding: { x: { value: 'width' }, y, text: { field: 'said', type: 'nominal' } },
              },
            ],
          },
    )
  },
)

function nameOf({ categories, anomalies }: Anomalies, strip: Strip): string {
  const [{ category, period }] = strip.anomalies as [Anomaly]
  const when = anomalies.some((other) => other.period !== period) ? `, ${period}` : ''
  return `${rootName(categories, category, 30)} (${category}${when})`
}

function textOf({ categories }: Anomalies, { anomalies }: Strip, label: string) {
  const [{ of, medianUs, usualUs }] = anomalies as [Anomaly]
  const amount = (us: number) => formatAmount(us, categories.flows.quantity)
  const requests = sum(anomalies, (each) => each.requests)
  return {
    label,
    said: `${grouped(requests)} of ${grouped(of)}: ${amount(medianUs)}, usually ${amount(usualUs)}`,
  }
}

function dotsOf({ categories }: Anomalies, strip: Strip, label: string) {
  const { ids, responseTimeUs, quantity } = categories.flows
  const dot =
    (kind: (typeof KINDS)[number]['name'], size: number) => (request: number, i: number) => {
      const us = responseTimeUs[request] as number
      const trace = tooltipText(ids[request] ?? '')
      return {
        label,
        kind,
        size,
        offset: spread(i, 1),
        us,
        trace,
        took: formatAmount(us, quantity),
      }
    }
  const [first] = strip.anomalies
  return [
    ...evenly(strip.usual, MAX_USUAL).map(dot('usual', DOT.usual)),
    ...typicalOf(strip).map(dot('the median of these', DOT.typical)),
    ...unlikeOf(strip).map(dot(first?.kind === 'rare' ? RARE : 'far out', DOT.unlike)),
  ]
}

/** Returns at most so many items, at even distances, the first and the last among them. */
function evenly<T>(items: readonly T[], most: number): readonly T[] {
  const step = (items.length - 1) / (most - 1)
  return items.length <= most
    ? items
    : Array.from({ length: most }, (_, i) => items[Math.round(i * step)] as T)
}
