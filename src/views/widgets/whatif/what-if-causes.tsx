import { useState } from 'preact/hooks'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  pValue,
  shortText,
} from '../../../core/words.ts'
import { divergenceText } from '../../../whatif/diagnosis/evaluate-scenario.ts'
import { Button, useStops } from '../../drawing/controls.tsx'
import { CellBar, type DataColumn, DataTable, textColumn } from '../../drawing/data-table.tsx'
import { Caption, useIsStill } from '../../drawing/figure.tsx'
import type { WhatIfCause, WhatIfDiagnosis } from './what-if-data.ts'

interface Shown {
  readonly diagnosis: WhatIfDiagnosis
  readonly chosen: number | null
  readonly onChoose: (rank: number | null) => void
}

const BAR = 50
const INDENT = 16
const MAX_TITLE_LENGTH = 130
/** A column that stills have no room for. */
const PAGE_NUMBER = { isNumber: true, still: null }

export function WhatIfCauses({ diagnosis, chosen, onChoose }: Shown) {
  const { causes, causesInAll, divergence, unchanged, isComplete } = diagnosis
  const isStill = useIsStill()
  const [open, setOpen] = useState<ReadonlySet<number>>(() => {
    const first = causes.findIndex(({ rank }) => rank === (chosen ?? 1))
    return new Set(callersOf(causes, first))
  })
  const [reached, setReached] = useState(0)
  const shown = shownCauses(causes, open)
  const { goTo, stopAt } = useStops(shown, reached, setReached)
  const parents = new Set(causes.map(({ parent }) => parent))
  const distance = (value: number) => divergenceText(divergence, value)
  const fold = (place: number) => {
    const next = new Set(open)
    if (!next.delete(place)) next.add(place)
    setOpen(next)
  }
  const choose = (rank: number) => onChoose(rank === chosen ? null : rank)
  const stopAtCause = ({ place, rank, parent }: PlacedCause) => {
    const isParent = parents.has(place)
    const isOpen = open.has(place)
    return stopAt(place, {
      ...(isParent && !isOpen && { ArrowRight: () => fold(place) }),
      ArrowLeft: () => (isParent && isOpen ? fold(place) : goTo(parent)),
      Enter: () => choose(rank),
      ' ': () => choose(rank),
      Escape: () => onChoose(null),
    })
  }
  const verdicts = new Set(causes.map(verdictText))
  const placed = causes.map((cause, place) => ({ ...cause, place }))
  const columns: readonly DataColumn<PlacedCause>[] = [
    {
      title: 'cause',
      still: titleText,
      cell: (cause) => (
        <div style={`padding-left:${18 + INDENT * Math.min(8, cause.level)}px`} title={cause.title}>
          {parents.has(cause.place) ? (
            <Button
              class="fd-what-if-fold"
              tabIndex={-1}
              aria-label={open.has(cause.place) ? 'close' : 'open'}
              onClick={(event) => {
                event.stopPropagation()
                fold(cause.place)
              }}
            >
              {open.has(cause.place) ? '▾' : '▸'}
            </Button>
          ) : (
            <span class="fd-what-if-fold" />
          )}
          {titleText(cause)}
        </div>
      ),
    },
    {
      title: 'explains',
      isNumber: true,
      still: ({ gain }) => gainText(gain),
      cell: ({ gain }) => (
        <div class="fd-with-bar">
          <span>{gainText(gain)}</span>
          <CellBar share={Math.max(0, Math.min(1, gain))} width={BAR} color="var(--fd-change)" />
        </div>
      ),
    },
    { title: 'divergence', ...PAGE_NUMBER, cell: (cause) => distance(cause.divergence) },
    { title: 'p50', isNumber: true, cell: ({ profile }) => formatDuration(profile.facts.p50Us) },
    { title: 'p99', ...PAGE_NUMBER, cell: ({ profile }) => formatDuration(profile.facts.p99Us) },
    { title: 'requests', ...PAGE_NUMBER, cell: ({ touched }) => grouped(touched) },
    ...(verdicts.size === 1
      ? []
      : [
          textColumn('a cause?', verdictText, {
            hint: 'Whether the part it changes differs beyond chance, and brings the response times closer',
          }),
        ]),
  ]
  const [first] = causes
  const chance = first?.q == null ? '' : ` (${pValue(first.q, 'q')})`
  const same =
    verdicts.size === 1
      ? ` ${first?.significant ? 'Each cause differs beyond chance' : 'No cause surely differs beyond chance'}${chance}.`
      : ''
  const stopped = isComplete ? '' : ' The diagnosis was stopped before everything was tried.'
  return (
    <div>
      <Caption text="Which single change brings it to the target?" isHeading />
      <Caption
        text={`Divergence is how far response times are from the target: ${distance(unchanged)} as recorded before.${same}${stopped}`}
      >
        Click a cause, or press Enter, to lay its profile over the others; arrows go up and down and
        open what lies within.
      </Caption>
      <DataTable
        label="Causes"
        role="treegrid"
        class="fd-what-if-causes"
        max={6}
        columns={columns}
        rows={
          isStill
            ? placed.toSorted((a, b) => a.rank - b.rank)
            : placed.filter(({ place }) => shown.includes(place))
        }
        rowKey={({ rank }) => rank}
        rowProps={(cause) => ({
          class: 'fd-openable',
          'aria-level': cause.level + 1,
          'aria-selected': cause.rank === chosen,
          'aria-expanded': parents.has(cause.place) ? open.has(cause.place) : undefined,
          onClick: () => choose(cause.rank),
          ...stopAtCause(cause),
        })}
      />
      {causes.length < causesInAll ? (
        <p class="fd-soft">
          The best {grouped(causes.length)} of {counted(causesInAll, 'scenario')} that were tried.
        </p>
      ) : null}
    </div>
  )
}

interface PlacedCause extends WhatIfCause {
  readonly place: number
}

function titleText({ rank, title }: WhatIfCause): string {
  return `${rank}. ${shortText(title, MAX_TITLE_LENGTH)}`
}

function verdictText({ significant, q }: WhatIfCause): string {
  return `${significant ? 'yes' : 'unsure'}${q === null ? '' : ` (${pValue(q, 'q')})`}`
}

function gainText(gain: number): string {
  return gain < 0 ? 'none' : percent(Math.min(1, gain))
}

export function shownCauses(
  causes: readonly WhatIfCause[],
  open: ReadonlySet<number>,
): readonly number[] {
  const shown = new Set<number>()
  causes.forEach(({ parent }, place) => {
    if (parent < 0 || (shown.has(parent) && open.has(parent))) shown.add(place)
  })
  return [...shown]
}

export function callersOf(causes: readonly WhatIfCause[], place: number): number[] {
  const callers: number[] = []
  for (let at = causes[place]?.parent ?? -1; at >= 0; at = causes[at]?.parent ?? -1) {
    callers.unshift(at)
  }
  return callers
}
