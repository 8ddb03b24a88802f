import type { JSX } from 'preact'
import { tooltipText } from '../../../core/shown-text.ts'
import type { AttentionGraph } from '../../../logs/attention/attention.ts'
import {
  type DependencyLayout,
  type DrawnDependency,
  type DrawnVariable,
  dependencyLayout,
} from '../../charts/dependency-layout.ts'
import { tellingVariables } from '../../charts/telling-variables.ts'
import type { Ink } from '../../drawing/ink.ts'
import { differenceText, edgeText } from './logs-words.ts'

/** How many variables are drawn; the list has all. */
export const MOST_DRAWN = 16

/** Where everything of a graph stands. */
export function graphLayout(graph: AttentionGraph): DependencyLayout {
  return dependencyLayout(graph, tellingVariables(graph, MOST_DRAWN))
}

interface Shown {
  readonly graph: AttentionGraph
  readonly layout: DependencyLayout
  readonly ink: Ink
  readonly open?: string | null
  /** What makes names answer to pointer and keyboard. */
  readonly handsOf?: (name: string) => JSX.SVGAttributes<SVGGElement>
}

/** A graph of dependencies: the contents of an `<svg>`. */
export function GraphDrawing({ graph, layout, ink, open = null, handsOf }: Shown) {
  return (
    <>
      {layout.dependencies.map((dependency) => (
        <Dependency
          key={`${dependency.edge.from}\n${dependency.edge.to}`}
          {...{ dependency, ink }}
        />
      ))}
      {layout.variables.map((variable) => (
        <g key={variable.node.name} {...handsOf?.(variable.node.name)}>
          <Name {...{ variable, ink, isMetric: variable.node.name === graph.metric }} />
          {variable.node.name === open ? <Underline {...{ variable, ink }} /> : null}
        </g>
      ))}
    </>
  )
}

function Dependency({
  dependency: { edge, points, strokeWidth, arrow },
  ink,
}: {
  readonly dependency: DrawnDependency
  readonly ink: Ink
}) {
  const path = points.map(([x, y]) => `${rounded(x)},${rounded(y)}`).join('L')
  const opacity = edge.inTree ? 0.75 : 0.32
  const half = 4 + strokeWidth / 2
  return (
    <g stroke-opacity={opacity} fill-opacity={opacity} data-in-tree={edge.inTree}>
      <title>
        {edgeText(edge)}, R² = {edge.r2.toFixed(2)}
      </title>
      <path
        {...{ d: `M${path}`, fill: 'none', 'stroke-width': rounded(strokeWidth) }}
        {...{ 'stroke-linejoin': 'round', style: `stroke:${ink.soft}` }}
      />
      {arrow === null ? null : (
        <path
          d={`M${rounded(arrow.x)},${rounded(arrow.y)}l${arrow.right ? -10 : 10},${-half}v${2 * half}Z`}
          style={`fill:${ink.soft}`}
        />
      )}
    </g>
  )
}

function Name({
  variable: { node, label, fontSize, left, right, y },
  ink,
  isMetric,
}: {
  readonly variable: DrawnVariable
  readonly ink: Ink
  readonly isMetric: boolean
}) {
  const colour = isMetric ? ink.changeText : node.significant ? ink.text : ink.soft
  return (
    <>
      <title>
        {tooltipText(node.name)}: {isMetric ? 'performance; ' : ''}
        {differenceText(node)}
      </title>
      <rect
        {...{ class: 'fd-logs-name', rx: 4, fill: 'transparent' }}
        {...{
          x: rounded(left - 4),
          y: rounded(y - 14),
          width: rounded(right - left + 8),
          height: 28,
        }}
      />
      <text
        {...{ x: rounded(right), y: rounded(y), 'font-size': rounded(fontSize) }}
        {...{ 'text-anchor': 'end', 'dominant-baseline': 'central' }}
        font-weight={isMetric ? 700 : 400}
        style={`fill:${colour}`}
      >
        {label}
      </text>
    </>
  )
}

function Underline({
  variable: { left, right, y, fontSize },
  ink,
}: {
  readonly variable: DrawnVariable
  readonly ink: Ink
}) {
  const at = rounded(y + fontSize / 2 + 3)
  return (
    <line
      {...{ x1: rounded(left), x2: rounded(right), y1: at, y2: at, 'stroke-width': 2 }}
      style={`stroke:${ink.text}`}
    />
  )
}

function rounded(pixel: number): number {
  return Math.round(pixel * 10) / 10
}
