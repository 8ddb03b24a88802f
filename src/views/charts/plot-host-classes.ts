import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { counted, percent, pValue } from '../../core/words.ts'
import type { HostClass, HostClasses } from '../../explain/explosion/host-classes.ts'
import type { Chart } from './chart.ts'
import { framedChart, NARROWEST_CHART, type SpecPart } from './chart-frame.ts'
import { fittedLabel } from './fitted-label.ts'
import { PALETTE } from './palette.ts'
import { type PixelText, pixelScales, tenth, textLayer } from './pixel-layers.ts'
import { textWidth } from './text-width.ts'

/** What {@link plotHostClasses} can be told. */
export interface HostClassesOptions {
  /**
   * How many hosts to draw at most; of more, some of each class, as many as its share is. Default
   * 100.
   */
  readonly limit?: number
}

/** Side of the matrix, and the widest and narrowest cell, in pixels. */
const SIDE = 420
const CELL = { widest: 26, narrowest: 4 } as const
/** Cells less high than this have no room for a name. */
const NAMED = 11
const LONGEST = 28
const GAP = 14

const KINDS = {
  different: { name: 'differ', color: PALETTE.change },
  alike: { name: 'alike', color: '#4C9FC8' },
  unknown: { name: 'not compared: too few spans in common', color: PALETTE.band },
} as const

/**
 * Draws which hosts perform alike: a square of every host by every other, in the order of their
 * classes, each of which is framed. Within a frame most pairs are alike; the darker a cell, the
 * further apart the times of the two (Kolmogorov-Smirnov statistic).
 *
 * @param hostClasses a stage of `findHostClasses`
 * @param options see {@link HostClassesOptions}
 * @throws OptionError for a limit that is no number, or below 2; FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §3.5.3; the drawing is flowdelta's own.
 *
 * @example
 * plotHostClasses(findHostClasses(comparison))
 */
export function plotHostClasses(hostClasses: HostClasses, options: HostClassesOptions = {}): Chart {
  rejectUnknownOptions(options, ['limit'])
  const { limit = 100 } = options
  if (!(limit >= 2)) throw new OptionError('limit', limit, 'a number of hosts, 2 or more')
  const { classes } = hostClasses
  const all = classes.reduce((sum, { hosts }) => sum + hosts.length, 0)
  const blocks = blocksOf(classes, all > limit ? limit / all : 1)
  const drawn = blocks.reduce((sum, { hosts }) => sum + hosts.length, 0)
  const { alpha, minimumEffect } = hostClasses.options
  const drawing = placed(hostClasses, blocks, drawn)
  return framedChart(
    {
      title: 'Which hosts perform alike',
      subtitle:
        all === 0
          ? ['There are no hosts.']
          : [
              `${counted(all, 'host')} in ${counted(classes.length, 'class', 'classes')}, each framed. ` +
                `Two hosts differ when q < ${alpha} and their times lie apart by ${percent(minimumEffect)} of their mean or more; darker is further apart.`,
            ],
      omissions:
        drawn < all
          ? [`${counted(drawn, 'host')} of ${counted(all, 'host')} are drawn, some of every class.`]
          : [],
      width: drawing.size.width,
    },
    { ...drawing.size, layer: layers(drawing) },
  )
}

interface Block extends HostClass {
  /** How many of its hosts are drawn, or all. */
  readonly of: number
}

function blocksOf(classes: readonly HostClass[], share: number): Block[] {
  return classes.map((each) => ({
    ...each,
    of: each.hosts.length,
    hosts: each.hosts.slice(0, Math.max(1, Math.round(each.hosts.length * share))),
  }))
}

interface Cell {
  readonly x: number
  readonly x2: number
  readonly y: number
  readonly y2: number
  readonly kind: string
  readonly opacity: number
  readonly host: string
  readonly other: string
  readonly operation: string
  readonly statistic: string
  readonly chance: string
  readonly effect: string
}

interface Drawing {
  readonly size: { readonly width: number; readonly height: number }
  readonly cells: readonly Cell[]
  readonly frames: readonly { x: number; x2: number; y: number; y2: number }[]
  readonly names: readonly PixelText[]
  readonly classNames: readonly PixelText[]
}

function placed(found: HostClasses, blocks: readonly Block[], drawn: number): Drawing {
  const cell = Math.min(CELL.widest, Math.max(CELL.narrowest, SIDE / Math.max(1, drawn)))
  const side = cell * drawn
  const hosts = blocks.flatMap((block) => block.hosts)
  const named = cell >= NAMED
  const left = named
    ? Math.max(0, ...hosts.map((host) => textWidth(shortText(host, LONGEST), 10))) + 8
    : 0
  let first = 0
  const places = blocks.map((block) => {
    const at = first
    first += block.hosts.length
    return { block, from: at * cell, to: first * cell }
  })
  const classNames = places.flatMap(({ block, from, to }) => classText(block, from, to))
  const right = Math.max(0, ...classNames.map(({ text }) => textWidth(text, 11)))
  const width = Math.max(NARROWEST_CHART, left + side + GAP + right)
  return {
    size: { width: Math.ceil(width), height: Math.max(1, Math.ceil(side)) },
    cells: cellsOf(found, hosts, { cell, left }),
    frames: places.map(({ from, to }) => ({
      ...{ x: tenth(left + from), x2: tenth(left + to), y: tenth(from), y2: tenth(to) },
    })),
    names: named
      ? hosts.map((host, i) => ({
          ...{ x: left - 6, y: (i + 0.5) * cell, whole: tooltipText(host) },
          text: fittedLabel(shortText(host, LONGEST), left, 10),
        }))
      : [],
    classNames: classNames.map((text) => ({ ...text, x: left + side + GAP })),
  }
}

/** The name of a class beside its block, with how many it is and how slow, on a line each where it fits. */
function classText({ name, of, slowness }: Block, from: number, to: number): PixelText[] {
  const hosts = counted(of, 'host')
  const times = isTypical(slowness) ? '' : `, ${Number(slowness.toPrecision(2))}× the typical time`
  const whole = tooltipText(`${name}: ${hosts}${times}`)
  const middle = (from + to) / 2
  const short = shortText(name, LONGEST)
  return to - from >= 30
    ? [
        { x: 0, y: middle - 7, text: short, whole },
        { x: 0, y: middle + 7, text: `${hosts}${times}`, whole },
      ]
    : to - from >= NAMED
      ? [{ x: 0, y: middle, text: `${short}: ${hosts}${times}`, whole }]
      : []
}

function cellsOf(
  found: HostClasses,
  hosts: readonly string[],
  { cell, left }: { cell: number; left: number },
): Cell[] {
  const places = new Map(hosts.map((host, i) => [host, i]))
  const cells: Cell[] = []
  const known = new Set<string>()
  const add = (i: number, j: number, parts: Omit<Cell, 'x' | 'x2' | 'y' | 'y2'>) => {
    cells.push({
      ...{ x: tenth(left + j * cell), x2: tenth(left + (j + 1) * cell) },
      ...{ y: tenth(i * cell), y2: tenth((i + 1) * cell), ...parts },
    })
  }
  for (const row of found.matrix().objects() as readonly object[]) {
    const { host, other, operation, statistic, q, effect, different } = row as MatrixRow
    const [i, j] = [places.get(host), places.get(other)]
    if (i === undefined || j === undefined) continue
    known.add(`${i} ${j}`)
    add(i, j, {
      kind: (different ? KINDS.different : KINDS.alike).name,
      opacity: Number((0.25 + 0.75 * statistic).toFixed(2)),
      ...{ host: tooltipText(host), other: tooltipText(other), operation: tooltipText(operation) },
      ...{ statistic: statistic.toFixed(2), chance: pValue(q, 'q'), effect: percent(effect) },
    })
  }
  hosts.forEach((host, i) => {
    hosts.forEach((other, j) => {
      if (i === j || known.has(`${i} ${j}`)) return
      add(i, j, {
        ...{ kind: KINDS.unknown.name, opacity: 1, operation: 'none with enough spans of both' },
        ...{ host: tooltipText(host), other: tooltipText(other) },
        ...{ statistic: '–', chance: '–', effect: '–' },
      })
    })
  })
  return cells
}

interface MatrixRow {
  readonly host: string
  readonly other: string
  readonly operation: string
  readonly statistic: number
  readonly q: number
  readonly effect: number
  readonly different: boolean
}

function layers({ size, cells, frames, names, classNames }: Drawing): SpecPart[] {
  const kinds = Object.values(KINDS).filter(({ name }) => cells.some(({ kind }) => kind === name))
  const ends = { x2: { field: 'x2' }, y2: { field: 'y2' } }
  return [
    {
      data: { values: cells },
      mark: { type: 'rect', stroke: 'white', strokeWidth: 0.5 },
      encoding: {
        ...{ ...pixelScales(size), ...ends },
        opacity: { field: 'opacity', type: 'quantitative', scale: null, legend: null },
        color: {
          ...{ field: 'kind', type: 'nominal' },
          scale: { domain: kinds.map(({ name }) => name), range: kinds.map(({ color }) => color) },
          legend:
            kinds.length === 0 ? null : { title: null, symbolType: 'square', symbolOpacity: 1 },
        },
        tooltip: [
          { field: 'host', type: 'nominal', title: 'host' },
          { field: 'other', type: 'nominal', title: 'and' },
          { field: 'operation', type: 'nominal', title: 'where they differ most surely' },
          { field: 'statistic', type: 'nominal', title: 'KS statistic' },
          { field: 'chance', type: 'nominal', title: 'corrected p' },
          { field: 'effect', type: 'nominal', title: 'apart, of the mean' },
        ],
      },
    },
    {
      data: { values: frames },
      mark: { type: 'rect', filled: false, stroke: PALETTE.text, strokeWidth: 1.5, tooltip: false },
      encoding: { ...pixelScales(size), ...ends },
    },
    textLayer(names, size, { align: 'right', fontSize: 10, color: PALETTE.text }),
    textLayer(classNames, size, { color: PALETTE.text }),
  ]
}

/** Nothing is said of hosts that are as fast as others, or of which nothing was timed. */
function isTypical(slowness: number): boolean {
  return Number.isNaN(slowness) || Number(slowness.toPrecision(2)) === 1
}
