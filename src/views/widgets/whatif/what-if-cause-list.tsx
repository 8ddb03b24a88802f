import { useRef, useState } from 'preact/hooks'
import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, pValue, shortNumber } from '../../../core/words.ts'
import { callersOf, shownCauses, type WhatIfCause } from './what-if-causes.ts'
import type { WhatIfData } from './what-if-data.ts'
import { gainText } from './what-if-words.ts'

interface Shown {
  readonly diagnosis: NonNullable<WhatIfData['diagnosis']>
  /** Rank of the cause whose profile is shown. */
  readonly chosen: number | null
  readonly onChoose: (rank: number | null) => void
}

const BAR = 50
const LONGEST_TITLE = 130
const INDENT = 16
const HEADS = ['explains', 'divergence', 'p50', 'p99', 'requests'] as const

/** The diagnosis as a table that opens from the top down; a chosen cause's profile is shown. */
export function WhatIfCauseList({ diagnosis, chosen, onChoose }: Shown) {
  const { causes, causesInAll, divergence, unchanged, isComplete } = diagnosis
  const list = useRef<HTMLTableSectionElement>(null)
  const [open, setOpen] = useState<ReadonlySet<number>>(() => wayTo(causes, chosen ?? 1))
  const [reached, setReached] = useState(0)
  const shown = shownCauses(causes, open)
  const tabStop = shown.includes(reached) ? reached : shown[0]
  const parents = new Set(causes.map(({ parent }) => parent))
  const fold = (place: number, isOpen: boolean) => {
    const next = new Set(open)
    if (isOpen) next.add(place)
    else next.delete(place)
    setOpen(next)
  }
  const go = (place: number | undefined) => {
    if (place === undefined || place < 0) return
    setReached(place)
    list.current?.querySelector<HTMLElement>(`[data-place="${place}"]`)?.focus()
  }
  const choose = (place: number) => {
    const { rank } = causes[place] as WhatIfCause
    onChoose(rank === chosen ? null : rank)
  }
  const onKeyDown = (event: KeyboardEvent, place: number) => {
    const at = shown.indexOf(place)
    const canOpen = parents.has(place)
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(shown[at + 1]),
      ArrowUp: () => go(shown[at - 1]),
      Home: () => go(shown[0]),
      End: () => go(shown.at(-1)),
      ArrowRight: () => (canOpen && !open.has(place) ? fold(place, true) : go(shown[at + 1])),
      ArrowLeft: () =>
        canOpen && open.has(place) ? fold(place, false) : go(causes[place]?.parent),
      Enter: () => choose(place),
      ' ': () => choose(place),
      Escape: () => onChoose(null),
    }
    const act = keys[event.key]
    if (act === undefined || event.target !== event.currentTarget) return
    event.preventDefault()
    act()
  }
  return (
    <div>
      <h3>Which single change brings it to the target?</h3>
      <p class="fd-soft">
        Click a cause, or press Enter, to lay its profile over the others; arrows go up and down and
        open what lies within. Divergence is how far response times are from the target:{' '}
        {divergenceText(divergence, unchanged)} as recorded before.
        {isComplete ? '' : ' The diagnosis was stopped before everything was tried.'}
      </p>
      <div class="fd-scroll fd-what-if-cause-list">
        {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a treegrid is a table whose rows open. */}
        <table role="treegrid" aria-label="Causes" class="fd-what-if-causes">
          <thead>
            <tr>
              <th scope="col">cause</th>
              {HEADS.map((head) => (
                <th key={head} scope="col" class="fd-amount">
                  {head}
                </th>
              ))}
              <th
                scope="col"
                title="Whether what it changes is different beyond chance, and brings the response times closer"
              >
                a cause?
              </th>
            </tr>
          </thead>
          <tbody ref={list}>
            {shown.map((place) => {
              const cause = causes[place] as WhatIfCause
              return (
                <tr
                  key={cause.rank}
                  class="fd-openable"
                  aria-level={cause.level + 1}
                  aria-selected={cause.rank === chosen}
                  {...(parents.has(place) ? { 'aria-expanded': open.has(place) } : {})}
                  data-place={place}
                  tabIndex={place === tabStop ? 0 : -1}
                  onFocus={() => setReached(place)}
                  onClick={() => choose(place)}
                  onKeyDown={(event) => onKeyDown(event, place)}
                >
                  <td
                    style={`padding-left:${24 + INDENT * Math.min(8, cause.level)}px`}
                    title={cause.title}
                  >
                    <Fold
                      {...{ canOpen: parents.has(place), isOpen: open.has(place) }}
                      onFold={() => fold(place, !open.has(place))}
                    />
                    {cause.rank}. {shortText(cause.title, LONGEST_TITLE)}
                  </td>
                  <Facts {...{ cause, divergence }} />
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {causes.length < causesInAll ? (
        <p class="fd-soft">
          The best {grouped(causes.length)} of {counted(causesInAll, 'scenario')} that were tried.
        </p>
      ) : null}
    </div>
  )
}

function Fold({
  canOpen,
  isOpen,
  onFold,
}: {
  readonly canOpen: boolean
  readonly isOpen: boolean
  readonly onFold: () => void
}) {
  if (!canOpen) return <span class="fd-what-if-fold" />
  return (
    <button
      type="button"
      class="fd-what-if-fold"
      tabIndex={-1}
      aria-label={isOpen ? 'close' : 'open'}
      onClick={(event) => {
        event.stopPropagation()
        onFold()
      }}
    >
      {isOpen ? '▾' : '▸'}
    </button>
  )
}

function Facts({
  cause,
  divergence,
}: {
  readonly cause: WhatIfCause
  readonly divergence: NonNullable<WhatIfData['diagnosis']>['divergence']
}) {
  const { gain, profile, touched, significant, q } = cause
  const width = Math.max(0, Math.min(1, gain)) * BAR
  const tested = q === null ? '' : ` (${pValue(q, 'q')})`
  return (
    <>
      <td>
        <div class="fd-with-bar">
          <span>{gainText(gain)}</span>
          <svg width={BAR} height="10" aria-hidden="true">
            <rect {...{ width, height: 10 }} style="fill:var(--fd-change)" />
          </svg>
        </div>
      </td>
      <td class="fd-amount">{divergenceText(divergence, cause.divergence)}</td>
      <td class="fd-amount">{formatDuration(profile.facts.p50Us)}</td>
      <td class="fd-amount">{formatDuration(profile.facts.p99Us)}</td>
      <td class="fd-amount">{grouped(touched)}</td>
      <td class="fd-name">
        {significant ? 'yes' : 'unsure'}
        {tested}
      </td>
    </>
  )
}

function divergenceText(
  name: NonNullable<WhatIfData['diagnosis']>['divergence'],
  value: number,
): string {
  return name === 'wasserstein' ? formatDuration(value) : shortNumber(value)
}

/** What a cause lies within is open. */
function wayTo(causes: readonly WhatIfCause[], rank: number): ReadonlySet<number> {
  const place = causes.findIndex((cause) => cause.rank === rank)
  return new Set(place < 0 ? [] : callersOf(causes, place))
}
