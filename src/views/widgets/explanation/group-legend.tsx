import { textWidth } from '../../charts/text-width.ts'
import type { Ink } from '../../drawing/ink.ts'

/** What the colours of both groups mean. */
export function GroupLegend({
  names,
  colours,
  ink,
}: {
  readonly names: readonly [string, string]
  readonly colours: readonly [string, string]
  readonly ink: Ink
}) {
  const second = 40 + textWidth(names[0], 12)
  return (
    <g font-size="12">
      {names.map((name, group) => (
        <g key={name} transform={`translate(${6 + group * second} 0)`}>
          <rect width="11" height="11" y="3" style={`fill:${colours[group]}`} />
          <text x="17" y="13" style={`fill:${ink.text}`}>
            {name}
          </text>
        </g>
      ))}
    </g>
  )
}
