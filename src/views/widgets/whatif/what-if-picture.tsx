import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { fittedText } from '../../drawing/fitted-text.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { restoreRequests } from './restore-requests.ts'
import type { WhatIfData } from './what-if-data.ts'
import { drawingHeight, ProfilesDrawing } from './what-if-drawing.tsx'
import { causeProfile, changedProfile, fixedProfiles } from './what-if-profiles.ts'
import { gainText, sampleText } from './what-if-words.ts'

const WIDTH = 640
const PADDING = 8
const LINE = 18
const MOST_CAUSES = 6

/** The explorer in its first state, without anything to drag. */
export function WhatIfPicture({ data }: { readonly data: WhatIfData }) {
  const model = restoreRequests(data.sample)
  const { changes, cause, by } = data.initial
  const profiles = [
    ...fixedProfiles(data, model),
    ...[changedProfile(model, changes), causeProfile(data, cause)].filter((each) => each !== null),
  ]
  const ink = PICTURE_INK
  const below = drawingHeight(profiles.length)
  const lines = [...causeLines(data), sampleText(data, by)]
  const height = below + LINE * lines.length + 3 * PADDING
  return (
    <svg
      {...{ width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}` }}
      {...{ 'font-size': '11', 'font-family': 'system-ui, sans-serif' }}
    >
      <title>What if?</title>
      <rect width={WIDTH} height={height} fill={ink.back} />
      <g transform={`translate(0 ${PADDING})`}>
        <ProfilesDrawing {...{ profiles, width: WIDTH, ink }} />
      </g>
      {lines.map((line, i) => (
        <text key={line} x="14" y={below + 2 * PADDING + LINE * i + 8} style={`fill:${ink.text}`}>
          {fittedText(line, WIDTH - 28, 11)}
        </text>
      ))}
    </svg>
  )
}

/** The best causes, one line each. */
function causeLines({ diagnosis }: WhatIfData): string[] {
  return [...(diagnosis?.causes ?? [])]
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST_CAUSES)
    .map(
      ({ rank, title, gain, profile }) =>
        `${rank}. ${shortText(title, 70)}: explains ${gainText(gain)}, p50 ${formatDuration(profile.facts.p50Us)}`,
    )
}
