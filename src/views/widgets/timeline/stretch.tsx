import { group, range, sort } from 'd3-array'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Comparison } from '../../../compare/comparison.ts'
import { traceKey } from '../../../compare/comparison-options.ts'
import { RequestColumns } from '../../../compare/segments/request-columns.ts'
import { restoreComparison, takeSnapshot } from '../../../compare/snapshot.ts'
import { getOrInsert } from '../../../core/entries.ts'
import { remembered } from '../../../core/remembered.ts'
import { counted, grouped } from '../../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../../flows/flow-set.ts'
import { recordedFlows } from '../../../flows/fold/folded-flows.ts'
import {
  type RangeUs,
  type RequestRanges,
  requestsBetween,
  type Selection,
  selectRequests,
} from '../../../flows/select-requests.ts'
import { ribbonIsClear } from '../../charts/ribbon.ts'
import { FindingsList, shownFindings } from '../findings/findings-list.tsx'
import { RibbonPane } from '../findings/ribbon-pane.tsx'
import type { TraceLinks } from '../findings/trace-link.tsx'
import type { TimelineData, TimelineFilter } from './timeline-model.ts'

/** Most times of steps that a page carries: that many are compared again within seconds. */
const MAX_TIMES = 36_000
/** Spreads what comes in order evenly between 0 and 1, whatever rhythm it has. */
const GOLDEN = 0.618_033_988_749_895

/** Requests that a page compares anew, with the times of their steps. */
type CarriedRequests = ReturnType<typeof carriedRequests>

/** Takes all requests of a comparison, or one in `every`, spread evenly over both periods. */
export const carriedRequests = remembered((comparison: Comparison) => {
  const { flows, categories } = comparison
  const every = Math.max(1, Math.ceil(recordedFlows(flows).latencyUs.length / MAX_TIMES))
  const rows = every === 1 ? requestsBetween(flows) : oneOf(every, flows)
  // With the claims, everything that findings are reported from has been read.
  void comparison.claims
  const carried =
    every === 1
      ? comparison
      : ofRequests(comparison, rows, (some) => columnsOf(comparison, rowsOf(rows), some))
  return {
    every,
    snapshot: takeSnapshot(carried, { ids: true, latenciesOf: () => true, claims: false }),
    /** Category in the whole comparison, by row. */
    categories: rowsOf(rows).map((row) => categories.categoryOf[row] as number),
  }
})

/** Chooses one in `every` traces of each period; requests of one trace stay together. */
function oneOf(every: number, flows: FlowSet): Selection {
  const places = [new Map<string, number>(), new Map<string, number>()]
  const placeOf = (row: number) => {
    const own = places[flows.period[row] as number] as Map<string, number>
    return getOrInsert(own, traceKey(flows, row), () => own.size)
  }
  for (const row of sort(range(flows.size), (one) => flows.startUs[one])) placeOf(row)
  return requestsBetween(flows, { where: (row) => (placeOf(row) * GOLDEN) % 1 < 1 / every })
}

function rowsOf({ before, after }: Selection): number[] {
  return [...Array.from(before), ...Array.from(after)]
}

/** Compares some of the requests that a page carries; a text where a period has none of them. */
export function comparedStretch(carried: Comparison, ranges: RequestRanges): Comparison | string {
  const rows = requestsBetween(carried.flows, ranges)
  for (const [period, own] of [['before', rows.before] as const, ['after', rows.after] as const]) {
    if (own.length === 0) return `No request ${period} is selected, so there is nothing to compare.`
  }
  return ofRequests(carried, rows, (flows) => columnsOf(carried, rowsOf(rows), flows))
}

function ofRequests(
  { runs, after, options, seen, flows }: Comparison,
  rows: Selection,
  columns: (flows: FlowSet) => RequestColumns,
): Comparison {
  const selected = selectRequests(flows, rows)
  return new Comparison({ runs, after }, options, {
    flows: selected,
    columns: columns(selected),
    seen,
  })
}

function columnsOf({ columns }: Comparison, rows: readonly number[], flows: FlowSet) {
  const placeOf = new Map(rows.map((row, i) => [row, i]))
  const { request, span, attribute, value, names } = columns.resources()
  const kept = range(request.length).filter((use) => placeOf.has(request[use] as number))
  const pick = (column: Uint32Array) => Uint32Array.from(kept, (use) => column[use] as number)
  return new RequestColumns(
    recordedFlows(flows),
    columns.all().map((own) => {
      const spansOf = own.requests && group(own.requests.keys(), (at) => own.requests?.[at])
      const units = spansOf ? rows.flatMap((row) => spansOf.get(row) ?? []) : rows
      const requestOf = (unit: number) => placeOf.get(own.requests?.[unit] ?? unit) as number
      return {
        ...own,
        ...(own.requests && { requests: Uint32Array.from(units, requestOf) }),
        columns: own.columns.map((column) => ({
          ...column,
          codes: Uint16Array.from(units, (unit) => column.codes[unit] as number),
        })),
      }
    }),
    {
      request: pick(request).map((row) => placeOf.get(row) as number),
      span: pick(span),
      attribute: pick(attribute),
      value: pick(value),
      names,
    },
  )
}

/** Data that a page needs to compare a stretch of time. */
export interface StretchData {
  readonly carried: CarriedRequests
}

interface Selected {
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly filter: TimelineFilter
}

/** A stretch that was compared, or is being; `null` while everything is selected. */
type Stretch =
  | { readonly state: 'comparing' }
  | { readonly state: 'refused'; readonly why: string }
  | {
      readonly state: 'compared'
      readonly comparison: Comparison
      readonly findings: ReturnType<typeof shownFindings>
      readonly every: number
    }
  | null

/** Pause between the last move of a stretch and its comparison, in ms: keys move it step by step. */
const PAUSE = 250

/** Restores the data that a page carries, once it is needed. */
export function useCarried({ carried }: StretchData): () => Comparison {
  return useMemo(() => {
    let known: Comparison | undefined
    return () => {
      known ??= restoreComparison(carried.snapshot)
      return known
    }
  }, [carried])
}

/** Compares the selected stretch of both periods as soon as it no longer moves. */
export function useStretch(
  data: StretchData & Pick<TimelineData, 'categories'>,
  { ranges, filter }: Selected,
): Stretch {
  const restored = useCarried(data)
  const [done, setDone] = useState<{ readonly key: string; readonly stretch: Stretch } | null>(null)
  const isAll = [...ranges, filter.category, filter.root].every((part) => part === null)
  const key = JSON.stringify([ranges, filter])
  useEffect(() => {
    if (isAll) return
    const later = setTimeout(
      () => setDone({ key, stretch: stretchOf(restored(), data, { ranges, filter }) }),
      PAUSE,
    )
    return () => clearTimeout(later)
  }, [key])
  if (isAll) return null
  return done?.key === key ? done.stretch : { state: 'comparing' }
}

function stretchOf(
  restored: Comparison,
  { carried, categories }: StretchData & Pick<TimelineData, 'categories'>,
  { ranges: [beforeUs, afterUs], filter: { category, root } }: Selected,
): Stretch {
  const isWanted = (row: number) => {
    const own = carried.categories[row] as number
    return (
      (category === null || own === category) && (root === null || categories[own]?.[0] === root)
    )
  }
  const comparison = comparedStretch(restored, { beforeUs, afterUs, where: isWanted })
  if (typeof comparison === 'string') return { state: 'refused', why: comparison }
  return {
    state: 'compared',
    comparison,
    findings: shownFindings(comparison),
    every: carried.every,
  }
}

interface PaneProps {
  readonly stretch: Stretch
  readonly name: string
  readonly linkOf: TraceLinks
}

/** Shows the differences of a stretch of time: its ribbon, and findings. */
export function StretchPane({ stretch, name, linkOf }: PaneProps) {
  if (stretch === null) return null
  return (
    <div class="fd-stretch">
      <p aria-live="polite">{stretchText(stretch)}</p>
      {stretch.state === 'compared' ? (
        <StretchResult {...stretch} name={name} linkOf={linkOf} />
      ) : null}
    </div>
  )
}

function StretchResult({
  comparison,
  findings,
  name,
  linkOf,
}: Omit<PaneProps, 'stretch'> & Extract<Stretch, { state: 'compared' }>) {
  const carried = useMemo(() => () => comparison, [comparison])
  return (
    <>
      <RibbonPane
        account={comparison.account}
        isClear={ribbonIsClear(comparison)}
        {...{ carried, linkOf }}
      />
      <FindingsList
        findings={findings}
        none={comparison.findings.nothingText()}
        quantity={comparison.flows.quantity}
        {...{ name, carried, linkOf }}
      />
    </>
  )
}

/** Says what of a stretch is compared. */
export function stretchText(stretch: NonNullable<Stretch>): string {
  if (stretch.state === 'comparing') return 'Comparing the selected requests …'
  if (stretch.state === 'refused') return stretch.why
  const { flows } = stretch.comparison
  const sizes = `${grouped(flows.count(AFTER))} selected requests after are compared with ${counted(flows.count(BEFORE), 'request')} before`
  return stretch.every === 1
    ? `${sizes}.`
    : `${sizes}: one of ${stretch.every}, as the page carries no more.`
}
