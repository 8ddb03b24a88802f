import { cross, sum } from 'd3-array'
import type { HostClass, HostClasses } from '../../compare/hosts/host-classes.ts'
import { count } from '../../core/options.ts'
import { counted, percent, pValue, tooltipText } from '../../core/words.ts'
import { colorBy, distinctTexts, matrix, type Row, textBeside } from './builders.ts'
import { defineChart, framedChart, PALETTE, type SpecPart } from './chart-frame.ts'

const SIDE = 420
const MAX_CELL = 26
const MIN_CELL = 4
const MIN_NAMED_CELL = 11
const MAX_CLASSES_TOLD = 6

const LOOKS = [
  { name: 'differ', color: PALETTE.change },
  { name: 'alike', color: '#4C9FC8' },
  { name: 'not compared: too few spans in common', color: PALETTE.band },
] as const

/** Draws how far every two hosts' times are apart (KS statistic), by class. Source: Sambasivan 2013, §3.5.3. */
export const hostClassesChart = defineChart(
  {
    limit: count({
      default: 100,
      min: 2,
      unit: 'hosts',
      sentence: 'Maximum number of hosts drawn; of more, some of each class in proportion',
    }),
  },
  (hostClasses: HostClasses, { limit }) => {
    const { classes, options } = hostClasses
    const all = sum(classes, ({ hosts }) => hosts.length)
    const share = all > limit ? limit / all : 1
    const blocks = classes.map(({ hosts }) =>
      hosts.slice(0, Math.max(1, Math.round(hosts.length * share))),
    )
    const hosts = blocks.flat()
    const labels = distinctTexts(hosts, 28)
    const cell = Math.min(MAX_CELL, Math.max(MIN_CELL, SIDE / Math.max(1, hosts.length)))
    const rows = cellsOf(hostClasses, hosts, labels)
    return framedChart(
      {
        title: 'Hosts grouped by performance',
        none: all === 0 && 'There are no hosts.',
        subtitle: [
          `${counted(all, 'host')} in ${counted(classes.length, 'class', 'classes')}, each framed: ${classWords(classes)}.`,
          `Two hosts differ if q < ${options.alpha} and their times lie apart by ${percent(options.minimumEffect)} of their mean or more; darker is further apart.`,
        ],
        omissions:
          hosts.length < all &&
          `Shows ${counted(hosts.length, 'host')} of ${all}, some of every class.`,
        width: Math.max(560, cell * hosts.length),
      },
      matrix({
        rows,
        labels,
        columns: labels,
        cell,
        named: cell >= MIN_NAMED_CELL,
        columnAngle: -90,
        color: colorBy(LOOKS, rows, {
          legend: { title: null, symbolType: 'square', symbolOpacity: 1 },
        }),
        channels: {
          opacity: {
            field: 'distance',
            type: 'quantitative',
            scale: { domain: [0, 1], range: [0.25, 1] },
            legend: rows.every(({ kind }) => kind === LOOKS[2].name)
              ? null
              : {
                  title: 'times apart (KS statistic)',
                  titleOrient: 'left',
                  orient: 'bottom',
                  format: '~r',
                  values: [0, 0.5, 1],
                  symbolType: 'square',
                  symbolFillColor: PALETTE.softText,
                  symbolStrokeWidth: 0,
                },
          },
        },
        tooltip: {
          host: 'host',
          and: 'other',
          'where they differ most surely': 'operation',
          'KS statistic': 'statistic',
          'corrected p': 'chance',
          'apart, of the mean': 'effect',
        },
        over: (x, y) => frames(classes, blocks, { labels, x, y, cell }),
      }),
    )
  },
)

function classWords(classes: readonly HostClass[]): string {
  const told = classes.slice(0, MAX_CLASSES_TOLD).map((each) => {
    const { name, hosts } = each
    return `${distinctTexts([name], 28)[0]} (${counted(hosts.length, 'host')}${slownessWords(each)})`
  })
  return `${told.join('; ')}${classes.length > told.length ? '; …' : ''}`
}

function slownessWords({ slowness }: HostClass): string {
  const factor = Number(slowness.toPrecision(2))
  return Number.isNaN(factor) || factor === 1 ? '' : `, ${factor}× the typical time`
}

function cellsOf(found: HostClasses, hosts: readonly string[], labels: readonly string[]): Row[] {
  const all = found.matrix().objects() as readonly MatrixRow[]
  const known = new Map(all.map((row) => [JSON.stringify([row.host, row.other]), row]))
  const cells = cross(hosts.keys(), hosts.keys()).filter(([row, column]) => row !== column)
  return cells.map(([row, column]) => {
    const [host, other] = [hosts[row] as string, hosts[column] as string]
    return {
      label: labels[row] as string,
      column: labels[column] as string,
      host: tooltipText(host),
      other: tooltipText(other),
      ...tested(known.get(JSON.stringify([host, other]))),
    }
  })
}

function tested(row: MatrixRow | undefined) {
  if (row === undefined) {
    const operation = 'none with enough spans of both'
    return { kind: LOOKS[2].name, operation, statistic: '–', chance: '–', effect: '–', distance: 1 }
  }
  return {
    kind: LOOKS[row.different ? 0 : 1].name,
    operation: tooltipText(row.operation),
    statistic: row.statistic.toFixed(2),
    chance: pValue(row.q, 'q'),
    effect: percent(row.effect),
    distance: Number(row.statistic.toFixed(2)),
  }
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

function frames(
  classes: readonly HostClass[],
  blocks: readonly (readonly string[])[],
  {
    labels,
    cell,
    ...places
  }: { labels: readonly string[]; cell: number; x: SpecPart; y: SpecPart },
): SpecPart[] {
  const { x, y } = places
  let [next, namedAt] = [0, Number.NEGATIVE_INFINITY]
  const names = distinctTexts(classes, 28, ({ name }) => name)
  const values = blocks.map(({ length }, i) => {
    const [first, last] = [labels[next] as string, labels[next + length - 1] as string]
    const middle = labels[next + ((length - 1) >> 1)] as string
    next += length
    const at = (next - length / 2) * cell
    // Names of thin classes would stand on one another.
    const isNamed = at - namedAt >= MIN_NAMED_CELL
    if (isNamed) namedAt = at
    const slowness = slownessWords(classes[i] as HostClass)
    // A class of one host is called as its row is.
    const own =
      length === 1 && cell >= MIN_NAMED_CELL ? slowness.slice(2) : `${names[i]}${slowness}`
    const name = isNamed ? own : ''
    return { first, middle, last, name }
  })
  const from = { field: 'first', bandPosition: 0 }
  const frame = {
    data: { values },
    mark: {
      type: 'rect',
      filled: false,
      stroke: PALETTE.text,
      strokeWidth: cell < 8 ? 1 : 1.5,
      tooltip: false,
    },
    encoding: {
      x: { ...x, ...from },
      x2: { field: 'last', bandPosition: 1 },
      y: { ...y, ...from },
      y2: { field: 'last', bandPosition: 1 },
    },
  }
  const named = {
    data: { values },
    ...textBeside({ field: 'name', x: { value: 'width' }, y: { ...y, field: 'middle' } }),
  }
  return [frame, named]
}
