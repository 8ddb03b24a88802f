import type { Findings } from '../../compare/findings/findings.ts'
import { shortText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, percent } from '../../core/words.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { linearDurationAxis } from './duration-axis.ts'
import { PALETTE } from './palette.ts'

const WIDTH = 360
const BAR = 26
const LONGEST = 84

const COLOURS: Readonly<Record<Kind, string>> = {
  finding: PALETTE.change,
  'not accounted for': PALETTE.faint,
  'observed change': PALETTE.rest,
}

type Kind = 'finding' | 'not accounted for' | 'observed change'

/**
 * Draws how the findings add up to the observed change of all response times: one bar a finding,
 * each beginning where the one above it ends, what they leave over, and the whole.
 *
 * @param findings a stage of `groupFindings`, or `comparison.findings`
 *
 * @example
 * plotFindings(comparison.findings)
 */
export function plotFindings(findings: Findings): Chart {
  const rows = rowsOf(findings)
  return framedChart(
    {
      title: 'What the findings add to the sum of all response times',
      subtitle:
        findings.findings.length === 0
          ? ['Nothing changed beyond what chance does.']
          : [
              'Each bar begins where the one above it ends; to the left means time saved. The last ' +
                'bar is what was observed: requests after against the mean before.',
            ],
      omissions:
        findings.omitted > 0
          ? [`${counted(findings.omitted, 'smaller finding')} left out, in “not accounted for”.`]
          : [],
      width: WIDTH + 380,
    },
    { width: WIDTH, height: rows.length * BAR, layer: layers(rows) },
  )
}

interface Row {
  readonly label: string
  readonly kind: Kind
  readonly startUs: number
  readonly endUs: number
  readonly amount: string
  readonly share: string
  readonly text: string
}

function rowsOf({ findings, observedChangeUs }: Findings): Row[] {
  const rows: Row[] = []
  let atUs = 0
  for (const { rank, title, contributionUs, text } of findings) {
    rows.push({
      ...span(atUs, contributionUs, observedChangeUs),
      ...{ label: shortText(`${rank}. ${title}`, LONGEST), kind: 'finding' },
      text: shortText(text, 300),
    })
    atUs += contributionUs
  }
  return [
    ...rows,
    {
      ...span(atUs, observedChangeUs - atUs, observedChangeUs),
      ...{ label: 'not accounted for', kind: 'not accounted for', text: '–' },
    },
    {
      ...span(0, observedChangeUs, observedChangeUs),
      ...{ label: 'observed change', kind: 'observed change', text: '–' },
    },
  ]
}

function span(startUs: number, lengthUs: number, observedUs: number) {
  const sign = lengthUs > 0 ? '+' : lengthUs < 0 ? '−' : ''
  return {
    ...{ startUs, endUs: startUs + lengthUs },
    amount: `${sign}${formatDuration(Math.abs(lengthUs))}`,
    share: observedUs === 0 || lengthUs / observedUs < 0 ? '–' : percent(lengthUs / observedUs),
  }
}

function layers(rows: readonly Row[]): SpecPart[] {
  const ends = rows.flatMap(({ startUs, endUs }) => [startUs, endUs])
  const lowUs = Math.min(0, ...ends)
  const highUs = Math.max(0, ...ends)
  const margin = (highUs - lowUs) * 0.16
  const { scale, axis } = linearDurationAxis({
    lowUs: lowUs < 0 ? lowUs - margin : 0,
    highUs: highUs > 0 || lowUs === 0 ? highUs + margin : 0,
    ...{ nice: false, ticks: 7, title: 'all requests after, together' },
  })
  const y = {
    ...{ field: 'label', type: 'nominal', sort: null },
    axis: { title: null, labelLimit: 600, domain: false, ticks: false, labelPadding: 6 },
  }
  const kinds = (Object.keys(COLOURS) as Kind[]).filter((kind) =>
    rows.some((row) => row.kind === kind),
  )
  const amounts = (side: 'right' | 'left') => ({
    data: { values: rows.filter(({ startUs, endUs }) => endUs < startUs === (side === 'left')) },
    mark: {
      ...{ type: 'text', fontSize: 11, baseline: 'middle', color: PALETTE.text },
      ...{ align: side === 'left' ? 'right' : 'left', dx: side === 'left' ? -5 : 5 },
    },
    encoding: {
      x: { field: 'endUs', type: 'quantitative', scale, axis },
      y,
      text: { field: 'amount' },
    },
  })
  return [
    {
      data: { values: rows },
      mark: { type: 'bar', height: 16 },
      encoding: {
        ...{
          x: { field: 'startUs', type: 'quantitative', scale, axis },
          x2: { field: 'endUs' },
          y,
        },
        color: {
          ...{ field: 'kind', type: 'nominal', legend: { title: null } },
          scale: { domain: kinds, range: kinds.map((kind) => COLOURS[kind]) },
        },
        tooltip: [
          { field: 'label', type: 'nominal', title: 'finding' },
          { field: 'amount', type: 'nominal', title: 'contribution' },
          { field: 'share', type: 'nominal', title: 'of the observed change' },
          { field: 'text', type: 'nominal', title: 'in words' },
        ],
      },
    },
    {
      mark: { type: 'rule', color: '#555555' },
      encoding: { x: { datum: 0, type: 'quantitative' } },
    },
    amounts('right'),
    amounts('left'),
  ]
}
