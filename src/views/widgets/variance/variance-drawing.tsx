import {
  isSameEdge,
  type VarianceKind,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { DetailEdge, VarianceDetail } from './variance-data.ts'
import { GRAPH_SIZES, type GraphLink, type GraphNode } from './variance-graph.ts'
import type { LinkHands } from './variance-link-keys.ts'

interface Shown {
  readonly detail: VarianceDetail
  readonly ink: Ink
  readonly marks: readonly VarianceMark[]
  /** Number of the edge chosen, and of those that covary with it. */
  readonly chosen: number | null
  /** What makes a link answer, by its place; nothing where it does not. */
  readonly handsOf: (place: number) => LinkHands | undefined
}

/** Shares below this are drawn like none. */
const LITTLE = 0.005
/** Labels stand clear of the thickest edge. */
const ASIDE = 4

/** The flow of a category: the redder and thicker an edge, the more of the variance is its own. */
export function VarianceDrawing({ detail, ink, marks, chosen, handsOf }: Shown) {
  const { graph, edges } = detail
  const known = new Map(edges.map((edge) => [edge.edge, edge]))
  const partners = new Set(known.get(chosen ?? -1)?.covarying?.map(({ edge }) => edge))
  return (
    <g font-size={GRAPH_SIZES.label}>
      {graph.links.map((link, place) => (
        <Link
          key={place}
          {...{ link, ink, isChosen: link.edge !== null && link.edge === chosen }}
          {...{ isPartner: link.edge !== null && partners.has(link.edge) }}
          kind={kindOf(marks, known.get(link.edge ?? -1))}
          hands={handsOf(place)}
        />
      ))}
      {graph.nodes.map((node, place) => (
        <Node key={place} {...{ node, ink }} />
      ))}
    </g>
  )
}

function kindOf(
  marks: readonly VarianceMark[],
  edge: DetailEdge | undefined,
): VarianceKind | undefined {
  return edge === undefined ? undefined : marks.find((mark) => isSameEdge(mark, edge))?.kind
}

interface LinkShown {
  readonly link: GraphLink
  readonly ink: Ink
  readonly isChosen: boolean
  readonly isPartner: boolean
  readonly kind: VarianceKind | undefined
  readonly hands: LinkHands | undefined
}

function Link({ link, ink, isChosen, isPartner, kind, hands }: LinkShown) {
  const { points, label, text } = link
  const path = `M${points.map(({ x, y }) => `${x} ${y}`).join('L')}`
  const look = lookOf(link, ink)
  const end = points.at(-1) ?? { x: 0, y: 0 }
  return (
    <g {...hands} fill="none" stroke-linejoin="round">
      {/* What the pointer reaches; with the focus, a ring round the edge. */}
      <path class="fd-variance-ring" d={path} stroke="transparent" stroke-width="18" />
      <path class="fd-variance-gap" d={path} stroke="transparent" stroke-width="13" />
      {isChosen || isPartner ? (
        <path
          {...{ d: path, 'stroke-width': look.width + 7 }}
          style={`stroke:${isChosen ? ink.text : ink.soft}`}
          stroke-opacity={isChosen ? 0.35 : 0.25}
          stroke-dasharray={isPartner ? '3 3' : undefined}
        />
      ) : null}
      <path
        {...{ d: path, 'stroke-width': look.width }}
        {...{ 'stroke-opacity': look.opacity, 'stroke-dasharray': look.dashes }}
        style={`stroke:${look.colour}`}
      />
      <path
        d={`M${end.x - 4} ${end.y - 8}L${end.x + 4} ${end.y - 8}L${end.x} ${end.y}Z`}
        style={`fill:${look.colour}`}
        fill-opacity={look.opacity}
      />
      <text
        x={label.x + ASIDE}
        y={label.y + (kind === undefined ? 4 : -2)}
        style={`fill:${ink.text}`}
      >
        {text}
      </text>
      {kind === undefined ? null : (
        <text
          {...{ x: label.x + ASIDE, y: label.y + 11, 'font-style': 'italic' }}
          style={`fill:${ink.soft}`}
        >
          {kind}
        </text>
      )}
    </g>
  )
}

function lookOf({ share, onPath }: GraphLink, ink: Ink) {
  if (!onPath) return { colour: ink.soft, width: 1.2, opacity: 1, dashes: '4 3' }
  if (share === null || Math.abs(share) < LITTLE) {
    return { colour: ink.soft, width: 1.5, opacity: 1, dashes: undefined }
  }
  const size = Math.min(1, Math.abs(share))
  return {
    colour: share < 0 ? ink.after : ink.change,
    ...{ width: 1.8 + 6 * size, opacity: 0.5 + 0.5 * size, dashes: undefined },
  }
}

function Node({ node, ink }: { readonly node: GraphNode; readonly ink: Ink }) {
  const { x, y, width, height, name, where, full } = node
  return (
    <g text-anchor="middle">
      <title>{full}</title>
      <rect
        {...{ x: x - width / 2, y: y - height / 2, width, height, rx: 4 }}
        style={`fill:${ink.raised};stroke:${ink.line}`}
      />
      <text
        {...{ x, y: where === '' ? y + 4 : y - 2, 'font-size': GRAPH_SIZES.name }}
        style={`fill:${ink.text}`}
      >
        {name}
      </text>
      {where === '' ? null : (
        <text {...{ x, y: y + 12, 'font-size': GRAPH_SIZES.where }} style={`fill:${ink.soft}`}>
          {where}
        </text>
      )}
    </g>
  )
}
