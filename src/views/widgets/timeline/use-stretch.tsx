import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../compare/comparison.ts'
import { restoreComparison } from '../../../compare/snapshot.ts'
import { counted, grouped } from '../../../core/words.ts'
import { AFTER, BEFORE } from '../../../flows/flow-set.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { ribbonIsClear } from '../../charts/ribbon.ts'
import { FindingsList, shownFindings } from '../findings/findings-list.tsx'
import { RibbonPane } from '../findings/ribbon-pane.tsx'
import type { TraceLinks } from '../findings/trace-link.tsx'
import { type CarriedRequests, comparedStretch } from './stretch.ts'
import type { TimelineData, TimelineFilter } from './timeline-model.ts'

/** Data that a page needs to compare a stretch of time. */
export interface StretchData {
  readonly carried: CarriedRequests
}

interface Selected {
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly filter: TimelineFilter
}

/** A stretch that was compared, or is being; `null` while everything is selected. */
export type Stretch =
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
