import { shortText, tooltipText } from '../../core/shown-text.ts'
import { grouped, percent, shortNumber } from '../../core/words.ts'
import type { ExplosionDiagnosis } from '../../explain/explosion/diagnose-explosion.ts'
import { logTicks } from './axes.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { PALETTE } from './palette.ts'

const WIDTH = 210
const ROW = 28

/**
 * Draws what each remedy would do against too many categories: to their number, to the requests in
 * each, and to the share of requests in categories large enough to be tested. A line leads from
 * things as they are; the best remedy stands first, with the code to apply it in its tooltip.
 *
 * @param diagnosis a stage of `diagnoseExplosion`
 *
 * Source: Sambasivan 2013, §3.5.3; the drawing is flowdelta's own.
 *
 * @example
 * plotExplosion(diagnoseExplosion(comparison))
 */
export function plotExplosion(diagnosis: ExplosionDiagnosis): Chart {
  const { sizes, remedies, leftOut } = diagnosis
  const rows = [
    { remedy: 'as it is', code: '', ...sizes },
    ...remedies.map(({ code, ...remedy }) => ({ ...remedy, code })),
  ]
    .filter(({ categories }) => categories > 0)
    .map(
      ({ remedy, code, categories, requestsPerCategory, testableShare, medianC2 }): Row => ({
        ...{ remedy, categories, code: code === '' ? '–' : tooltipText(code) },
        isNow: remedy === 'as it is',
        perCategory: Number(requestsPerCategory.toPrecision(6)),
        ...{ testable: Number(testableShare.toFixed(6)), testableText: percent(testableShare) },
        perCategoryText: shortNumber(requestsPerCategory),
        categoriesText: grouped(categories),
        spread: Number.isNaN(medianC2) ? 'none' : String(Number(medianC2.toPrecision(2))),
      }),
    )
  return framedChart(
    {
      title: 'What each remedy would do against too many categories',
      subtitle:
        rows.length === 0
          ? ['There are no requests.']
          : diagnosis
              .text()
              .split('\n')
              .map((line) => shortText(line, 400)),
      omissions:
        leftOut.length === 0 || rows.length === 0
          ? []
          : [
              `Not tried: ${leftOut.map(({ remedy, reason }) => `${remedy} (${shortText(reason, 80)})`).join('; ')}.`,
            ],
      width: 3 * WIDTH + 200,
    },
    { hconcat: [categoriesPanel(rows), perCategoryPanel(rows), testablePanel(rows)], spacing: 22 },
  )
}

interface Row {
  readonly remedy: string
  readonly code: string
  readonly isNow: boolean
  readonly categories: number
  readonly categoriesText: string
  readonly perCategory: number
  readonly perCategoryText: string
  readonly testable: number
  readonly testableText: string
  readonly spread: string
}

function categoriesPanel(rows: readonly Row[]): SpecPart {
  return panel(rows, {
    ...{ field: 'categories', text: 'categoriesText', isFirst: true },
    ...logPlace(
      rows.map(({ categories }) => categories),
      'categories',
    ),
  })
}

function perCategoryPanel(rows: readonly Row[]): SpecPart {
  return panel(rows, {
    ...{ field: 'perCategory', text: 'perCategoryText', isFirst: false },
    ...logPlace(
      rows.map(({ perCategory }) => perCategory),
      'requests in each, on average',
    ),
  })
}

function testablePanel(rows: readonly Row[]): SpecPart {
  const labelExpr = "format(datum.value * 100, 'd') + ' %'"
  return panel(rows, {
    ...{ field: 'testable', text: 'testableText', isFirst: false },
    // Room for the number beside 100 %.
    scale: { domain: [0, 1.22], nice: false },
    axis: { title: 'requests that can be tested', values: [0, 0.25, 0.5, 0.75, 1], labelExpr },
  })
}

/** A logarithmic scale that holds these, with room for a number beside the largest. */
function logPlace(values: readonly number[], title: string) {
  const least = values.reduce((low, value) => Math.min(low, value), values[0] ?? 1)
  const most = values.reduce((high, value) => Math.max(high, value), 1)
  const span = Math.max(10, most / least)
  const domain = [least / span ** 0.22, least * span ** 1.3]
  const ticks = logTicks(domain[0] as number, least * span)
  // Panels are narrow: 2 and 5 between powers of ten only where there are hardly any.
  const few = ticks.filter((tick) => span < 15 || /^1e/.test(tick.toExponential()))
  return {
    scale: { type: 'log', domain, nice: false },
    axis: { title, values: few, format: ',~r' },
  }
}

interface Measure {
  readonly field: 'categories' | 'perCategory' | 'testable'
  readonly text: string
  readonly isFirst: boolean
  readonly scale: SpecPart
  readonly axis: SpecPart
}

function panel(rows: readonly Row[], { field, text, isFirst, scale, axis }: Measure): SpecPart {
  const y = {
    ...{ field: 'remedy', type: 'nominal', sort: null },
    scale: { domain: rows.map(({ remedy }) => remedy) },
    axis: isFirst
      ? { title: null, domain: false, ticks: false, labelPadding: 6, labelLimit: 300, grid: true }
      : { title: null, domain: false, ticks: false, labels: false, grid: true },
  }
  const x = { field, type: 'quantitative', scale, axis }
  const now = rows.find(({ isNow }) => isNow)?.[field] ?? 0
  const moved = rows.filter(({ isNow }) => !isNow)
  return {
    ...{ width: WIDTH, height: Math.max(1, rows.length) * ROW },
    layer: [
      {
        data: { values: rows.length === 0 ? [] : [{ now }] },
        mark: { type: 'rule', color: PALETTE.rest, strokeDash: [4, 3], tooltip: false },
        encoding: { x: { field: 'now', type: 'quantitative', scale, axis } },
      },
      {
        data: {
          values: moved.map((row) => ({
            remedy: row.remedy,
            now,
            end: row[field],
          })),
        },
        mark: { type: 'rule', color: PALETTE.after, strokeWidth: 2, tooltip: false },
        encoding: {
          x: { field: 'now', type: 'quantitative', scale, axis },
          ...{ x2: { field: 'end' }, y },
        },
      },
      {
        data: { values: rows },
        mark: { type: 'point', filled: true, size: 70, opacity: 1 },
        encoding: {
          ...{ x, y },
          color: {
            ...{ field: 'isNow', type: 'nominal', legend: null },
            scale: { domain: [true, false], range: [PALETTE.rest, PALETTE.after] },
          },
          tooltip: [
            { field: 'remedy', type: 'nominal', title: 'remedy' },
            { field: 'code', type: 'nominal', title: 'in code' },
            { field: 'categoriesText', type: 'nominal', title: 'categories' },
            { field: 'perCategoryText', type: 'nominal', title: 'requests in each' },
            { field: 'testableText', type: 'nominal', title: 'requests that can be tested' },
            { field: 'spread', type: 'nominal', title: 'median C²' },
          ],
        },
      },
      numbers(
        rows.filter((row) => row[field] >= now),
        'left',
      ),
      // Left of where the line from things as they are ends.
      numbers(
        rows.filter((row) => row[field] < now),
        'right',
      ),
    ],
  }

  function numbers(values: readonly Row[], align: 'left' | 'right'): SpecPart {
    return {
      data: { values },
      mark: {
        ...{ type: 'text', align, baseline: 'middle', dx: align === 'left' ? 8 : -8, fontSize: 11 },
        ...{ color: PALETTE.text, tooltip: false },
      },
      encoding: { x, y, text: { field: text } },
    }
  }
}
