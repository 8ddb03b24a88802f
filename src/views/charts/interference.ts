import type { Interference, Others } from '../../compare/interference/interference.ts'
import { defineOptions, most, type OptionsOf, readOptions } from '../../core/options.ts'
import { counted, percent } from '../../core/words.ts'
import { shareAxis } from './axes.ts'
import { bars } from './builders.ts'
import { colorBy, distinctTexts } from './channels.ts'
import { framedChart, PALETTE } from './chart-frame.ts'

export const INTERFERENCE_CHART_OPTIONS = defineOptions({
  limit: most(8, 'groups', 'Most groups of other requests drawn'),
})

const LOOKS = [
  { name: 'of slow calls’ time', color: PALETTE.change },
  { name: 'of usual calls’ time', color: PALETTE.rest },
]

/** Draws who was under way while calls of a step were slow, and while usual; interferers first. */
export function interferenceChart(
  { step, slowCalls, usualCalls, interferers, compared }: Interference,
  given?: Partial<OptionsOf<typeof INTERFERENCE_CHART_OPTIONS>>,
) {
  const { limit } = readOptions(INTERFERENCE_CHART_OPTIONS, given)
  const rest = compared.filter((one) => !interferers.includes(one))
  const shown = [...interferers, ...rest].slice(0, limit)
  const rows = rowsOf(shown, new Set(interferers))
  return framedChart(
    {
      title: `Who is under way while calls ${step === null ? '' : `of ${step.service} `}are slow`,
      subtitle: [
        shown.length === 0
          ? 'No calls were compared: too few are slower than before, or nothing else was under way.'
          : `${counted(slowCalls, 'slow call')} and ${counted(usualCalls, 'usual one')} after.`,
        interferers.length > 0 && '◂ holds up the slow ones; others wait with them.',
        shown.length > 0 &&
          interferers.length === 0 &&
          'Nobody holds up the slow ones: others wait with them, or are under way at all times.',
      ],
      omissions: [
        compared.length > limit &&
          `Shows the first ${limit} of ${counted(compared.length, 'group')} of other requests.`,
      ],
      width: 760,
    },
    bars({
      rows,
      axis: shareAxis('share of the calls’ time that others were under way', { room: 0.2 }),
      to: 'share',
      text: 'amount',
      color: colorBy(LOOKS, rows),
      tooltip: { others: 'others', share: 'amount', 'all calls before': 'before' },
    }),
  )
}

function rowsOf(shown: readonly Others[], interferers: ReadonlySet<Others>) {
  const labels = distinctTexts(shown, 72, ({ text, shared }) => `${text} (same ${shared})`)
  return shown.flatMap((one, i) => {
    const others = labels[i] as string
    const shared = { others, before: percent(one.before) }
    const isNamed = interferers.has(one)
    return [
      {
        ...{ ...shared, kind: 'of slow calls’ time', share: one.slow, amount: percent(one.slow) },
        label: isNamed ? `${others} ◂` : others,
      },
      {
        ...{ ...shared, kind: 'of usual calls’ time', share: one.usual },
        amount: percent(one.usual),
        // The bar stands below that of its group, whose name is not written twice.
        label: ' '.repeat(i + 1),
      },
    ]
  })
}
