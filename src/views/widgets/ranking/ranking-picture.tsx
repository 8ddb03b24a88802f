import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { counted, grouped, signedDuration } from '../../../core/words.ts'
import { PICTURE_INK as INK } from '../../drawing/ink.ts'
import type { RankingData, RankingEntry } from './ranking-data.ts'
import { TimesPlot } from './ranking-times.tsx'

const WIDTH = 760
const ROW = 26
const HEAD = 30
const BAR = 110
const ROWS = 15

/** The first mutations as they stand, without anything to open. */
export function RankingPicture({ data }: { readonly data: RankingData }) {
  const rows = data.entries.slice(0, ROWS)
  const hidden = data.table.totalRows - rows.length
  const height = HEAD + ROW * (rows.length + (hidden > 0 || rows.length === 0 ? 1 : 0)) + 6
  const largestUs = Math.max(...rows.map(({ contributionUs }) => Math.abs(contributionUs)), 1)
  const heads = [
    { text: 'kind of request (category)', x: 34, anchor: 'start' },
    { text: 'kind', x: 320, anchor: 'start' },
    { text: 'requests', x: 470, anchor: 'end' },
    { text: 'adds in all', x: 545, anchor: 'end' },
  ] as const
  return (
    <svg
      {...{ width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}`, 'font-size': 12 }}
      font-family="system-ui, sans-serif"
    >
      <title>Ranking browser</title>
      <rect width={WIDTH} height={height} fill={INK.back} />
      {heads.map(({ text, x, anchor }) => (
        <text key={text} x={x} y="18" text-anchor={anchor} fill={INK.soft}>
          {text}
        </text>
      ))}
      <Legend />
      {rows.map((entry, i) => (
        <g key={entry.rank} transform={`translate(0 ${HEAD + ROW * i})`}>
          <PictureRow entry={entry} largestUs={largestUs} />
        </g>
      ))}
      {rows.length === 0 || hidden > 0 ? (
        <text x="34" y={height - 12} fill={INK.soft}>
          {rows.length === 0 ? 'Nothing is ranked.' : counted(hidden, 'more mutation')}
        </text>
      ) : null}
    </svg>
  )
}

/** Stands above the curves of response times. */
function Legend() {
  return [
    { text: 'before', x: 634, colour: INK.before },
    { text: 'after', x: 700, colour: INK.after },
  ].map(({ text, x, colour }) => (
    <g key={text}>
      <line x1={x} x2={x + 14} y1="14" y2="14" stroke={colour} stroke-width="2.5" />
      <text x={x + 18} y="18" fill={INK.soft}>
        {text}
      </text>
    </g>
  ))
}

function PictureRow({ entry, largestUs }: { entry: RankingEntry; largestUs: number }) {
  const { rank, name, category, kind, requests, contributionUs } = entry
  return (
    <g fill={INK.text}>
      <text x="26" y="16" text-anchor="end" fill={INK.soft}>
        {rank}
      </text>
      <text x="34" y="16">
        {shortText(name, 38)} ({category})<title>{tooltipText(name)}</title>
      </text>
      <text x="320" y="16">
        {kind}
      </text>
      <text x="470" y="16" text-anchor="end">
        {kind === 'structural' ? '+' : ''}
        {grouped(requests)}
      </text>
      <text x="545" y="16" text-anchor="end">
        {signedDuration(contributionUs)}
      </text>
      <rect
        {...{ x: 552, y: 6, width: (BAR * Math.abs(contributionUs)) / largestUs, height: 12 }}
        fill={contributionUs < 0 ? INK.before : INK.after}
      />
      <g transform="translate(668 0)">
        <TimesPlot {...{ entry, ink: INK, width: 84, height: 22 }} />
      </g>
    </g>
  )
}
