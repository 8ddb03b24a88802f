import { rollup, sum } from 'd3-array'
import type { Moves, Stream } from '../../compare/precursors/moves.ts'
import { signedAmount, TIME } from '../../core/quantity.ts'
import { counted, percent, shortText, tooltipText } from '../../core/words.ts'
import { durationAxisWithRoom } from './axes.ts'
import { bars, colorBy, distinctTexts } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE } from './chart-frame.ts'
import { rootName } from './node-names.ts'

const LOOKS = [
  { name: 'takes longer', color: PALETTE.change },
  { name: 'takes less', color: PALETTE.less },
]

type Move = Stream & { readonly from: number; readonly to: number }

/** Draws the moves of requests between categories: a bar is the contribution of one to the total of response times. */
export const movesChart = defineChart(
  { limit: mostDrawn(12, 'streams', 'largest change of time first') },
  ({ streams, precursors, totalUs }: Moves, { limit }) => {
    const { quantity: of } = precursors.structural.categories.flows
    const all = streams.filter((stream): stream is Move => stream.kind === 'moves')
    const shown = all.slice(0, limit)
    const names = namesOf(precursors, shown)
    const labels = distinctTexts(shown, 84, ({ from, to }) => `${names(from)} → ${names(to)}`)
    const rows = shown.map((move, i) => ({
      label: labels[i] as string,
      kind: LOOKS[move.addedUs < 0 ? 1 : 0]?.name ?? '',
      addedUs: move.addedUs,
      amount: signedAmount(move.addedUs, of),
      from: names(move.from),
      to: names(move.to),
      requests: Number(move.requests.toPrecision(4)),
      text: `${signedAmount(move.addedUs, of)}, ${counted(Math.round(move.requests), 'request')}`,
    }))
    const addedUs = sum(all, (move) => move.addedUs)
    return framedChart(
      {
        title: 'Where requests went',
        none: all.length === 0 && 'No requests moved from one category to another.',
        subtitle: [
          `${counted(Math.round(sum(all, ({ requests }) => requests)), 'request')} moved to another category: ${signedAmount(addedUs, of)} in total, ${percent(addedUs / totalUs)} of the change.`,
          'Each bar is what a move adds. Names show a step that the other categories lack.',
        ],
        omissions: all.length > limit && `Leaves out ${counted(all.length - limit, 'stream')}.`,
        width: 760,
      },
      bars({
        rows,
        axis: durationAxisWithRoom(
          rows.map((row) => row.addedUs),
          { title: `adds to all ${of === TIME ? 'response times' : 'requests'}`, of, ticks: 4 },
        ),
        to: 'addedUs',
        text: 'text',
        width: 300,
        color: colorBy(LOOKS, rows),
        tooltip: {
          before: 'from',
          after: 'to',
          requests: ['requests', ',~r'],
          'adds in total': 'amount',
        },
      }),
    )
  },
)

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
      const first = [...preorder].reduce((own, node) => {
        const rarity = (at: number) => holders.get(labels[at] ?? '') ?? 0
        return rarity(node) < rarity(own) ? node : own
      })
      const { operation } = categories.shownNode(category, first)
      const root = rootName(categories, category, MAX_NAME)
      const own = operation === '' ? (labels[first] ?? '') : operation
      const told = first === preorder[0] ? root : `${root}: ${own}`
      return [category, tooltipText(shortText(told, MAX_NAME))] as const
    }),
  )
  return (category: number) => names.get(category) ?? ''
}
