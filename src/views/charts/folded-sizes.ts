import { defineOptions, most, type OptionsOf, readOptions } from '../../core/options.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { counted, grouped, shortNumber } from '../../core/words.ts'
import { type FoldedFlows, foldedSizes } from '../../flows/fold/folded-flows.ts'
import { logAxis } from './axes.ts'
import { moves } from './builders.ts'
import { digits, distinctTexts } from './channels.ts'
import { framedChart } from './chart-frame.ts'

export const FOLDED_SIZES_CHART_OPTIONS = defineOptions({
  limit: most(20, 'kinds of flow', 'Most kinds of flow drawn, largest flows first'),
})

/**
 * Draws how many nodes each kind of folded flow has, as recorded and folded. Source: the figures of
 * Sambasivan 2013, Table 3.6; the drawing is our own.
 */
export function foldedSizesChart(
  flows: FoldedFlows,
  given?: Partial<OptionsOf<typeof FOLDED_SIZES_CHART_OPTIONS>>,
) {
  const { limit } = readOptions(FOLDED_SIZES_CHART_OPTIONS, given)
  const all = foldedSizes(flows).objects() as readonly SizeRow[]
  const kinds = all.toSorted((a, b) => b.nodesMean - a.nodesMean).slice(0, limit)
  const labels = distinctTexts(kinds, 44, ({ root }) => root)
  const rows = kinds.map(({ root, requests, nodesMean, foldedMean }, i) => ({
    label: labels[i] as string,
    name: tooltipText(root),
    requests: grouped(requests),
    recorded: digits(nodesMean),
    folded: digits(foldedMean),
    recordedText: shortNumber(nodesMean),
    foldedText: shortNumber(foldedMean),
    // Beside the dot; nothing where both are the same.
    foldedLabel: nodesMean === foldedMean ? '' : shortNumber(foldedMean),
  }))
  const sizes = rows.flatMap(({ recorded, folded }) => [recorded, folded])
  const low = Math.min(...sizes, 10)
  const [largest] = rows
  return framedChart(
    {
      title: 'Nodes of flows, as recorded and folded',
      subtitle:
        largest === undefined
          ? ['There are no requests.']
          : [
              'Grey: mean as recorded. Blue: folded, with what repeats in a flow drawn once.',
              `Largest: ${labels[0]}, ${largest.recordedText} nodes, folded ${largest.foldedText}.`,
            ],
      omissions: [
        all.length > rows.length &&
          `Leaves out ${counted(all.length - rows.length, 'smaller kind')}.`,
      ],
      width: 660,
    },
    moves({
      rows,
      axis: logAxis([low / 1.6, Math.max(...sizes, 10 * low) * 2], 'nodes'),
      from: 'recorded',
      to: 'folded',
      fromText: 'recordedText',
      toText: 'foldedLabel',
      tooltip: {
        'kind of flow': 'name',
        requests: 'requests',
        'nodes, as recorded': 'recordedText',
        'nodes, folded': 'foldedText',
      },
      width: 420,
    }),
  )
}

interface SizeRow {
  readonly root: string
  readonly requests: number
  readonly nodesMean: number
  readonly foldedMean: number
}
