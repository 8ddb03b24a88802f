import type { Findings } from '../../compare/findings/findings.ts'
import { defineOptions, type OptionsOf, readOptions } from '../../core/options.ts'
import { signedAmount, TIME } from '../../core/quantity.ts'
import { shortText } from '../../core/shown-text.ts'
import { counted, percent } from '../../core/words.ts'
import { durationAxisWithRoom } from './axes.ts'
import { bars } from './builders.ts'
import { colorBy, distinctTexts } from './channels.ts'
import { framedChart, PALETTE } from './chart-frame.ts'

export const FINDINGS_CHART_OPTIONS = defineOptions({})

const LOOKS = [
  { name: 'finding', color: PALETTE.change },
  { name: 'not accounted for', color: PALETTE.faint },
  { name: 'observed change', color: PALETTE.rest },
]

/** Draws findings as a waterfall up to the observed change, with what they leave over. */
export function findingsChart(
  stage: Findings,
  given?: Partial<OptionsOf<typeof FINDINGS_CHART_OPTIONS>>,
) {
  readOptions(FINDINGS_CHART_OPTIONS, given)
  const rows = rowsOf(stage)
  const of = stage.quantity
  return framedChart(
    {
      title: 'How the findings add up to the observed change',
      subtitle:
        stage.findings.length === 0
          ? stage.nothingText().split(/(?<=\.) (?=[A-Z])/)
          : [
              `Each bar begins where the one above it ends; bars to the left ${of === TIME ? 'save time' : `are less ${of.name}`}.`,
              'Observed change: all requests after, against the mean before.',
            ],
      omissions: [
        stage.omitted > 0 &&
          `Counts ${counted(stage.omitted, 'smaller finding')} as “not accounted for”.`,
      ],
      width: 760,
    },
    bars({
      rows,
      axis: durationAxisWithRoom(
        rows.flatMap(({ startUs, endUs }) => [startUs, endUs]),
        {
          room: 0.2,
          title: `change of all ${of === TIME ? 'response times' : 'requests'} together`,
          of,
        },
      ),
      from: 'startUs',
      to: 'endUs',
      text: 'amount',
      color: colorBy(LOOKS, rows),
      tooltip: {
        finding: 'label',
        contribution: 'amount',
        'of the observed change': 'share',
        'in words': 'text',
      },
    }),
  )
}

function rowsOf({ findings, observedChangeUs, quantity }: Findings) {
  let atUs = 0
  const steps = findings.map(({ rank, title, contributionUs, text }) => {
    const startUs = atUs
    atUs += contributionUs
    return {
      label: `${rank}. ${title}`,
      kind: 'finding',
      startUs,
      endUs: atUs,
      text: shortText(text, 300),
    }
  })
  const rest = { startUs: atUs, endUs: observedChangeUs, text: '–' }
  const whole = { startUs: 0, endUs: observedChangeUs, text: '–' }
  const rows = [
    ...steps,
    { label: 'not accounted for', kind: 'not accounted for', ...rest },
    { label: 'observed change', kind: 'observed change', ...whole },
  ]
  const labels = distinctTexts(rows, 76, ({ label }) => label)
  return rows.map((row, i) => {
    const share = (row.endUs - row.startUs) / observedChangeUs
    return {
      ...row,
      label: labels[i] as string,
      // What costs no time, or none that can be told, has no bar.
      amount: row.endUs === row.startUs ? '' : signedAmount(row.endUs - row.startUs, quantity),
      share: share >= 0 ? percent(share) : '–',
    }
  })
}
