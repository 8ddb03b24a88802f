import { group, least, range, rollup, sum } from 'd3-array'
import type { Moves, Stream } from '../../compare/precursors/moves.ts'
import { signedAmount } from '../../core/quantity.ts'
import { counted, grouped, percent, shortText, tooltipText } from '../../core/words.ts'
import { colorBy, textBeside, tooltip } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE, type SpecPart } from './chart-frame.ts'
import { rootName } from './node-names.ts'

const WIDTH = 380
const ROW_HEIGHT = 34
const GAP = 0.08
const POINTS = 21

const LOOKS = [
  { name: 'takes longer', color: PALETTE.change },
  { name: 'takes less', color: PALETTE.less },
]

type Move = Stream & { readonly from: number; readonly to: number }

/** Draws moves of requests between categories: as wide as their number, labelled with what they add in total. */
export const movesChart = defineChart(
  { limit: mostDrawn(12, 'streams', 'largest change of time first') },
  ({ streams, precursors, totalUs }: Moves, { limit }) => {
    const { categories } = precursors.structural
    const { quantity } = categories.flows
    const all = streams.filter((stream): stream is Move => stream.kind === 'moves')
    const shown = all.slice(0, limit)
    const names = namesOf(precursors, shown)
    const bands = placed(shown)
    const rows = bands.map(({ move, left, right }) => ({
      kind: LOOKS[move.addedUs < 0 ? 1 : 0]?.name ?? '',
      amount: signedAmount(move.addedUs, quantity),
      from: names(move.from),
      to: names(move.to),
      requests: Number(move.requests.toPrecision(4)),
      middle: (left.low + left.high) / 2,
      left,
      right,
    }))
    const addedUs = sum(all, (move) => move.addedUs)
    return framedChart(
      {
        title: 'Where requests went',
        none: all.length === 0 && 'No requests moved from one category to another.',
        subtitle: [
          `${counted(Math.round(sum(all, ({ requests }) => requests)), 'request')} moved to another category: ${signedAmount(addedUs, quantity)} in total, ${percent(addedUs / totalUs)} of the change.`,
          'Left: before, right: after. Width of bands: number of requests. Names show a step that the other categories lack.',
        ],
        omissions: all.length > limit && `Leaves out ${counted(all.length - limit, 'stream')}.`,
        width: WIDTH + 440,
      },
      viewOf(rows, bands, names),
    )
  },
)

type Extent = Readonly<Record<'low' | 'high', number>>

/** Stacks the bands of each category on both sides, in the order of their sizes. */
function placed(moves: readonly Move[]) {
  const gap = GAP * sum(moves, ({ requests }) => requests)
  const extents = (side: 'from' | 'to', byOther: readonly Move[]) => {
    const places = new Map<Move, Extent>()
    let at = 0
    for (const own of group(byOther, (move) => move[side]).values()) {
      for (const move of own) {
        places.set(move, { low: at, high: at + move.requests })
        at += move.requests
      }
      at += gap
    }
    return { places, height: at - gap }
  }
  const left = extents('from', moves)
  const right = extents('to', [...left.places.keys()])
  const most = Math.max(left.height, right.height)
  const within = ({ places, height }: typeof left, move: Move): Extent => {
    const { low, high } = places.get(move) as Extent
    const start = (most - height) / 2
    return { low: start + low, high: start + high }
  }
  return moves.map((move) => ({ move, left: within(left, move), right: within(right, move) }))
}

type Bands = ReturnType<typeof placed>

/** Least height of a gap, so that names of thin bands stand apart. */
const LINE = 16
/** Bands that are less high have their amount in the tooltip alone, in pixels. */
const LETTERS = 11

function viewOf(
  rows: readonly { readonly left: Extent; readonly right: Extent; readonly kind: string }[],
  bands: Bands,
  names: (category: number) => string,
): SpecPart {
  const values = rows.flatMap(({ left, right, ...row }, band) =>
    range(POINTS).map((point) => {
      const x = point / (POINTS - 1)
      const part = x * x * (3 - 2 * x)
      const between = (a: number, b: number) => a + part * (b - a)
      const low = between(left.low, right.low)
      return { ...row, band, x, low, high: between(left.high, right.high) }
    }),
  )
  const ends = (['from', 'to'] as const).flatMap((side) => {
    const extent = ({ left, right }: Bands[number]) => (side === 'from' ? left : right)
    return Array.from(
      group(bands, ({ move }) => move[side]),
      ([category, own]) => {
        const low = Math.min(...own.map((band) => extent(band).low))
        const high = Math.max(...own.map((band) => extent(band).high))
        const requests = grouped(Math.round(sum(own, ({ move }) => move.requests)))
        const name = `${names(category)} (${requests})`
        return { x: side === 'from' ? 0 : 1, low, high, middle: (low + high) / 2, name }
      },
    )
  })
  const x = { field: 'x', type: 'quantitative', axis: null, scale: { domain: [0, 1] } }
  const scale = { reverse: true, zero: false }
  const y = (field: string) => ({ field, type: 'quantitative', axis: null, scale })
  const highest = Math.max(...ends.map((end) => end.high))
  const gap = GAP * sum(bands, ({ move }) => move.requests)
  const height = Math.max(ROW_HEIGHT * 3, (LINE * highest) / gap)
  const pixels = height / highest
  const hasRoom = ({ low, high }: Extent) => pixels * (high - low) >= LETTERS
  return {
    width: WIDTH,
    height,
    layer: [
      {
        data: { values },
        mark: { type: 'area', opacity: 0.4 },
        encoding: {
          x,
          y: y('low'),
          y2: { field: 'high' },
          detail: { field: 'band', type: 'nominal' },
          color: colorBy(LOOKS, values),
          tooltip: tooltip({
            before: 'from',
            after: 'to',
            requests: ['requests', ',~r'],
            'adds in total': 'amount',
          }),
        },
      },
      {
        data: { values: ends },
        mark: { type: 'bar', width: 6, color: PALETTE.rest, tooltip: false },
        encoding: { x, y: y('low'), y2: { field: 'high' } },
      },
      {
        data: { values: ends },
        ...textBeside({ x, y: y('middle'), field: 'name', leftIf: 'datum.x === 0' }),
      },
      {
        data: { values: values.filter((row) => row.x === 0 && hasRoom(row)) },
        ...textBeside({ x, y: y('middle'), field: 'amount' }),
      },
    ],
  }
}

const MAX_NAME = 44

/** Names categories by their root and by the step that the fewest others of those shown have. */
function namesOf({ structural: { categories } }: Moves['precursors'], moves: readonly Move[]) {
  const ids = [...new Set(moves.flatMap(({ from, to }) => [from, to]))]
  const labelsOf = (category: number) => [...new Set(categories.structure(category).labels)]
  const holders = rollup(
    ids.flatMap(labelsOf),
    (all) => all.length,
    (text) => text,
  )
  const names = new Map(
    ids.map((category) => {
      const { labels, preorder } = categories.structure(category)
      const first = least(preorder, (node) => holders.get(labels[node] ?? '') ?? 0) ?? 0
      const { operation } = categories.shownNode(category, first)
      const root = rootName(categories, category, MAX_NAME)
      const own = operation === '' ? (labels[first] ?? '') : operation
      const told = first === preorder[0] ? root : `${root}: ${own}`
      return [category, tooltipText(shortText(told, MAX_NAME))] as const
    }),
  )
  return (category: number) => names.get(category) ?? ''
}
