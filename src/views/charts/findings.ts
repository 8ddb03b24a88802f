import { sum } from 'd3-array'
import type { Interference, Others } from '../../compare/interference/interference.ts'
import type { RankedMutation, Ranking } from '../../compare/ranking/rank-mutations.ts'
import { MIN_KNOWN, MIN_SEEN, SMALL } from '../../compare/thresholds.ts'
import type { Findings } from '../../comparison/words/findings.ts'
import { failuresText } from '../../comparison/words/segment-words.ts'
import { most } from '../../core/options.ts'
import { signedAmount, TIME } from '../../core/quantity.ts'
import {
  counted,
  firstOf,
  grouped,
  percent,
  printable,
  shortText,
  spoken,
} from '../../core/words.ts'
import { durationAxisWithRoom, shareAxis } from './axes.ts'
import { bars, colorBy, digits, distinctTexts } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE } from './chart-frame.ts'
import { rootName } from './node-names.ts'

const LOOKS = [
  { name: 'more', color: PALETTE.change },
  { name: 'less', color: PALETTE.less },
  { name: 'unexplained', color: PALETTE.faint },
  { name: 'observed change', color: PALETTE.rest },
]

/** Draws findings as a waterfall up to the observed change, with the rest. */
export const findingsChart = defineChart({}, (stage: Findings) => {
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
              stage.findings.some(({ failedRequests }) => failedRequests !== undefined) &&
                "Failures show their number; kind 'errors' shows when requests failed.",
            ],
      omissions:
        stage.omitted > 0 &&
        `Counts ${counted(stage.omitted, 'smaller finding')} as “unexplained”.`,
      width: 760,
    },
    bars({
      rows,
      axis: durationAxisWithRoom(
        rows.flatMap(({ startUs, endUs }) => [startUs, endUs]),
        {
          title: `change of all ${of === TIME ? 'response times' : 'requests'} together`,
          of,
          ticks: 4,
        },
      ),
      from: 'startUs',
      to: 'endUs',
      text: 'amount',
      // Beside names of findings, within 800 pixels.
      width: 300,
      // Rows name their own meaning.
      color: colorBy(LOOKS, rows, { legend: null }),
      tooltip: {
        finding: 'label',
        contribution: 'amount',
        'of the observed change': 'share',
        'in words': 'text',
      },
    }),
  )
})

function rowsOf({ findings, observedChangeUs, mixUs, quantity }: Findings) {
  let atUs = 0
  const steps = findings.map(({ rank, title, contributionUs, text, failedRequests: more = 0 }) => {
    const ends = { startUs: atUs, endUs: atUs + contributionUs }
    const failures = more !== 0 && failuresText(more)
    atUs = ends.endUs
    return { label: `${rank}. ${title}`, kind: null, ...ends, text: shortText(text, 300), failures }
  })
  const none = { text: '–', failures: false } as const
  const mix = { startUs: atUs, endUs: atUs + mixUs, ...none }
  const rest = { startUs: mix.endUs, endUs: observedChangeUs, ...none }
  const whole = { startUs: 0, endUs: observedChangeUs, ...none }
  const rows = [
    ...steps,
    ...(mixUs === 0 ? [] : [{ label: 'changed request mix', kind: null, ...mix }]),
    { label: 'unexplained', kind: 'unexplained', ...rest },
    { label: 'observed change', kind: 'observed change', ...whole },
  ]
  const labels = distinctTexts(rows, 76, ({ label }) => label)
  return rows.map(({ failures, kind, ...row }, i) => {
    const share = (row.endUs - row.startUs) / observedChangeUs
    return {
      ...row,
      kind: kind ?? (row.endUs < row.startUs ? 'less' : 'more'),
      label: labels[i] as string,
      // A change without a cost in time, or of unknown cost, has no bar.
      amount: spoken([
        row.endUs !== row.startUs && signedAmount(row.endUs - row.startUs, quantity),
        failures,
      ]).join(', '),
      share: share >= 0 ? percent(share) : '–',
    }
  })
}

const INTERFERENCE_LOOKS = [
  { name: 'of slow calls’ time', color: PALETTE.change },
  { name: 'of usual calls’ time', color: PALETTE.rest },
]

/** Draws who was under way while calls of a step were slow, and while usual; interferers first. */
export const interferenceChart = defineChart(
  { limit: most(8, 'groups', 'Maximum number of groups of other requests drawn') },
  (interference: Interference, { limit }) => {
    const { step, slowCalls, usualCalls, interferers, compared } = interference
    const rest = compared.filter((one) => !interferers.includes(one))
    const shown = [...interferers, ...rest].slice(0, limit)
    const rows = groupRows(shown, new Set(interferers))
    return framedChart(
      {
        title: `Other requests running while calls ${step === null ? '' : `of ${step.service} `}are slow`,
        subtitle: [
          shown.length === 0
            ? nothingCompared(interference)
            : `${counted(slowCalls, 'slow call')} and ${counted(usualCalls, 'usual one')} after.`,
          interferers.length > 0 && '◂ delays the slow calls; the others wait, too.',
          shown.length > 0 &&
            interferers.length === 0 &&
            'No group delays the slow calls: others wait, too, or run all the time.',
        ],
        omissions:
          compared.length > limit &&
          `Shows the first ${limit} of ${counted(compared.length, 'group')} of other requests.`,
        width: 760,
      },
      bars({
        rows,
        axis: shareAxis('share of the calls’ time that others were under way', { room: 0.2 }),
        to: 'share',
        text: 'amount',
        color: colorBy(INTERFERENCE_LOOKS, rows),
        tooltip: { others: 'others', share: 'amount', 'all calls before': 'before' },
      }),
    )
  },
)

function nothingCompared({ step, slowCalls, usualCalls }: Interference): string {
  if (step === null) {
    return 'No calls were examined: this needs a finding of slower calls of a service, compared by time, and option interference.'
  }
  const calls = `calls of ${printable(spoken([step.service, step.operation]).join(' '))}`
  return slowCalls === 0
    ? `Fewer than ${MIN_KNOWN} ${calls} after took longer than ${percent(1 - SMALL)} of those before: too few to tell what delays them.`
    : `No group of other requests ran during ${MIN_SEEN} or more of ${grouped(slowCalls)} slow ${calls} after (${counted(usualCalls, 'usual one')}), at the same service, on the same host or sharing anything else.`
}

function groupRows(shown: readonly Others[], interferers: ReadonlySet<Others>) {
  const names = distinctTexts(shown, 72, ({ text, shared }) => `${text} (same ${shared})`)
  return shown.flatMap((one, i) => {
    const others = names[i] as string
    const shared = { others, before: percent(one.before) }
    const isNamed = interferers.has(one)
    // The second bar stands below that of its group, whose name is not written twice.
    const labels = [isNamed ? `${others} ◂` : others, ' '.repeat(i + 1)]
    return [one.slow, one.usual].map((share, bar) => ({
      ...shared,
      kind: INTERFERENCE_LOOKS[bar]?.name ?? '',
      share,
      amount: percent(share),
      label: labels[bar] as string,
    }))
  })
}

const CONTRIBUTION_LOOKS = [
  { name: 'response-time mutation', color: PALETTE.change },
  { name: 'structural mutation', color: PALETTE.after },
]
const MAX_PRECURSORS = 5

/** Draws the contribution of each mutation as a bar, by rank. Source: Sambasivan 2013, §2.6.5. */
export const contributionsChart = defineChart(
  { limit: mostDrawn(20, 'mutations', 'best first') },
  (ranking: Ranking, { limit }) => {
    const of = ranking.responseTime.categories.flows.quantity
    const shown = ranking.mutations
      .filter(({ contributionUs }) => Number.isFinite(contributionUs))
      .slice(0, limit)
    const rows = shown.map((mutation) => rowOf(ranking, mutation))
    return framedChart(
      {
        title: `How much each mutation adds to all ${of === TIME ? 'response times' : 'requests'}`,
        none: rows.length === 0 && 'No category changed in number of requests or in response time.',
        subtitle: `Bars to the left of 0 ${of === TIME ? 'save time' : `are less ${of.name}`}. The category is in brackets.`,
        omissions: omissions(ranking, shown),
        width: 700,
      },
      bars({
        rows,
        axis: durationAxisWithRoom(
          rows.map(({ contributionUs }) => contributionUs),
          { title: 'contribution to the change', of },
        ),
        to: 'contributionUs',
        text: 'contribution',
        color: colorBy(CONTRIBUTION_LOOKS, rows),
        tooltip: {
          rank: ['rank', 'd'],
          root: 'root',
          category: ['category', 'd'],
          kind: 'kind',
          requests: ['requests', ',~r'],
          contribution: 'contribution',
          'precursor categories': 'precursors',
        },
      }),
    )
  },
)

function rowOf({ responseTime: { categories } }: Ranking, mutation: RankedMutation) {
  const { rank, category, kind, requests, contributionUs, precursors, noPrecursor } = mutation
  const named = precursors.map((each) => String(each.category))
  return {
    rank,
    label: `${rank}. ${rootName(categories, category, 40)} (${category})`,
    root: rootName(categories, category, 300),
    category,
    kind: kind === 'structural' ? 'structural mutation' : 'response-time mutation',
    requests: digits(requests),
    contributionUs,
    contribution: noPrecursor
      ? 'unknown: no precursor found'
      : signedAmount(contributionUs, categories.flows.quantity),
    precursors: firstOf(named, { most: MAX_PRECURSORS }) || '–',
  }
}

function omissions({ mutations, responseTime }: Ranking, shown: readonly RankedMutation[]) {
  if (shown.length === mutations.length) return false
  const left = mutations.filter((mutation) => !shown.includes(mutation))
  const leftUs = sum(left, ({ contributionUs }) => contributionUs)
  const adds = signedAmount(leftUs, responseTime.categories.flows.quantity).replace('+', '')
  return `Shows the first ${grouped(shown.length)} of ${counted(mutations.length, 'mutation')}; the others add ${adds} together.`
}
