import { formatDuration, percent, shortText } from '../../core/words.ts'
import type {
  ExplainedFinding,
  LatencyDiagnosis,
} from '../../whatif/diagnosis/latency-diagnosis.ts'
import { latencyProfilesChart } from '../charts/latency-profiles.ts'
import { figure, type Html, html, htmlTable, named } from './html.ts'
import { markdownTable, written } from './markdown-text.ts'

/** Causes that are listed though they explain no finding; and all. */
const MAX_CAUSES = 5
const MAX_ROWS = 8
const MAX_TITLE_LENGTH = 160

const HEADS = [
  '',
  'single change, the rest as before',
  'explains',
  'p50',
  'p99',
  'finding',
] as const

/** Returns one row per significant cause, the best first; before and after as they were recorded, around them. */
function whatIfRows(
  { base, target, ranked }: LatencyDiagnosis,
  explained: readonly ExplainedFinding[],
) {
  const times = (q: number) => [base, target].map((profile) => formatDuration(profile.quantile(q)))
  const [p50s, p99s] = [times(0.5), times(0.99)] as [string[], string[]]
  const told = new Set(explained.map(({ cause }) => cause?.rank))
  const causes = ranked
    .filter(({ significant }) => significant)
    .filter(({ rank }) => rank <= MAX_CAUSES || told.has(rank))
    .slice(0, MAX_ROWS)
  const recorded = (i: number, name: string, share: string) => ({
    rank: '',
    title: name,
    share,
    p50: p50s[i] ?? '',
    p99: p99s[i] ?? '',
    findings: [] as number[],
  })
  return [
    recorded(0, 'before, as recorded', '0 %'),
    ...causes.map(({ rank, scenario, gain, p50Us, p99Us }) => ({
      rank: String(rank),
      title: shortText(scenario.title, MAX_TITLE_LENGTH),
      share: gain < 0 ? 'none' : percent(gain),
      p50: formatDuration(p50Us),
      p99: formatDuration(p99Us),
      findings: explained.flatMap(({ finding, cause }) =>
        cause?.rank === rank ? finding.rank : [],
      ),
    })),
    recorded(1, 'after, as recorded', '100 %'),
  ]
}

const NOTHING = 'No single change explains more than chance.'

export function whatIfSection(
  diagnosis: LatencyDiagnosis,
  explained: readonly ExplainedFinding[],
): Html {
  const { best } = diagnosis
  const rows = whatIfRows(diagnosis, explained)
  return html`<section id="what-if"><h2>Which single change explains it?</h2>${
    best?.significant
      ? html`${htmlTable(
          HEADS.map((title, i) => ({ title, names: i === 1, amounts: i > 1 && i < 5 })),
          rows.map(({ rank, title, share, p50, p99, findings }) => [
            rank,
            named(title, MAX_TITLE_LENGTH),
            share,
            p50,
            p99,
            findings.map((each) => html`<a href="#finding-${each}">${each}</a> `),
          ]),
        )}${figure(
          latencyProfilesChart(diagnosis.profile(1), { targetName: 'after' }),
          'Every request before was recomputed with the first change of the table and nothing else. The closer this curve comes to the one after, the more the change explains.',
        )}`
      : html`<p>${NOTHING}</p>`
  }</section>`
}

export function whatIfMarkdown(
  diagnosis: LatencyDiagnosis,
  explained: readonly ExplainedFinding[],
): string[] {
  if (!diagnosis.best?.significant) return [NOTHING]
  return markdownTable(
    HEADS,
    whatIfRows(diagnosis, explained).map(({ rank, title, share, p50, p99, findings }) => [
      rank,
      written(title, MAX_TITLE_LENGTH),
      share,
      p50,
      p99,
      findings.join(', '),
    ]),
    ['left', 'left', 'right', 'right', 'right', 'left'],
  )
}
