import type { JSX } from 'preact'
import { type MutableRef, useRef, useState } from 'preact/hooks'
import { varianceShare } from '../../charts/variance-share.ts'
import type { DetailEdge, VarianceDetail } from './variance-data.ts'
import type { GraphLink } from './variance-graph.ts'

/** What makes a link answer to pointer and keyboard. */
export type LinkHands = JSX.SVGAttributes<SVGGElement>

interface Choosing {
  readonly detail: VarianceDetail
  readonly chosen: number | null
  /** Chooses an edge, or lets go of it. */
  readonly onChoose: (edge: number) => void
}

/** The links of a drawing, by their places among all of its links. */
export interface ChoosableLinks {
  readonly surface: MutableRef<SVGSVGElement | null>
  /** `undefined` for links that nothing more is known of. */
  readonly handsOf: (place: number) => LinkHands | undefined
}

/**
 * Lets links be chosen by a click, and with the keyboard: the drawing is one stop of the Tab key,
 * arrows, Home and End go from link to link, Enter and the space bar choose, Escape lets go.
 */
export function useLinkKeys({ detail, chosen, onChoose }: Choosing): ChoosableLinks {
  const surface = useRef<SVGSVGElement>(null)
  const [reached, setReached] = useState<number | null>(null)
  const { graph, edges } = detail
  const known = new Map(edges.map((edge) => [edge.edge, edge]))
  const order = linksDown(graph.links, known)
  const isChosen = (place: number) => chosen !== null && graph.links[place]?.edge === chosen
  const stop = reached ?? order.find(isChosen) ?? order[0]
  const onKeyDown = (event: KeyboardEvent, place: number, edge: number) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const next = linkAfterKey(order, place, event.key)
    if (next !== undefined) focusLink(surface.current, next)
    else if (event.key === 'Enter' || event.key === ' ') onChoose(edge)
    else if (event.key === 'Escape' && chosen !== null) onChoose(chosen)
    else return
    event.preventDefault()
  }
  return {
    surface,
    handsOf: (place) => {
      const link = graph.links[place]
      const edge = known.get(link?.edge ?? -1)
      if (link === undefined || edge === undefined) return undefined
      return {
        ...{ class: 'fd-variance-link', role: 'button', tabindex: place === stop ? 0 : -1 },
        ...{ 'aria-pressed': isChosen(place), 'aria-label': linkWords(edge) },
        ...{ 'data-edge': edge.edge, 'data-link': place },
        onClick: () => onChoose(edge.edge),
        onFocus: () => setReached(place),
        onKeyDown: (event: KeyboardEvent) => onKeyDown(event, place, edge.edge),
      }
    },
  }
}

/** The links that can be chosen, from the top down, and at one height from the left. */
export function linksDown(
  links: readonly GraphLink[],
  known: { has: (edge: number) => boolean },
): number[] {
  const at = (place: number) => (links[place] as GraphLink).label
  return [...links.keys()]
    .filter((place) => known.has(links[place]?.edge ?? -1))
    .sort((a, b) => at(a).y - at(b).y || at(a).x - at(b).x || a - b)
}

/** Where a key leads from a link; `undefined` for other keys, and beyond either end. */
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

function linkWords({ name, share }: DetailEdge): string {
  return share === null ? name : `${name}: ${varianceShare(share)} of the variance`
}

function focusLink(surface: SVGSVGElement | null, place: number): void {
  surface?.querySelector<SVGGElement>(`[data-link="${place}"]`)?.focus()
}
