import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../../core/words.ts'
import {
  isSameEdge,
  type VarianceKind,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import { varianceShare } from '../../charts/flow-order.ts'
import { useWidth } from '../../drawing/controls.tsx'
import { Figure } from '../../drawing/figure.tsx'
import { type Ink, useInk } from '../../drawing/ink.ts'
import type { VarianceDetail } from './variance-data.ts'
import { GRAPH_SIZES, type GraphLink, type GraphNode } from './variance-graph.ts'

interface FlowProps {
  readonly name: string
  readonly detail: VarianceDetail
  readonly marks: readonly VarianceMark[]
  /** Number of the edge chosen. */
  readonly chosen: number | null
  /** Chooses an edge, or lets go of it. */
  readonly onChoose: (edge: number) => void
}

/** Letters can be read down to this share of their size. */
const READABLE = 0.75
/** Shares below this are drawn like none. */
const MIN_SHARE = 0.005
/** Distance of labels from edges: they stand clear of the thickest. */
const ASIDE = 4

/**
 * Draws the flow of a category: the redder and thicker an edge, the more of the variance is its own.
 * It is as wide as the room where it can be read then, or else scrolls at its own size.
 *
 * Edges are chosen by a click, and with the keyboard: the drawing is one stop of the Tab key,
 * arrows, Home and End go from edge to edge, Enter and the space bar choose, Escape lets go.
 */
export function VarianceFlow({ name, detail, marks, chosen, onChoose }: FlowProps) {
  const { graph, edges } = detail
  const [place, room] = useWidth<HTMLDivElement>(600)
  const surface = useRef<SVGSVGElement>(null)
  const [reached, setReached] = useState<number | null>(null)
  const [wish, setWish] = useState<boolean | null>(null)
  const isFitted = wish ?? room >= graph.width * READABLE
  const known = new Map(edges.map((edge) => [edge.edge, edge]))
  const partners = new Set(known.get(chosen ?? -1)?.covarying?.map(({ edge }) => edge))
  const order = linksDown(graph.links, known)
  const isChosen = (link: number) => chosen !== null && graph.links[link]?.edge === chosen
  const stop = reached ?? order.find(isChosen) ?? order[0]
  useLayoutEffect(() => {
    // The root is what one reads first.
    if (place.current !== null) {
      place.current.scrollLeft = (graph.nodes[0]?.x ?? 0) - place.current.clientWidth / 2
    }
  }, [isFitted, room])
  const onKeyDown = (event: KeyboardEvent, link: number, edge: number) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const next = linkAfterKey(order, link, event.key)
    if (next !== undefined) {
      surface.current?.querySelector<SVGGElement>(`[data-link="${next}"]`)?.focus()
    } else if (event.key === 'Enter' || event.key === ' ') onChoose(edge)
    else if (event.key === 'Escape' && chosen !== null) onChoose(chosen)
    else return
    event.preventDefault()
  }
  const handsOf = (place: number): JSX.SVGAttributes<SVGGElement> => {
    const edge = known.get(graph.links[place]?.edge ?? -1)
    if (edge === undefined) return {}
    const share = edge.share === null ? '' : `: ${varianceShare(edge.share)} of the variance`
    return {
      class: 'fd-variance-link',
      role: 'button',
      tabindex: place === stop ? 0 : -1,
      'aria-pressed': isChosen(place),
      'aria-label': edge.name + share,
      'data-edge': edge.edge,
      'data-link': place,
      onClick: () => onChoose(edge.edge),
      onFocus: () => setReached(place),
      onKeyDown: (event: KeyboardEvent) => onKeyDown(event, place, edge.edge),
    } as JSX.SVGAttributes<SVGGElement>
  }
  return (
    <div>
      <Legend />
      <div ref={place} class={`fd-variance-flow${isFitted ? '' : ' fd-variance-whole'}`}>
        <Figure
          svgRef={surface}
          width={graph.width}
          height={graph.height}
          label={`Flow of ${name}; its edges are in the table as well. Arrow keys go from edge to edge, Enter chooses one.`}
          role="application"
        >
          <g font-size={GRAPH_SIZES.label}>
            {graph.links.map((link, place) => {
              const edge = known.get(link.edge ?? -1)
              const mark = edge && marks.find((each) => isSameEdge(each, edge))
              return (
                <g key={place} fill="none" stroke-linejoin="round" {...handsOf(place)}>
                  <Link
                    link={link}
                    isChosen={isChosen(place)}
                    isPartner={link.edge !== null && partners.has(link.edge)}
                    kind={mark?.kind}
                  />
                </g>
              )
            })}
            {graph.nodes.map((node, place) => (
              <Node key={place} node={node} />
            ))}
          </g>
        </Figure>
      </div>
      <p class="fd-soft">
        {graph.nodes.length < graph.nodesInAll
          ? `${graph.nodes.length} of ${counted(graph.nodesInAll, 'step')}: those at the largest shares. `
          : ''}
        {graph.width > room ? (
          <button type="button" aria-pressed={isFitted} onClick={() => setWish(!isFitted)}>
            Fit to width
          </button>
        ) : null}
      </p>
    </div>
  )
}

/** Returns the links that can be chosen, from the top down, and at one height from the left. */
export function linksDown(
  links: readonly GraphLink[],
  known: { has: (edge: number) => boolean },
): number[] {
  const at = (place: number) => (links[place] as GraphLink).label
  return [...links.keys()]
    .filter((place) => known.has(links[place]?.edge ?? -1))
    .sort((a, b) => at(a).y - at(b).y || at(a).x - at(b).x || a - b)
}

/** Returns where a key leads from a link; `undefined` for other keys, and beyond either end. */
export function linkAfterKey(
  order: readonly number[],
  place: number,
  key: string,
): number | undefined {
  const at = order.indexOf(place)
  if (key === 'ArrowDown' || key === 'ArrowRight') return order[at + 1]
  if (key === 'ArrowUp' || key === 'ArrowLeft') return order[at - 1]
  if (key === 'Home') return order[0]
  return key === 'End' ? order.at(-1) : undefined
}

interface LinkProps {
  readonly link: GraphLink
  readonly isChosen: boolean
  /** Whether it varies together with the edge chosen. */
  readonly isPartner: boolean
  readonly kind: VarianceKind | undefined
}

function Link({ link, isChosen, isPartner, kind }: LinkProps) {
  const ink = useInk()
  const { points, label, text } = link
  const path = `M${points.map(({ x, y }) => `${x} ${y}`).join('L')}`
  const { color, width, opacity, dashes } = lookOf(link, ink)
  const end = points.at(-1) ?? { x: 0, y: 0 }
  const x = label.x + ASIDE
  return (
    <>
      {/* Reached by the pointer; with the focus, a ring round the edge. */}
      <path class="fd-variance-ring" d={path} stroke="transparent" stroke-width="18" />
      <path class="fd-variance-gap" d={path} stroke="transparent" stroke-width="13" />
      {isChosen || isPartner ? (
        <path
          d={path}
          stroke-width={width + 7}
          style={`stroke:${isChosen ? ink.text : ink.soft}`}
          stroke-opacity={isChosen ? 0.35 : 0.25}
          stroke-dasharray={isPartner ? '3 3' : undefined}
        />
      ) : null}
      <path
        d={path}
        stroke-width={width}
        stroke-opacity={opacity}
        stroke-dasharray={dashes}
        style={`stroke:${color}`}
      />
      <path
        d={`M${end.x - 4} ${end.y - 8}h8l-4 8z`}
        style={`fill:${color}`}
        fill-opacity={opacity}
      />
      <text x={x} y={label.y + (kind === undefined ? 4 : -2)} style={`fill:${ink.text}`}>
        {text}
      </text>
      {kind === undefined ? null : (
        <text x={x} y={label.y + 11} font-style="italic" style={`fill:${ink.soft}`}>
          {kind}
        </text>
      )}
    </>
  )
}

function lookOf({ share, onPath }: GraphLink, ink: Ink) {
  if (!onPath) return { color: ink.soft, width: 1.2, opacity: 1, dashes: '4 3' }
  const size = Math.min(1, Math.abs(share ?? 0))
  if (share === null || size < MIN_SHARE) return { color: ink.soft, width: 1.5, opacity: 1 }
  return {
    color: share < 0 ? ink.after : ink.change,
    width: 1.8 + 6 * size,
    opacity: 0.5 + 0.5 * size,
  }
}

function Node({ node }: { readonly node: GraphNode }) {
  const ink = useInk()
  const { x, y, width, height, name, where, full } = node
  return (
    <g text-anchor="middle">
      <title>{full}</title>
      <rect
        x={x - width / 2}
        y={y - height / 2}
        width={width}
        height={height}
        rx="4"
        style={`fill:${ink.raised};stroke:${ink.line}`}
      />
      <text
        x={x}
        y={where === '' ? y + 4 : y - 2}
        font-size={GRAPH_SIZES.name}
        style={`fill:${ink.text}`}
      >
        {name}
      </text>
      {where === '' ? null : (
        <text x={x} y={y + 12} font-size={GRAPH_SIZES.where} style={`fill:${ink.soft}`}>
          {where}
        </text>
      )}
    </g>
  )
}

const KEYS = [
  { words: 'share of the variance', color: 'change', width: 5, opacity: 1 },
  { words: 'evens it out', color: 'after', width: 3, opacity: 1 },
  { words: 'hardly any', color: 'soft', width: 1.5, opacity: 1 },
  { words: 'off the critical path', color: 'soft', width: 1.2, opacity: 1, dashes: '4 3' },
  { words: 'varies together', color: 'soft', width: 7, opacity: 0.4, dashes: '3 3' },
]

function Legend() {
  return (
    <p class="fd-variance-legend fd-soft">
      {KEYS.map(({ words, color, width, opacity, dashes }) => (
        <span key={words}>
          <svg width="26" height="10" aria-hidden="true">
            <path
              d="M0 5h26"
              stroke-width={width}
              stroke-dasharray={dashes}
              style={`stroke:var(--fd-${color})`}
              stroke-opacity={opacity}
            />
          </svg>{' '}
          {words}
        </span>
      ))}
    </p>
  )
}
