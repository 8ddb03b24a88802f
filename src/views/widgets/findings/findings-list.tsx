import { bin, extent, max, mean, range } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import { Account } from '../../../compare/account.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import type { Finding } from '../../../compare/findings/finding.ts'
import { intervalText } from '../../../compare/words/finding-facts.ts'
import { segmentClause } from '../../../compare/words/segment-words.ts'
import { type Quantity, signedAmount } from '../../../core/quantity.ts'
import { counted, grouped, percent, tooltipText } from '../../../core/words.ts'
import { AFTER, BEFORE } from '../../../flows/flow-set.ts'
import type { findingChart } from '../../charts/finding-chart.ts'
import { AFFECTED, accountFor } from '../../charts/ribbon.ts'
import { segmentSides } from '../../charts/segments.ts'
import { StateCode } from '../../drawing/controls.tsx'
import {
  CellBar,
  type DataColumn,
  DataTable,
  numberColumn,
  rankColumn,
  textColumn,
} from '../../drawing/data-table.tsx'
import { Caption, useInk } from '../../drawing/figure.tsx'
import { VegaChart } from '../vega-chart.tsx'
import { RibbonPane } from './ribbon-pane.tsx'
import { Exemplars, type TraceLinks } from './trace-link.tsx'

/** Findings that open into pictures: each has about 10 kB. */
const MAX_DRAWN = 5
const PARTS = 16

/** A finding as a page carries and lists it. */
export type ShownFinding = ReturnType<typeof shownFindings>[number]

/**
 * Returns the parts of findings that a page lists; the first ones with their pictures.
 *
 * @param chartOf draws the best picture of a finding; pages do without it, because its code is large
 */
export function shownFindings(comparison: Comparison, chartOf: typeof findingChart | null = null) {
  const { quantity } = comparison.flows
  return comparison.findings.findings.map((finding, place) => {
    const { rank, title, text, look, segment, shareOfChange, requests, contributionUs } = finding
    const clause = segmentClause(finding)
    const isDrawn = place < MAX_DRAWN
    const drawn = isDrawn && chartOf !== null ? chartOf(comparison, finding) : null
    return {
      rank,
      text,
      look,
      what: title.replace(clause, ''),
      where: clause === '' ? 'all' : clause.slice(2),
      share: shareOfChange > 0 ? shareOfChange : null,
      each:
        contributionUs === 0
          ? []
          : [
              signedAmount(contributionUs / Math.max(1, requests), quantity),
              intervalText(finding.eachInterval, quantity),
            ],
      requests,
      category: finding.categories[0] ?? null,
      overTime: meansOverTime(comparison, finding),
      /** Account of the time of a mean affected request. */
      account: isDrawn && finding.categories.length > 0 ? pathOf(comparison, finding) : null,
      distribution: drawn === null || drawn.of === 'path' ? null : drawn.chart.spec,
      exemplars: finding.exemplars,
      segment: segment && {
        ...segmentSides(segment, quantity),
        ofRequests: segment.shareOfRequests,
        ofChange: segment.shareOfChange,
      },
    }
  })
}

function pathOf(comparison: Comparison, { id }: Finding) {
  return accountFor(comparison, null, id).parts
}

/** Returns the mean times of the affected kinds of request in equal parts of each period; `null` for none. */
function meansOverTime({ categories, flows }: Comparison, { categories: own, moves }: Finding) {
  const now = new Set(own)
  const was = new Set([...own, ...moves.map(({ from }) => from)])
  return ([BEFORE, AFTER] as const).map((period) => {
    const rows = range(flows.size).filter((row) => flows.period[row] === period)
    const [from = 0, to = 0] = extent(rows, (row) => flows.startUs[row])
    const wanted = period === BEFORE ? was : now
    if (!(to > from)) return []
    return bin<number, number>()
      .value((row) => flows.startUs[row] as number)
      .domain([from, to])
      .thresholds(range(1, PARTS).map((i) => from + (i * (to - from)) / PARTS))(
        rows.filter((row) => wanted.has(categories.categoryOf[row] as number)),
      )
      .map((some) => mean(some, (row) => flows.responseTimeUs[row]) ?? null)
  })
}

const BAR = 50
const SPARK = { width: 96, height: 20 }

function columnsOf(findings: readonly ShownFinding[]): readonly DataColumn<ShownFinding>[] {
  const hasSegments = findings.some(({ segment }) => segment)
  return [
    {
      ...textColumn<ShownFinding>('finding', ({ what }) => tooltipText(what)),
    },
    ...(hasSegments
      ? [textColumn<ShownFinding>('in which requests', ({ where }) => tooltipText(where))]
      : []),
    {
      title: 'of the change',
      isNumber: true,
      still: ({ share }) => (share === null ? '' : percent(share)),
      cell: ({ share }) =>
        share === null ? (
          ''
        ) : (
          <span class="fd-with-bar">
            <CellBar share={Math.min(1, share)} width={BAR} color="var(--fd-change)" />
            {percent(share)}
          </span>
        ),
    },
    {
      ...textColumn<ShownFinding>('each affected request', ({ each }) =>
        each.map((part) => <div class="fd-name">{part}</div>),
      ),
      still: ({ each }) => each.join(''),
    },
    numberColumn('affected', ({ requests }) => grouped(requests)),
    {
      title: 'over time',
      hint: 'Mean time of these kinds of request, before and after',
      still: null,
      cell: ({ overTime }) => <Spark overTime={overTime} />,
    },
  ]
}

function Spark({ overTime }: Pick<ShownFinding, 'overTime'>) {
  const ink = useInk()
  const { width, height } = SPARK
  const largest = max(overTime.flat(), (us) => us ?? 0) || 1
  const path = (means: readonly (number | null)[], from: number) =>
    means
      .map((us, i) => {
        if (us === null) return ''
        const x = from + ((i + 0.5) / PARTS) * (width / 2)
        const verb = i > 0 && means[i - 1] !== null ? 'L' : 'M'
        return `${verb}${x.toFixed(1)} ${(height - 1 - (us / largest) * (height - 2)).toFixed(1)}h0.01`
      })
      .join('')
  return (
    <svg {...SPARK} aria-hidden="true" fill="none" stroke-width="1.5" stroke-linecap="round">
      <path d={`M0 ${height - 0.5}h${width}`} stroke={ink.line} stroke-width="1" />
      <path d={path(overTime[0] ?? [], 0)} stroke={ink.before} />
      <path d={path(overTime[1] ?? [], width / 2)} stroke={ink.after} />
    </svg>
  )
}

interface ListProps {
  readonly findings: readonly ShownFinding[]
  /** Said where there are none. */
  readonly none: string
  readonly quantity: Quantity
  /** Name of the comparison in code. */
  readonly name: string
  readonly carried: (() => Comparison) | null
  readonly linkOf: TraceLinks
}

/** Lists the findings, one row per cause, which opens into its pictures and facts. */
export function FindingsList({ findings, none, ...context }: ListProps) {
  const [opened, setOpened] = useState<number | null>(null)
  if (findings.length === 0) return <Caption text={none} />
  const isOpen = ({ rank }: ShownFinding) => rank === opened
  return (
    <>
      <Caption text={`${counted(findings.length, 'finding')}, one for each cause:`} />
      <DataTable<ShownFinding>
        label="Findings"
        class="fd-fit"
        rows={findings}
        rowKey={({ rank }) => rank}
        columns={[
          rankColumn('Finding', isOpen, (row) => setOpened(isOpen(row) ? null : row.rank)),
          ...columnsOf(findings),
        ]}
        opened={(finding) =>
          isOpen(finding) ? <FindingDetails finding={finding} {...context} /> : null
        }
      />
    </>
  )
}

type DetailsProps = Omit<ListProps, 'findings' | 'none'> & { readonly finding: ShownFinding }

function FindingDetails({ finding, name, quantity, carried, linkOf }: DetailsProps) {
  const { rank, text, look, where, segment, distribution, exemplars, category } = finding
  const account = useMemo(
    () => finding.account && new Account(finding.account, quantity),
    [finding, quantity],
  )
  return (
    <div class="fd-mutation">
      <p>{tooltipText(`${text} · look at ${look}`)}</p>
      {account === null ? null : (
        <RibbonPane account={account} isClear whose={AFFECTED} {...{ carried, linkOf }} />
      )}
      {distribution === null ? null : <VegaChart spec={distribution} />}
      <Exemplars exemplars={exemplars} linkOf={linkOf} />
      {category === null ? null : (
        <p class="fd-soft">
          Lanes of a typical pair:{' '}
          <code>{`explore(${name}, 'swimlanes', { category: ${category} })`}</code> · its
          parameters: <code>{`explain(${name}, ${category})`}</code>
        </p>
      )}
      {segment && (
        <>
          <p>{`${tooltipText(where)}: ${segment.inside}; elsewhere ${segment.outside}.`}</p>
          <StateCode code={`explore(${name}.where(${name}.findings.findings[${rank - 1}]))`} />
        </>
      )}
    </div>
  )
}

export const FINDINGS_STYLE = `
.fd-fit { container-type: inline-size; }
.fd-openable > td { white-space: nowrap; }
.fd-mutation { position: sticky; left: 12px; width: calc(100cqw - 30px); }
.fd-key { display: inline-block; width: 14px; height: 3px; vertical-align: middle; margin: 0 2px 2px 6px; }
.fd-key-before { background: var(--fd-before); }
.fd-key-after { background: var(--fd-after); }
.fd-exemplars code, .fd-mutation p code { font: 12px/1.4 ui-monospace, monospace; color: inherit; background: none; }
a { color: var(--fd-focus); }
`
