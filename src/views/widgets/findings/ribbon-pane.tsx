import { greatest, sum } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import { Replay } from '../../../calls/replay.ts'
import { hasTimes, type Role, rolesByShape } from '../../../calls/roles.ts'
import { spanTimes } from '../../../calls/span-times.ts'
import type { Account, AccountStep } from '../../../compare/account.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { formatAmount, signedAmount } from '../../../core/quantity.ts'
import { remembered } from '../../../core/remembered.ts'
import { counted, tooltipText } from '../../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import { recordedFlows } from '../../../flows/fold/folded-flows.ts'
import { areFromSpans, NS } from '../../../flows/span-tree.ts'
import { quantile } from '../../../stats/quantile.ts'
import { ribbonOf } from '../../charts/ribbon.ts'
import type { RibbonPart } from '../../charts/ribbon-parts.ts'
import { Button } from '../../drawing/controls.tsx'
import { CellBar, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { PageOnly } from '../../drawing/figure.tsx'
import { VegaChart } from '../vega-chart.tsx'
import { TraceLink, type TraceLinks } from './trace-link.tsx'

// Runs once a span of a request: the loops index with `!`.

/** Times of requests: their mean, median, and 99th percentile. */
interface Times {
  readonly meanUs: number
  readonly p50Us: number
  readonly p99Us: number
}

/** Times of requests before, after, and after with one part as it was before. */
interface Undone {
  readonly before: Times
  readonly after: Times
  readonly without: Times
}

const replayOf = remembered((flows: FlowSet) => new Replay(flows))

/**
 * Recomputes the requests after as if some of their steps took as long on the path as before, on average. Requests may
 * then wait for parallel calls instead. Returns `null` if there is nothing to undo: for trace points, and for steps
 * that no request after has.
 */
export function undo(comparison: Comparison, steps: readonly AccountStep[]): Undone | null {
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
  return Array.from({ length: flows.size }, (_, request) => request).filter(
    (request) =>
      flows.period[request] === period && !flows.isPart(request) && hasTimes(flows, request),
  )
}

function timesOf(flows: FlowSet, period: Period, timeUs: Float64Array): Times {
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

/** Draws a ribbon whose changed parts open into their times, two traces, and the effect of undoing them. */
export function RibbonPane({
  account,
  isClear,
  whose = 'A mean request',
  carried,
  linkOf,
}: RibbonProps) {
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
        {part === undefined ? null : (
          <PartDetails key={picked} {...{ part, account, carried, linkOf }} />
        )}
      </PageOnly>
    </div>
  )
}

type PartProps = Omit<RibbonProps, 'isClear' | 'whose'> & { readonly part: RibbonPart }

interface Row {
  readonly name: string
  readonly times: Times
}

const BAR = 220

function PartDetails({ part, account: { quantity }, carried, linkOf }: PartProps) {
  const [isUndone, setUndone] = useState(false)
  const requests = useMemo(() => carried?.() ?? null, [carried])
  const undone = useMemo(() => requests && undo(requests, part.steps), [requests, part])
  const typical = useMemo(
    () => (requests === null ? [] : typicalOf(requests, part.steps)),
    [requests, part],
  )
  const amount = (us: number) => formatAmount(us, quantity)
  const { name, beforeUs, afterUs } = part
  return (
    <div class="fd-part">
      <p>
        <b>{tooltipText(name)}</b>
        {`: ${amount(beforeUs)} of a mean request before, ${amount(afterUs)} after (${signedAmount(afterUs - beforeUs, quantity)}).`}
        {typical.map((id, period) =>
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
          <DataTable<Row>
            label="With and without this part"
            rows={[
              { name: 'before', times: undone.before },
              { name: 'after', times: undone.after },
              { name: 'after, undone', times: isUndone ? undone.without : undone.after },
            ].slice(0, isUndone ? 3 : 2)}
            columns={[
              { ...textColumn<Row>('', (row) => row.name), isHead: true },
              textColumn('mean', ({ name: of, times }) => (
                <span class="fd-undo">
                  <CellBar
                    share={
                      times.meanUs /
                      Math.max(undone.before.meanUs, undone.after.meanUs, undone.without.meanUs)
                    }
                    width={BAR}
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
