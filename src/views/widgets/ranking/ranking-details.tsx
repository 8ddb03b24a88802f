import { extent } from 'd3-array'
import type { Comparison } from '../../../comparison/comparison.ts'
import {
  amountsName,
  formatAmount,
  type Quantity,
  signedAmount,
  TIME,
} from '../../../core/quantity.ts'
import { counted, grouped, percent, pValue } from '../../../core/words.ts'
import { rootName } from '../../charts/node-names.ts'
import {
  BottomAxis,
  curvePath,
  LeftAxis,
  logDurationScale,
  shareScale,
  timeScale,
} from '../../drawing/axes.tsx'
import { Fold } from '../../drawing/controls.tsx'
import { CellBar, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { useInk } from '../../drawing/figure.tsx'
import { ExplanationView } from '../explanation/explanation-widget.tsx'
import { Exemplars, type TraceLinks } from '../findings/findings-list.tsx'
import { FlowView } from '../flows/flow-view.tsx'
import { TableView } from '../table/table-widget.tsx'
import type { MutationDetails, RankingEntry, TimesSketch } from './ranking-model.ts'

interface TimesProps {
  readonly entry: Pick<RankingEntry, 'before' | 'after'> & { readonly quantity?: Quantity }
  readonly width: number
  readonly height: number
  readonly isLarge?: boolean
}

/** Smallest ratio of the longest time to the shortest for logarithmic time scales. */
const MIN_LOG_RATIO = 20
const ROOM = { left: 52, right: 20, top: 8, bottom: 38 }
const NO_ROOM = { left: 1, right: 1, top: 2, bottom: 2 }

export function TimesCurves({ entry, width, height, isLarge = false }: TimesProps) {
  const ink = useInk()
  const { left, right, top, bottom } = isLarge ? ROOM : NO_ROOM
  const box = { left, top, width: width - left - right, height: height - top - bottom }
  const [low, high] = timeRange([entry.before, entry.after])
  const { quantity: of = TIME } = entry
  const ticks = 5
  const x =
    low > 0 && high / low > MIN_LOG_RATIO
      ? logDurationScale({ low, high, ticks, of })
      : timeScale([low, high], { ticks, of })
  const y = shareScale()
  const share = of === TIME ? 'finished by then' : 'up to it'
  const title = `${amountsName(of)}: share of requests ${share}`
  return (
    <g font-size="11">
      {isLarge ? (
        <>
          <LeftAxis scale={y} box={box} />
          <BottomAxis scale={x} box={box} title={title} />
        </>
      ) : null}
      {(['before', 'after'] as const).map((period) => {
        const { quantilesUs, count } = entry[period]
        const points = quantilesUs
          .map((us, i) => [us, i / (quantilesUs.length - 1)] as const)
          .filter(([us]) => us <= x.value(1))
        // The slowest requests end beyond the axis.
        const [, share = 0] = points.at(-1) ?? []
        const all = count === 0 ? [] : [...points, [x.value(1), share] as const]
        const path = curvePath({ box, x, y }, all, 'lines')
        return <path key={period} d={path} fill="none" stroke={ink[period]} stroke-width="2" />
      })}
    </g>
  )
}

export function TimesPlot(props: TimesProps) {
  const { width, height, entry } = props
  const { before, after, quantity = TIME } = entry
  const half = (sketch: TimesSketch) =>
    `(${grouped(sketch.count)} requests): ` +
    (sketch.count === 0 ? 'no times' : `median ${formatAmount(medianUs(sketch), quantity)}`)
  const text = `Before ${half(before)}. After ${half(after)}.`
  return (
    <svg {...{ width, height }} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={text}>
      <title>{text}</title>
      <TimesCurves {...props} />
    </svg>
  )
}

export function medianUs({ quantilesUs }: TimesSketch): number {
  return quantilesUs[(quantilesUs.length - 1) / 2] ?? Number.NaN
}

/** Returns the range of times without the slowest requests, which would squeeze the others. */
function timeRange(sketches: readonly TimesSketch[]): readonly [low: number, high: number] {
  const known = sketches.flatMap(({ quantilesUs }) => quantilesUs.slice(0, -1))
  const [low, high] = extent(known)
  if (low === undefined) return [0, 1]
  return high > low ? [low, high] : [low * 0.9, low * 1.1 + 1]
}

interface DetailsProps {
  readonly entry: RankingEntry
  readonly comparison: Comparison
  readonly details: MutationDetails | undefined
  readonly name: string
  readonly linkOf: TraceLinks
}

export function RankingDetails({ entry, comparison, details, name, linkOf }: DetailsProps) {
  const { rank, category, kind } = entry
  const isTime = entry.quantity === TIME
  return (
    <div class="fd-mutation">
      <div class="fd-beside">
        <div>
          <h3>{`${isTime ? 'Response times' : entry.quantity.name} of category ${category}`}</h3>
          <p>{summary(entry)}</p>
          <TimesPlot entry={entry} width={420} height={180} isLarge />
          <p class="fd-soft">
            <span class="fd-key fd-key-before" /> before
            {entry.before.category === category ? '' : ` (category ${entry.before.category})`}{' '}
            <span class="fd-key fd-key-after" /> after
          </p>
        </div>
        <div class="fd-beside">
          {kind === 'structural' ? <Precursors entry={entry} comparison={comparison} /> : null}
          {details === undefined ? null : (
            <div>
              <h3>Typical requests</h3>
              <Exemplars exemplars={details.exemplars} linkOf={linkOf} />
            </div>
          )}
        </div>
      </div>
      {details?.flows ? (
        <FlowView key={rank} {...details.flows} />
      ) : !isTime ? null : (
        <InCode
          what="Its flow before and after"
          code={`explore(${name}, 'flows', { category: ${category} })`}
        />
      )}
      {details?.explanation ? (
        <Fold key={`${rank} parameters`} title="Parameters: which values go with it">
          <ExplanationView
            data={details.explanation}
            options={{ question: null }}
            call={{ name: `explain(${name}, ${category})`, kind: null }}
          />
        </Fold>
      ) : (
        <InCode what="Its parameters" code={`explain(${name}, ${category})`} />
      )}
      {/* Edges that are new can be compared only with those of the flow before, which is drawn. */}
      {details === undefined || (details.flows !== null && details.isNew) ? (
        <InCode what="Its edges in code" code={`${name}.responseTime.edgeTable(${category})`} />
      ) : (
        <Edges key={rank} {...details} />
      )}
    </div>
  )
}

function InCode({ what, code }: { readonly what: string; readonly code: string }) {
  return (
    <p class="fd-soft">
      {what}: <code>{code}</code>
    </p>
  )
}

function summary(entry: RankingEntry): string {
  const { kind, requests, contributionUs, before, after, p, quantity } = entry
  const all = `${counted(requests, 'request')}${kind === 'structural' ? ' more than before' : ''}`
  const verb = contributionUs < 0 ? 'save' : 'add'
  const adds = `${all} ${requests === 1 ? `${verb}s` : verb} ${formatAmount(Math.abs(contributionUs), quantity)} in total.`
  if (before.count === 0 || after.count === 0) return adds
  const [from, to] = [medianUs(before), medianUs(after)]
  const test = Number.isFinite(p) ? `; ${pValue(p)}` : ''
  return (
    `${adds} The median goes from ${formatAmount(from, quantity)} to ${formatAmount(to, quantity)} ` +
    `(${signedAmount(to - from, quantity)})${test}.`
  )
}

const MAX_NAME_LENGTH = 120
const MAX_PRECURSORS = 20
const BAR = 50

function Precursors({ entry, comparison }: Pick<DetailsProps, 'entry' | 'comparison'>) {
  const { precursors } = entry
  const { categories, structural } = comparison
  return (
    <div>
      <h3>What these requests may have been before</h3>
      {precursors.length === 0 ? (
        <p class="fd-soft">No kind of request lost that many.</p>
      ) : (
        <DataTable<RankingEntry['precursors'][number]>
          label="Precursors"
          class="fd-few"
          rows={precursors}
          few={MAX_PRECURSORS}
          columns={[
            textColumn('kind of request (category)', ({ category }) => (
              <>
                {rootName(categories, category, MAX_NAME_LENGTH)}{' '}
                <span class="fd-soft">({category})</span>
              </>
            )),
            numberColumn('weight', ({ weight }) => percent(weight)),
            textColumn('', ({ weight }) => (
              <CellBar share={weight} width={BAR} color="var(--fd-before)" />
            )),
            numberColumn('edit distance', ({ nsed }) => nsed.toFixed(3), {
              hint: '0: equal; 1: nothing in common',
            }),
            numberColumn('lost', ({ category }) => grouped(-(structural.changes[category] ?? 0)), {
              hint: 'requests it lost',
            }),
          ]}
        />
      )}
    </div>
  )
}

function Edges({ edges, changedEdges, isNew }: MutationDetails) {
  if (edges.totalRows === 0) return <p class="fd-soft">Its flow is a single step.</p>
  const title = isNew
    ? `Edges: ${grouped(edges.totalRows)}, of a flow that no request took before`
    : `Edges: ${grouped(changedEdges)} of ${grouped(edges.totalRows)} changed`
  return (
    <Fold title={title}>
      <TableView data={edges} />
    </Fold>
  )
}
