import { useMemo, useState } from 'preact/hooks'
import type { Account } from '../../../compare/account.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { formatAmount, signedAmount } from '../../../core/quantity.ts'
import { counted, tooltipText } from '../../../core/words.ts'
import { ribbonOf } from '../../charts/ribbon.ts'
import type { RibbonPart } from '../../charts/ribbon-parts.ts'
import { Button } from '../../drawing/controls.tsx'
import { CellBar, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { PageOnly } from '../../drawing/figure.tsx'
import { VegaChart } from '../vega-chart.tsx'
import { TraceLink, type TraceLinks } from './trace-link.tsx'
import { type Times, typicalOf, undo } from './undo.ts'

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
