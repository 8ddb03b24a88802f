import { useRef, useState } from 'preact/hooks'
import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent, pValue, shortNumber } from '../../../core/words.ts'
import { Caption, type StillColumn, StillTable } from '../../drawing/figure.tsx'
import type { WhatIfCause, WhatIfDiagnosis } from './what-if-data.ts'

interface Shown {
  readonly diagnosis: WhatIfDiagnosis
  /** Rank of the cause whose profile is shown. */
  readonly chosen: number | null
  readonly onChoose: (rank: number | null) => void
}

const BAR = 50
const INDENT = 16
const MAX_TITLE_LENGTH = 130
const MAX_STILL_CAUSES = 6
const COLUMNS: readonly StillColumn[] = [
  { title: 'cause' },
  { title: 'explains', align: 'end' },
  { title: 'divergence', align: 'end' },
  { title: 'p50', align: 'end' },
  { title: 'p99', align: 'end' },
  { title: 'requests', align: 'end' },
  { title: 'a cause?' },
]
const HINT =
  'Whether what it changes is different beyond chance, and brings the response times closer'

/** Shows the causes as a table that opens from the top down; a chosen cause's profile is shown. */
export function WhatIfCauses({ diagnosis, chosen, onChoose }: Shown) {
  const { causes, causesInAll, divergence, unchanged, isComplete } = diagnosis
  const list = useRef<HTMLTableSectionElement>(null)
  const [open, setOpen] = useState<ReadonlySet<number>>(() => openTo(causes, chosen ?? 1))
  const [reached, setReached] = useState(0)
  const shown = shownCauses(causes, open)
  const tabStop = shown.includes(reached) ? reached : shown[0]
  const parents = new Set(causes.map(({ parent }) => parent))
  const fold = (place: number) => {
    const next = new Set(open)
    if (!next.delete(place)) next.add(place)
    setOpen(next)
  }
  const go = (place: number | undefined) => {
    if (place === undefined || place < 0) return
    setReached(place)
    list.current?.querySelector<HTMLElement>(`[data-place="${place}"]`)?.focus()
  }
  const choose = (rank: number) => onChoose(rank === chosen ? null : rank)
  const onKeyDown = (event: KeyboardEvent, place: number, { rank, parent }: WhatIfCause) => {
    const at = shown.indexOf(place)
    const isOpen = open.has(place)
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(shown[at + 1]),
      ArrowUp: () => go(shown[at - 1]),
      Home: () => go(shown[0]),
      End: () => go(shown.at(-1)),
      ArrowRight: () => (parents.has(place) && !isOpen ? fold(place) : go(shown[at + 1])),
      ArrowLeft: () => (parents.has(place) && isOpen ? fold(place) : go(parent)),
      Enter: () => choose(rank),
      ' ': () => choose(rank),
      Escape: () => onChoose(null),
    }
    const act = keys[event.key]
    if (act === undefined || event.target !== event.currentTarget) return
    event.preventDefault()
    act()
  }
  const best = causes.toSorted((a, b) => a.rank - b.rank)
  const stopped = isComplete ? '' : ' The diagnosis was stopped before everything was tried.'
  return (
    <div>
      <Caption text="Which single change brings it to the target?" isHeading />
      <Caption
        text={`Divergence is how far response times are from the target: ${divergenceText(divergence, unchanged)} as recorded before.${stopped}`}
      >
        Click a cause, or press Enter, to lay its profile over the others; arrows go up and down and
        open what lies within.
      </Caption>
      <StillTable
        columns={COLUMNS}
        rows={best.map((cause) => [titleText(cause), ...factTexts(cause, divergence)])}
        max={MAX_STILL_CAUSES}
      >
        <div class="fd-scroll fd-what-if-causes">
          {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a treegrid is a table whose rows open. */}
          <table role="treegrid" aria-label="Causes">
            <thead>
              <tr>
                {COLUMNS.map(({ title, align }, i) => (
                  <th
                    key={i}
                    scope="col"
                    class={align === 'end' ? 'fd-amount' : ''}
                    title={i === COLUMNS.length - 1 ? HINT : undefined}
                  >
                    {String(title)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody ref={list}>
              {causes.map((cause, place) =>
                shown.includes(place) ? (
                  <tr
                    key={cause.rank}
                    class="fd-openable"
                    aria-level={cause.level + 1}
                    aria-selected={cause.rank === chosen}
                    aria-expanded={parents.has(place) ? open.has(place) : undefined}
                    data-place={place}
                    tabIndex={place === tabStop ? 0 : -1}
                    onFocus={() => setReached(place)}
                    onClick={() => choose(cause.rank)}
                    onKeyDown={(event) => onKeyDown(event, place, cause)}
                  >
                    <td
                      style={`padding-left:${24 + INDENT * Math.min(8, cause.level)}px`}
                      title={cause.title}
                    >
                      <Fold
                        isOpen={parents.has(place) ? open.has(place) : null}
                        onFold={() => fold(place)}
                      />
                      {titleText(cause)}
                    </td>
                    <Facts cause={cause} texts={factTexts(cause, divergence)} />
                  </tr>
                ) : null,
              )}
            </tbody>
          </table>
        </div>
      </StillTable>
      {causes.length < causesInAll ? (
        <p class="fd-soft">
          The best {grouped(causes.length)} of {counted(causesInAll, 'scenario')} that were tried.
        </p>
      ) : null}
    </div>
  )
}

/** Opens or closes a row; empty where `isOpen` is `null`, as nothing lies within. */
function Fold({
  isOpen,
  onFold,
}: {
  readonly isOpen: boolean | null
  readonly onFold: () => void
}) {
  if (isOpen === null) return <span class="fd-what-if-fold" />
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
  texts: [explains, ...texts],
}: {
  readonly cause: WhatIfCause
  readonly texts: readonly string[]
}) {
  const width = Math.max(0, Math.min(1, cause.gain)) * BAR
  return (
    <>
      <td>
        <div class="fd-with-bar">
          <span>{explains}</span>
          <svg width={BAR} height="10" aria-hidden="true">
            <rect width={width} height={10} style="fill:var(--fd-change)" />
          </svg>
        </div>
      </td>
      {texts.map((text, i) => (
        <td key={i} class={i === texts.length - 1 ? 'fd-name' : 'fd-amount'}>
          {text}
        </td>
      ))}
    </>
  )
}

function titleText({ rank, title }: WhatIfCause): string {
  return `${rank}. ${shortText(title, MAX_TITLE_LENGTH)}`
}

/** Writes the columns after the first. */
function factTexts(cause: WhatIfCause, name: WhatIfDiagnosis['divergence']): string[] {
  const { gain, divergence, profile, touched, significant, q } = cause
  const { p50Us, p99Us } = profile.facts
  return [
    gain < 0 ? 'none' : percent(Math.min(1, gain)),
    divergenceText(name, divergence),
    formatDuration(p50Us),
    formatDuration(p99Us),
    grouped(touched),
    `${significant ? 'yes' : 'unsure'}${q === null ? '' : ` (${pValue(q, 'q')})`}`,
  ]
}

function divergenceText(name: WhatIfDiagnosis['divergence'], value: number): string {
  return name === 'wasserstein' ? formatDuration(value) : shortNumber(value)
}

function openTo(causes: readonly WhatIfCause[], rank: number): ReadonlySet<number> {
  const place = causes.findIndex((cause) => cause.rank === rank)
  return new Set(place < 0 ? [] : callersOf(causes, place))
}

/** Returns the places that are shown: those at the top, and those within open ones. */
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

/** Returns the places of what a cause lies within, from the top down. */
export function callersOf(causes: readonly WhatIfCause[], place: number): number[] {
  const callers: number[] = []
  for (let at = causes[place]?.parent ?? -1; at >= 0; at = causes[at]?.parent ?? -1) {
    callers.unshift(at)
  }
  return callers
}
