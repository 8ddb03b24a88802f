import { bin, extent, greatest, max, mean, range, sum } from 'd3-array'
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Replay } from '../../../calls/replay.ts'
import { hasTimes, type Role, rolesByShape } from '../../../calls/roles.ts'
import { spanTimes } from '../../../calls/span-times.ts'
import type { Finding } from '../../../compare/findings/finding.ts'
import { Account, type AccountStep } from '../../../comparison/account.ts'
import type { Comparison } from '../../../comparison/comparison.ts'
import { intervalText } from '../../../comparison/words/finding-facts.ts'
import { segmentClause } from '../../../comparison/words/segment-words.ts'
import { formatAmount, type Quantity, signedAmount } from '../../../core/quantity.ts'
import { remembered } from '../../../core/remembered.ts'
import { traceLink, traceTemplate } from '../../../core/trace-links.ts'
import { counted, grouped, percent, shortText, tooltipText } from '../../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import { recordedFlows } from '../../../flows/fold/folded-flows.ts'
import { areFromSpans, NS } from '../../../flows/span-tree.ts'
import { quantile } from '../../../stats/quantile.ts'
import type { findingChart } from '../../charts/finding-chart.ts'
import { AFFECTED, accountFor, type RibbonPart, ribbonOf } from '../../charts/ribbon.ts'
import { segmentSides } from '../../charts/segments.ts'
import { Button, StateCode } from '../../drawing/controls.tsx'
import {
  barColumn,
  CellBar,
  type DataColumn,
  DataTable,
  numberColumn,
  rankColumn,
  textColumn,
} from '../../drawing/data-table.tsx'
import { Caption, PageOnly, useInk } from '../../drawing/figure.tsx'
import { VegaChart } from '../vega-chart.tsx'

/** Returns the address of a trace's page; `null` if none was given. */
export type TraceLinks = (id: string) => string | null

export function traceLinks(traceUrl: string | null): TraceLinks {
  const template = traceUrl === null ? null : traceTemplate(traceUrl)
  return (id) => (template === null ? null : traceLink(template, id))
}

const SHORT = 8
const SHORT_ID = 12

/** Names a trace by the first digits of its id, and links to it. */
export function TraceLink({ id, linkOf }: { readonly id: string; readonly linkOf: TraceLinks }) {
  const link = linkOf(id)
  const short = /^[0-9a-f]+$/.test(id) && id.length > SHORT_ID
  const text = (
    <code title={tooltipText(id)}>{short ? `${id.slice(0, SHORT)}…` : shortText(id, 40)}</code>
  )
  if (link === null) return text
  return (
    <a href={link} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  )
}

type ExemplarsProps = Pick<Finding, 'exemplars'> & { readonly linkOf: TraceLinks }

/** Lists the traces to look at of both periods. */
export function Exemplars({ exemplars, linkOf }: ExemplarsProps) {
  return (
    <div>
      {(['before', 'after'] as const).map((period) =>
        exemplars[period].length === 0 ? null : (
          <div key={period} class="fd-exemplars">
            <span class={`fd-key fd-key-${period}`} /> {period}:{' '}
            {exemplars[period].map((id) => (
              <span key={id}>
                <TraceLink id={id} linkOf={linkOf} />{' '}
              </span>
            ))}
          </div>
        ),
      )}
    </div>
  )
}

// Runs once a span of a request: the loops index with `!`.

const replayOf = remembered((flows: FlowSet) => new Replay(flows))

/**
 * Recomputes the requests after as if some of their steps took as long on the path as before, on average. Requests may
 * then wait for parallel calls instead. Returns `null` if there is nothing to undo: for trace points, and for steps
 * that no request after has.
 */
export function undo(comparison: Comparison, steps: readonly AccountStep[]) {
  const flows = recordedFlows(comparison.flows)
  const factors = new Map(
    steps.flatMap((step) =>
      step.afterUs > 0 ? [[keyOf(step), step.beforeUs / step.afterUs] as const] : [],
    ),
  )
  if (!areFromSpans(flows) || factors.size === 0) return null
  const { roles, ofShape } = rolesByShape(flows, comparison.options.omitHosts)
  const ofRole = roles.map((role) => factors.get(keyOf(role)) ?? 1)
  const [spans, replay] = [spanTimes(flows), replayOf(flows)]
  const without = flows.responseTimeUs.slice()
  for (const request of requestsOf(flows, AFTER)) {
    const own = ofShape.get(flows.shapeOf[request]!)!
    const onPathNs = spans.onPath(request)
    const moreNs = onPathNs.map((ns, span) => ns * (ofRole[own[span]!]! - 1))
    if (moreNs.every((ns) => ns === 0)) continue
    const changed = { keep: new Float64Array(moreNs.length).fill(1), moreNs }
    without[request] = replay.durationNs(request, changed) / NS
  }
  return {
    before: timesOf(flows, BEFORE, flows.responseTimeUs),
    after: timesOf(flows, AFTER, flows.responseTimeUs),
    without: timesOf(flows, AFTER, without),
  }
}

/** Returns the requests of each period in which steps take about their mean time: typical ones; `null` for none. */
export function typicalOf(
  comparison: Comparison,
  steps: readonly AccountStep[],
): readonly (string | null)[] {
  const flows = recordedFlows(comparison.flows)
  const { roles, ofShape } = rolesByShape(flows, comparison.options.omitHosts)
  const wanted = new Set(steps.map(keyOf))
  const isWanted = roles.map((role) => wanted.has(keyOf(role)))
  if (!areFromSpans(flows)) return [null, null]
  const spans = spanTimes(flows)
  return ([BEFORE, AFTER] as const).map((period) => {
    const found = requestsOf(flows, period).flatMap((request) => {
      const own = ofShape.get(flows.shapeOf[request]!)!
      const us = sum(spans.onPath(request), (ns, span) => (isWanted[own[span]!] ? ns / NS : 0))
      return us > 0 ? [{ request, us }] : []
    })
    const meanUs = sum(found, ({ us }) => us) / found.length
    const typical = greatest(found, ({ us }) => -Math.abs(us - meanUs))
    return typical === undefined ? null : flows.ids[typical.request]!
  })
}

function keyOf({ kind, service, caller, operation }: Role | AccountStep): string {
  return JSON.stringify([kind, service, caller, operation])
}

function requestsOf(flows: FlowSet, period: Period): number[] {
  return range(flows.size).filter(
    (request) =>
      flows.period[request] === period && !flows.isPart(request) && hasTimes(flows, request),
  )
}

function timesOf(flows: FlowSet, period: Period, timeUs: Float64Array) {
  const rows = requestsOf(flows, period)
    .filter((request) => !Number.isNaN(timeUs[request]))
    .sort((a, b) => timeUs[a]! - timeUs[b]!)
  const values = rows.map((request) => timeUs[request]!)
  const weights = rows.map((request) => flows.countOf(request))
  return {
    meanUs: sum(values, (us, i) => us * weights[i]!) / sum(weights),
    p50Us: quantile(values, 0.5, weights),
    p99Us: quantile(values, 0.99, weights),
  }
}

interface RibbonProps {
  readonly account: Account
  /** Whether more than chance changed. */
  readonly isClear: boolean
  /** Request that is drawn. */
  readonly whose?: string
  /** Requests with the times of their steps; `null` where the page has none. */
  readonly carried: (() => Comparison) | null
  readonly linkOf: TraceLinks
}

function RibbonPane({ account, isClear, whose = 'A mean request', carried, linkOf }: RibbonProps) {
  const { spec, parts } = useMemo(
    () => ribbonOf(account, { isClear, whose }),
    [account, isClear, whose],
  )
  const [picked, setPicked] = useState<number | null>(null)
  const part = picked === null ? undefined : parts[picked]
  const changed = parts.flatMap((one, i) => (one.change === 'little' ? [] : [{ ...one, i }]))
  const pick = (i: number) => setPicked(i === picked ? null : i)
  return (
    <div class="fd-ribbon">
      <VegaChart
        spec={spec}
        onPick={({ part: i }) => typeof i === 'number' && parts[i]?.change !== 'little' && pick(i)}
      />
      <PageOnly>
        {changed.length === 0 ? null : (
          <fieldset class="fd-choice" aria-label="Parts of the request">
            {changed.map(({ i, name }) => (
              <Button key={i} aria-pressed={i === picked} onClick={() => pick(i)}>
                {tooltipText(name)}
              </Button>
            ))}
          </fieldset>
        )}
        {part && <PartDetails key={picked} {...{ part, account, carried, linkOf }} />}
      </PageOnly>
    </div>
  )
}

type PartProps = Omit<RibbonProps, 'isClear' | 'whose'> & { readonly part: RibbonPart }

const UNDONE_BAR = 220

function PartDetails({ part, account: { quantity }, carried, linkOf }: PartProps) {
  const [isUndone, setUndone] = useState(false)
  const requests = useMemo(() => carried?.() ?? null, [carried])
  const undone = useMemo(() => requests && undo(requests, part.steps), [requests, part])
  const typical = useMemo(() => requests && typicalOf(requests, part.steps), [requests, part])
  const amount = (us: number) => formatAmount(us, quantity)
  const { name, beforeUs, afterUs } = part
  return (
    <div class="fd-part">
      <p>
        <b>{tooltipText(name)}</b>
        {`: ${amount(beforeUs)} of a mean request before, ${amount(afterUs)} after (${signedAmount(afterUs - beforeUs, quantity)}).`}
        {typical?.map((id, period) =>
          id === null ? null : (
            <span key={period}>
              {` Typical ${period === 0 ? 'before' : 'after'}: `}
              <TraceLink id={id} linkOf={linkOf} />
            </span>
          ),
        )}
      </p>
      {undone === null || requests === null ? null : (
        <>
          <Button aria-pressed={isUndone} onClick={() => setUndone(!isUndone)}>
            Undo this
          </Button>
          <DataTable<{ readonly name: string; readonly times: ReturnType<typeof timesOf> }>
            label="With and without this part"
            rows={[
              { name: 'before', times: undone.before },
              { name: 'after', times: undone.after },
              { name: 'after, undone', times: isUndone ? undone.without : undone.after },
            ].slice(0, isUndone ? 3 : 2)}
            columns={[
              textColumn('', (row) => row.name, { isHead: true }),
              textColumn('mean', ({ name: of, times }) => (
                <span class="fd-undo">
                  <CellBar
                    share={
                      times.meanUs /
                      Math.max(undone.before.meanUs, undone.after.meanUs, undone.without.meanUs)
                    }
                    width={UNDONE_BAR}
                    color={of === 'before' ? 'var(--fd-before)' : 'var(--fd-after)'}
                  />
                  {amount(times.meanUs)}
                </span>
              )),
              numberColumn('p50', ({ times }) => amount(times.p50Us)),
              numberColumn('p99', ({ times }) => amount(times.p99Us)),
            ]}
          />
          <p class="fd-soft">
            {`Recomputed from ${counted(requests.flows.size, 'request')}: this part takes its time of before, and requests wait for whatever is slowest then.`}
          </p>
        </>
      )}
    </div>
  )
}

export const RIBBON_STYLE = `
.fd-ribbon { max-width: 1160px; }
.fd-ribbon > .fd-chart { min-height: 200px; }
.fd-ribbon > fieldset { flex-wrap: wrap; }
.fd-ribbon .mark-area path, .fd-ribbon .mark-rect path { cursor: pointer; }
.fd-part { border-left: 3px solid var(--fd-focus); padding: 4px 12px; margin: 6px 0; }
.fd-part > button { margin-bottom: 6px; }
.fd-undo { display: flex; gap: 8px; align-items: center; white-space: nowrap; }
.fd-undo rect { transition: width 0.4s; }
@media (prefers-reduced-motion: reduce) { .fd-undo rect { transition: none; } }
`

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
    const eachUs = contributionUs / Math.max(1, requests)
    const interval = intervalText(finding.eachInterval, quantity)
    const {
      categories: [category = null],
    } = finding
    const isDrawn = place < MAX_DRAWN
    const drawn = isDrawn && chartOf !== null ? chartOf(comparison, finding) : null
    return {
      rank,
      text,
      look,
      what: title.replace(clause, ''),
      where: clause === '' ? 'all' : clause.slice(2),
      share: shareOfChange > 0 ? shareOfChange : null,
      each: contributionUs === 0 ? [] : [signedAmount(eachUs, quantity), interval],
      requests,
      category,
      overTime: meansOverTime(comparison, finding),
      /** Account of the time of a mean affected request. */
      account: isDrawn && category !== null ? accountFor(comparison, null, finding.id).parts : null,
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

const SPARK = { width: 96, height: 20 }

function columnsOf(findings: readonly ShownFinding[]): readonly DataColumn<ShownFinding>[] {
  const hasSegments = findings.some(({ segment }) => segment)
  return [
    textColumn('finding', ({ what }) => tooltipText(what)),
    ...(hasSegments
      ? [textColumn('in which requests', ({ where }: ShownFinding) => tooltipText(where))]
      : []),
    barColumn(
      'of the change',
      ({ share }) => (share === null ? '' : percent(share)),
      ({ share }) => share ?? 0,
    ),
    textColumn(
      'each affected request',
      ({ each }) => each.map((part) => <div class="fd-name">{part}</div>),
      { still: ({ each }) => each.join('') },
    ),
    numberColumn('affected', ({ requests }) => grouped(requests)),
    textColumn('over time', ({ overTime }) => <Spark overTime={overTime} />, {
      hint: 'Mean time of these kinds of request, before and after',
      still: null,
    }),
  ]
}

function Spark({ overTime }: Pick<ShownFinding, 'overTime'>) {
  const ink = useInk()
  const { width, height } = SPARK
  const largest = max(overTime.flat(), (us) => us ?? 0) || 1
  const path = (means: readonly (number | null)[] = [], from: number) => {
    const marks = means.map((us, i) => {
      if (us === null) return ''
      const x = from + ((i + 0.5) / PARTS) * (width / 2)
      const verb = i > 0 && means[i - 1] !== null ? 'L' : 'M'
      return `${verb}${x.toFixed(1)} ${(height - 1 - (us / largest) * (height - 2)).toFixed(1)}h0.01`
    })
    return marks.join('')
  }
  return (
    <svg {...SPARK} aria-hidden="true" fill="none" stroke-width="1.5" stroke-linecap="round">
      <path d={`M0 ${height - 0.5}h${width}`} stroke={ink.line} stroke-width="1" />
      <path d={path(overTime[0], 0)} stroke={ink.before} />
      <path d={path(overTime[1], width / 2)} stroke={ink.after} />
    </svg>
  )
}

/** Ribbon and findings of a comparison: of all requests, or of a stretch of time. */
export interface ShownChange {
  readonly comparison: Comparison
  readonly findings: readonly ShownFinding[]
  /** Said where there are no findings. */
  readonly none: string
  /** Whether more than chance changed. */
  readonly isClear: boolean
  /** Requests with the times of their steps; `null` where the page has none. */
  readonly carried: (() => Comparison) | null
}

interface ChangeProps extends ShownChange {
  /** Name of the comparison in code. */
  readonly name: string
  readonly linkOf: TraceLinks
  /** Stands below the ribbon. */
  readonly children?: ComponentChildren
}

/** Shows where the time of a mean request went, and why. */
export function ChangePane({ comparison, isClear, children, ...list }: ChangeProps) {
  const { account, flows } = comparison
  const { carried, linkOf } = list
  return (
    <>
      <RibbonPane {...{ account, isClear, carried, linkOf }} />
      {children}
      <FindingsList {...list} quantity={flows.quantity} />
    </>
  )
}

interface ListProps extends Omit<ChangeProps, 'comparison' | 'isClear' | 'children'> {
  readonly quantity: Quantity
}

function FindingsList({ findings, none, ...context }: ListProps) {
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
        opened={(row) => (isOpen(row) ? <FindingDetails finding={row} {...context} /> : null)}
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
      {account && <RibbonPane isClear whose={AFFECTED} {...{ account, carried, linkOf }} />}
      {distribution && <VegaChart spec={distribution} />}
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
