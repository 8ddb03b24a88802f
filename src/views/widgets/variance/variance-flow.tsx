import type { JSX } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { counted } from '../../../core/words.ts'
import { markOf, type VarianceMark } from '../../../explain/variance/variance-marks.ts'
import { varianceShare } from '../../charts/flow-order.ts'
import { useWidth } from '../../drawing/controls.tsx'
import { Figure } from '../../drawing/figure.tsx'
import type { FlowLayout } from '../../drawing/flow-layout.ts'
import {
  type GraphLine,
  LineLegend,
  type LineLook,
  layOutLegend,
  NodeLink,
} from '../../drawing/node-link.tsx'
import type { VarianceDetail } from './variance-data.ts'
import type { VarianceLink } from './variance-graph.ts'

interface FlowProps {
  readonly name: string
  readonly detail: VarianceDetail
  readonly layout: FlowLayout
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

/**
 * Draws the flow of a category: the redder and thicker an edge, the more of the variance is its own.
 * It is as wide as the room where it can be read then, or else scrolls at its own size.
 *
 * Edges are chosen by a click, and with the keyboard: the drawing is one stop of the Tab key,
 * arrows, Home and End go from edge to edge, Enter and the space bar choose, Escape lets go.
 */
export function VarianceFlow({ name, detail, layout, marks, chosen, onChoose }: FlowProps) {
  const { graph, edges } = detail
  const [width, height] = [Math.ceil(layout.width), Math.ceil(layout.height)]
  const [place, room] = useWidth<HTMLDivElement>(600)
  const surface = useRef<SVGSVGElement>(null)
  const [reached, setReached] = useState<number | null>(null)
  const [wish, setWish] = useState<boolean | null>(null)
  const isFitted = wish ?? room >= width * READABLE
  const known = useMemo(() => new Map(edges.map((edge) => [edge.edge, edge])), [edges])
  const edgeOf = (link: number) => known.get(graph.links[link]?.edge ?? -1)
  const order = useMemo(() => linksDown(graph.links, layout, known), [graph, layout, known])
  const isChosen = (link: number) => chosen !== null && graph.links[link]?.edge === chosen
  const stop = reached ?? order.find(isChosen) ?? order[0]
  useLayoutEffect(() => {
    // The root is what one reads first.
    if (place.current !== null) {
      place.current.scrollLeft = (layout.nodes[0]?.x ?? 0) - place.current.clientWidth / 2
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
  const handsOf = (link: number) => {
    const edge = edgeOf(link)
    if (edge === undefined) return undefined
    const share = Number.isNaN(edge.share) ? '' : `: ${varianceShare(edge.share)} of the variance`
    return {
      class: 'fd-variance-link',
      role: 'button',
      tabindex: link === stop ? 0 : -1,
      'aria-pressed': isChosen(link),
      'aria-label': edge.name + share,
      'data-edge': edge.edge,
      'data-link': link,
      onClick: () => onChoose(edge.edge),
      onFocus: () => setReached(link),
      onKeyDown: (event: KeyboardEvent) => onKeyDown(event, link, edge.edge),
    } as JSX.SVGAttributes<SVGGElement>
  }
  const partners = new Set(known.get(chosen ?? -1)?.covarying?.map(({ edge }) => edge))
  const lines = graph.links.map((link, number): GraphLine => {
    const edge = edgeOf(number)
    const note = edge && markOf(marks, edge)?.kind
    const halo = isChosen(number) ? CHOSEN : partners.has(link.edge ?? -1) ? PARTNER : undefined
    const look = lookOf(link)
    return {
      ...link,
      look,
      ...(note && { note }),
      ...(halo && { halo: { ...halo, width: look.width + halo.width } }),
    }
  })
  return (
    <div>
      <Figure width={room} height={layOutLegend(LEGEND, room).height} label="Meaning of the lines">
        <LineLegend entries={LEGEND} width={room} />
      </Figure>
      <div ref={place} class={`fd-variance-flow${isFitted ? '' : ' fd-variance-whole'}`}>
        <Figure
          svgRef={surface}
          width={width}
          height={height}
          label={`Flow of ${name}; its edges are in the table as well. Arrow keys go from edge to edge, Enter chooses one.`}
          role="application"
        >
          <NodeLink boxes={graph.nodes} lines={lines} layout={layout} lineHands={handsOf} />
        </Figure>
      </div>
      <p class="fd-soft">
        {graph.nodes.length < graph.nodesInAll
          ? `${graph.nodes.length} of ${counted(graph.nodesInAll, 'step')}: those at the largest shares. `
          : ''}
        {width > room ? (
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
  links: readonly Pick<VarianceLink, 'edge'>[],
  { edges }: Pick<FlowLayout, 'edges'>,
  known: { has: (edge: number) => boolean },
): number[] {
  const at = (link: number) => edges[link]?.label ?? { x: 0, y: 0 }
  return [...links.keys()]
    .filter((link) => known.has(links[link]?.edge ?? -1))
    .sort((a, b) => at(a).y - at(b).y || at(a).x - at(b).x || a - b)
}

/** Returns where a key leads from a link; `undefined` for other keys, and beyond either end. */
export function linkAfterKey(
  order: readonly number[],
  link: number,
  key: string,
): number | undefined {
  const at = order.indexOf(link)
  if (key === 'ArrowDown' || key === 'ArrowRight') return order[at + 1]
  if (key === 'ArrowUp' || key === 'ArrowLeft') return order[at - 1]
  if (key === 'Home') return order[0]
  return key === 'End' ? order.at(-1) : undefined
}

const OFF_PATH: LineLook = { color: 'soft', width: 1.2, dash: '4 3' }
const HARDLY: LineLook = { color: 'soft', width: 1.5 }
/** Laid below lines; how much wider than they. */
const CHOSEN: LineLook = { color: 'text', width: 7, opacity: 0.35 }
const PARTNER: LineLook = { color: 'soft', width: 7, opacity: 0.25, dash: '3 3' }

function lookOf({ share, onPath }: VarianceLink): LineLook {
  if (!onPath) return OFF_PATH
  const size = Math.min(1, Math.abs(share ?? 0))
  if (share === null || size < MIN_SHARE) return HARDLY
  const color = share < 0 ? 'after' : 'change'
  return { color, width: 1.8 + 6 * size, opacity: 0.5 + 0.5 * size }
}

const LEGEND: readonly { readonly text: string; readonly look: LineLook }[] = [
  { text: 'share of the variance', look: { color: 'change', width: 5 } },
  { text: 'evens it out', look: { color: 'after', width: 3 } },
  { text: 'hardly any', look: HARDLY },
  { text: 'off the critical path', look: OFF_PATH },
  { text: 'varies together', look: { ...PARTNER, opacity: 0.4 } },
]
