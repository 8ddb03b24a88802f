import { extent } from 'd3-array'
import { most } from '../../core/options.ts'
import { counted, grouped, percent, shortNumber, shortText, tooltipText } from '../../core/words.ts'
import type { ExplosionDiagnosis } from '../../explain/explosion/diagnose-explosion.ts'
import { type FoldedFlows, foldedSizes } from '../../flows/fold/folded-flows.ts'
import { type Axis, logAxis, shareAxis } from './axes.ts'
import { digits, distinctTexts, moves, ruleAt } from './builders.ts'
import { defineChart, framedChart, PALETTE, type SpecPart } from './chart-frame.ts'

/**
 * Draws what each remedy does to the number of categories, their requests, and the share of
 * requests that can be tested; best first. Source: Sambasivan 2013, §3.5.3; the drawing is our own.
 */
export const explosionChart = defineChart({}, (diagnosis: ExplosionDiagnosis) => {
  const rows = rowsOf(diagnosis)
  const notTried = diagnosis.leftOut.map(
    ({ remedy, reason }) => `${remedy} (${shortText(reason, 80)})`,
  )
  return framedChart(
    {
      title: 'What each remedy does against too many categories',
      subtitle:
        rows.length === 0
          ? 'There are no requests.'
          : // What helps is drawn.
            diagnosis.text().split('\n', 1),
      omissions:
        notTried.length === 0 || rows.length === 0 ? [] : [`Not tried: ${notTried.join('; ')}.`],
      width: 840,
    },
    {
      data: { values: rows },
      spacing: 22,
      hconcat: [
        panel(rows, 'categories', wideLogAxis(rows, 'categories', 'categories')),
        panel(
          rows,
          'perCategory',
          wideLogAxis(rows, 'perCategory', 'requests in each, on average'),
        ),
        panel(rows, 'testable', shareAxis('requests that can be tested', { room: 0.22 })),
      ],
    },
  )
})

function rowsOf({ sizes, remedies }: ExplosionDiagnosis) {
  const asIs = { remedy: 'as it is', code: '–', ...sizes }
  return [asIs, ...remedies]
    .filter(({ categories }) => categories > 0)
    .map(({ remedy, code, categories, requestsPerCategory, testableShare, medianC2 }) => ({
      label: remedy,
      code: tooltipText(code),
      isNow: remedy === asIs.remedy,
      categories,
      perCategory: digits(requestsPerCategory),
      testable: Number(testableShare.toFixed(6)),
      categoriesNow: sizes.categories,
      perCategoryNow: digits(sizes.requestsPerCategory),
      testableNow: Number(sizes.testableShare.toFixed(6)),
      categoriesText: grouped(categories),
      perCategoryText: shortNumber(requestsPerCategory),
      testableText: percent(testableShare),
      spread: Number.isNaN(medianC2) ? 'none' : String(Number(medianC2.toPrecision(2))),
    }))
}

type Rows = ReturnType<typeof rowsOf>
type Measure = 'categories' | 'perCategory' | 'testable'

function panel(rows: Rows, measure: Measure, axis: Axis): SpecPart {
  const [now] = rows
  const line = { color: PALETTE.rest, strokeDash: [4, 3] }
  return moves({
    rows,
    axis,
    isShared: true,
    under: now === undefined ? [] : [ruleAt(now[measure], line)],
    from: `${measure}Now`,
    to: measure,
    toText: `${measure}Text`,
    tooltip: {
      remedy: 'label',
      'in code': 'code',
      categories: 'categoriesText',
      'requests in each': 'perCategoryText',
      'requests that can be tested': 'testableText',
      'median C²': 'spread',
    },
    width: 210,
    hidden: measure !== 'categories',
  })
}

function wideLogAxis(rows: Rows, measure: Measure, title: string): Axis {
  const [low = 1, high = 1] = extent(rows, (row) => row[measure])
  const span = Math.max(10, high / low)
  const axis = logAxis([low / span ** 0.22, low * span ** 1.3], title)
  const ticks = axis.axis['values'] as readonly number[]
  // Panels are narrow: 2 and 5 between powers of ten only where there are hardly any.
  const few = ticks.filter((tick) => span < 15 || /^1e/.test(tick.toExponential()))
  return { ...axis, axis: { ...axis.axis, values: few } }
}

/**
 * Draws how many nodes each kind of folded flow has, as recorded and folded. Source: the figures of
 * Sambasivan 2013, Table 3.6; the drawing is our own.
 */
export const foldedSizesChart = defineChart(
  { limit: most(20, 'kinds of flow', 'Most kinds of flow drawn, largest flows first') },
  (flows: FoldedFlows, { limit }) => {
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
            ? 'There are no requests.'
            : [
                'Grey: mean as recorded. Blue: folded, with what repeats in a flow drawn once.',
                `Largest: ${labels[0]}, ${largest.recordedText} nodes, folded ${largest.foldedText}.`,
              ],
        omissions:
          all.length > rows.length &&
          `Leaves out ${counted(all.length - rows.length, 'smaller kind')}.`,
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
  },
)

interface SizeRow {
  readonly root: string
  readonly requests: number
  readonly nodesMean: number
  readonly foldedMean: number
}
