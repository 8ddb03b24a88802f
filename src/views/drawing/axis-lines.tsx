import type { AxisScale } from './axis-scale.ts'
import { Text, useInk } from './figure.tsx'
import { tenth } from './path.ts'
import { textWidth } from './text.ts'

export interface PlotBox {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Lines are there to follow, not to see. */
const GRID = 0.65

interface Axis {
  readonly scale: AxisScale
  readonly box: PlotBox
}

/** Draws an axis below the plot; `title` names the numbers if nothing else does. */
export function BottomAxis({ scale, box, title }: Axis & { readonly title?: string }) {
  const ink = useInk()
  const bottom = box.top + box.height
  return (
    <g>
      {scale.ticks.map(({ value, text }) => {
        const x = pixel(box.left + scale.share(value) * box.width)
        return (
          <g key={value}>
            <line x1={x} x2={x} y1={box.top} y2={bottom + 4} stroke={ink.line} opacity={GRID} />
            <Text color="soft" x={inward(x, text, box)} y={bottom + 16} anchor="middle">
              {text}
            </Text>
          </g>
        )
      })}
      {title === undefined ? null : (
        <Text x={box.left + box.width / 2} y={bottom + 32} anchor="middle">
          {title}
        </Text>
      )}
    </g>
  )
}

export function LeftAxis({ scale, box }: Axis) {
  const ink = useInk()
  return (
    <g>
      {scale.ticks.map(({ value, text }) => {
        const y = pixel(box.top + (1 - scale.share(value)) * box.height)
        return (
          <g key={value}>
            <path d={`M${box.left - 4} ${y}h${box.width + 4}`} stroke={ink.line} opacity={GRID} />
            <Text color="soft" x={box.left - 7} y={y + 4} anchor="end">
              {text}
            </Text>
          </g>
        )
      })}
    </g>
  )
}

export interface Plot {
  readonly box: PlotBox
  readonly x: AxisScale
  readonly y: AxisScale
}

export function plotPoint({ box, x, y }: Plot, [atX, atY]: readonly [number, number]) {
  return {
    x: tenth(box.left + x.share(atX) * box.width),
    y: tenth(box.top + (1 - y.share(atY)) * box.height),
  }
}

export function curvePath(
  plot: Plot,
  points: readonly (readonly [number, number])[],
  shape: 'lines' | 'steps',
): string {
  return points
    .map((point, i) => {
      const { x, y } = plotPoint(plot, point)
      if (i === 0) return `M${x},${y}`
      return shape === 'steps' ? `H${x}V${y}` : `L${x},${y}`
    })
    .join('')
}

/** Largest overhang of numbers to the right of the plot. */
const BEYOND = 13
const FONT_SIZE = 11

function inward(x: number, text: string, { left, width }: PlotBox): number {
  return Math.min(x, left + width + BEYOND - textWidth(text, FONT_SIZE) / 2)
}

export function pixel(value: number): number {
  return Math.round(value * 2) / 2
}
