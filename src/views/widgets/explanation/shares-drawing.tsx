import { tooltipText } from '../../../core/shown-text.ts'
import { percent } from '../../../core/words.ts'
import { numberText, type ParameterShares } from '../../charts/parameter-shares.ts'
import type { Ink } from '../../drawing/ink.ts'

interface DrawnShares {
  readonly shares: ParameterShares
  readonly names: readonly [string, string]
  readonly colours: readonly [string, string]
  readonly ink: Ink
  readonly width: number
  readonly height: number
}

/** A distribution at a glance: one group above the line, the other below, values side by side. */
export function SharesDrawing({ shares, names, colours, ink, width, height }: DrawnShares) {
  const columns = columnsOf(shares)
  const most = Math.max(...columns.flatMap((column) => column.shares), 1e-9)
  const slot = width / Math.max(1, columns.length)
  const thick = Math.max(1, Math.min(26, slot - 1))
  const half = height / 2
  return (
    <>
      <line x1={0} x2={width} y1={half} y2={half} stroke={ink.line} />
      {columns.map(({ label, shares: pair }, i) => (
        <g key={`${i} ${label}`}>
          <title>
            {`${tooltipText(label)}: ${pair.map((share, group) => `${percent(share)} ${names[group]}`).join(', ')}`}
          </title>
          {/* Room to point at where bars are small. */}
          <rect x={i * slot} width={slot} height={height} fill="transparent" />
          {pair.map((share, group) => {
            const length = share === 0 ? 0 : Math.max(1, (share / most) * (half - 1))
            return (
              <rect
                key={names[group]}
                x={i * slot + (slot - thick) / 2}
                y={group === 0 ? half - length : half}
                width={thick}
                height={length}
                style={`fill:${colours[group]}`}
              />
            )
          })}
        </g>
      ))}
    </>
  )
}

function columnsOf(shares: ParameterShares) {
  if (shares.kind === 'values') return shares.values
  const missing = shares.missing.some((share) => share > 0)
    ? [{ label: 'missing', shares: shares.missing }]
    : []
  return [
    ...shares.bins.map(({ from, to, shares: pair }) => ({
      label: `${numberText(from)} to ${numberText(to)}`,
      shares: pair,
    })),
    ...missing,
  ]
}
