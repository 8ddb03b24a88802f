import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { grouped } from '../../../core/words.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { VarianceBins } from './variance-bins.tsx'
import type { SpreadRow, VarianceData } from './variance-data.ts'
import { c2Text, predictableShares } from './variance-words.ts'

const WIDTH = 860
const ROW = 28
const TOP = 66
const MOST = 12
const BINS_SIZE = { width: 130, height: 22 } as const
const LONGEST_NAME = 44

/** Where each column ends, or begins for the first two. */
const COLUMNS = [
  { at: 12, head: 'kind of request (category)', anchor: 'start' },
  { at: 330, head: 'period', anchor: 'start' },
  { at: 450, head: 'requests', anchor: 'end' },
  { at: 540, head: 'mean', anchor: 'end' },
  { at: 640, head: 'standard dev.', anchor: 'end' },
  { at: 690, head: 'C²', anchor: 'end' },
  { at: 715, head: 'times, 0 to 3× mean', anchor: 'start' },
] as const

/** Tier 1, without anything to click on. */
export function VariancePicture({ data }: { readonly data: VarianceData }) {
  const ink = PICTURE_INK
  const rows = data.spreads.slice(0, MOST)
  const more = data.ranked - rows.length
  const height = TOP + rows.length * ROW + (more > 0 ? 30 : 12)
  return (
    <svg
      {...{ width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}` }}
      {...{ 'font-size': '12', 'font-family': 'system-ui, sans-serif' }}
    >
      <title>Variance</title>
      <rect width={WIDTH} height={height} fill={ink.back} />
      <text x="12" y="22" fill={ink.text}>
        {`Kinds of request that are predictable (C² below 1): ${predictableShares(data)}`}
      </text>
      {COLUMNS.map(({ at, head, anchor }) => (
        <text key={head} {...{ x: at, y: 50, 'text-anchor': anchor, fill: ink.soft }}>
          {head}
        </text>
      ))}
      <line x1="12" x2={WIDTH - 12} y1={TOP - 8} y2={TOP - 8} stroke={ink.line} />
      {rows.map((row, place) => (
        <g key={`${row.category} ${row.period}`} transform={`translate(0 ${TOP + place * ROW})`}>
          {textsOf(row).map((text, column) => {
            const { at, anchor } = COLUMNS[column] as (typeof COLUMNS)[number]
            return (
              <text key={COLUMNS[column]?.head} {...{ x: at, y: 16, 'text-anchor': anchor }}>
                {text}
              </text>
            )
          })}
          <g transform="translate(715 0)">
            <VarianceBins {...{ row, ink, ...BINS_SIZE }} />
          </g>
        </g>
      ))}
      {more > 0 ? (
        <text x="12" y={height - 10} fill={ink.soft}>
          … and {grouped(more)} more
        </text>
      ) : null}
    </svg>
  )
}

function textsOf({ root, category, period, requests, meanUs, sdUs, c2 }: SpreadRow): string[] {
  return [
    `${shortText(root, LONGEST_NAME)} (${category})`,
    ...[period, grouped(requests), formatDuration(meanUs)],
    ...[sdUs === null ? 'none' : formatDuration(sdUs), c2Text(c2)],
  ]
}
