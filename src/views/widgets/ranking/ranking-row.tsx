import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { grouped, signedDuration } from '../../../core/words.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import type { RankingEntry } from './ranking-data.ts'
import { medianUs, TimesPlot } from './ranking-times.tsx'

interface Shown {
  readonly entry: RankingEntry
  readonly direction: string
  /** Label of the node its flows begin with. */
  readonly root: string
  /** The largest contribution, whose bar is the longest. */
  readonly largestUs: number
  readonly isOpen: boolean
  readonly onToggle: () => void
}

const BAR = 90

/** One mutation in the ranking; it opens by its button, or by a click anywhere on it. */
export function RankingRow({ entry, root, direction, largestUs, isOpen, onToggle }: Shown) {
  const { rank, kind, category, requests, contributionUs, before, after } = entry
  const toggle = {
    onClick: (event: MouseEvent) => {
      const isButton = (event.target as Element).closest('button, a') !== null
      const isSelecting = getSelection()?.isCollapsed === false
      if (!isButton && !isSelecting) onToggle()
    },
  }
  const width = largestUs > 0 ? (BAR * Math.abs(contributionUs)) / largestUs : 0
  const colour = contributionUs < 0 ? PAGE_INK.before : PAGE_INK.after
  return (
    <tr {...{ class: 'fd-openable', 'aria-selected': isOpen, ...toggle }}>
      <td class="fd-amount">
        <button
          {...{ type: 'button', 'aria-expanded': isOpen, onClick: onToggle }}
          aria-label={`Mutation ${rank}`}
        >
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {rank}
        </button>
      </td>
      <td class="fd-name">{kind}</td>
      <td class="fd-amount">{category}</td>
      <td class="fd-name" title={tooltipText(root)}>
        {shortText(root, 48)}
      </td>
      <td class="fd-name">{direction === '' ? '–' : direction}</td>
      <td class="fd-amount">
        {kind === 'structural' ? '+' : ''}
        {grouped(requests)}
      </td>
      <td>
        <div class="fd-with-bar">
          <span>{signedDuration(contributionUs)}</span>
          <svg width={BAR} height="10" aria-hidden="true">
            <rect width={Math.max(1, width)} height="10" style={`fill:${colour}`} />
          </svg>
        </div>
      </td>
      <td>
        <div class="fd-with-bar">
          <span>
            {before.count === 0 ? '–' : formatDuration(medianUs(before))} →{' '}
            {after.count === 0 ? '–' : formatDuration(medianUs(after))}
          </span>
          <TimesPlot {...{ entry, ink: PAGE_INK, width: 90, height: 26 }} />
        </div>
      </td>
    </tr>
  )
}
