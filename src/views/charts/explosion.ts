import { extent } from 'd3-array'
import { defineOptions, readOptions } from '../../core/options.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { grouped, percent, shortNumber } from '../../core/words.ts'
import type { ExplosionDiagnosis } from '../../explain/explosion/diagnose-explosion.ts'
import { type Axis, logAxis, shareAxis } from './axes.ts'
import { moves } from './builders.ts'
import { digits, ruleAt } from './channels.ts'
import { framedChart, PALETTE, type SpecPart } from './chart-frame.ts'

export const EXPLOSION_CHART_OPTIONS = defineOptions({})

/**
 * Draws what each remedy does to the number of categories, their requests, and the share of
 * requests that can be tested; best first. Source: Sambasivan 2013, §3.5.3; the drawing is our own.
 */
export function explosionChart(
  diagnosis: ExplosionDiagnosis,
  given?: Readonly<Record<string, never>>,
) {
  readOptions(EXPLOSION_CHART_OPTIONS, given)
  const rows = rowsOf(diagnosis)
  const notTried = diagnosis.leftOut.map(
    ({ remedy, reason }) => `${remedy} (${shortText(reason, 80)})`,
  )
  return framedChart(
    {
      title: 'What each remedy does against too many categories',
      subtitle:
        rows.length === 0
          ? ['There are no requests.']
          : diagnosis
              .text()
              .split('\n')
              .map((line) => shortText(line, 400)),
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
}

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
  const view = moves({
    rows,
    axis,
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
  const { data: _, ...panelView } = view
  const [now] = rows
  const line = { color: PALETTE.rest, strokeDash: [4, 3] }
  const rules = now === undefined ? [] : [ruleAt(now[measure], line)]
  return { ...panelView, layer: [...rules, ...(view['layer'] as SpecPart[])] }
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
