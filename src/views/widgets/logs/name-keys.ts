import type { JSX } from 'preact'
import { type MutableRef, useRef, useState } from 'preact/hooks'

interface Choosing {
  /** Names in the order in which arrows go through them. */
  readonly names: readonly string[]
  readonly open: string | null
  readonly wordsOf: (name: string) => string
  /** Opens a variable, or closes it. */
  readonly onToggle: (name: string) => void
}

interface ChoosableNames {
  readonly surface: MutableRef<SVGSVGElement | null>
  readonly handsOf: (name: string) => JSX.SVGAttributes<SVGGElement>
}

/**
 * Lets names of a drawing be chosen by a click, and with the keyboard: the drawing is one stop of
 * the Tab key, arrows, Home and End go from name to name, Enter and the space bar open, Escape
 * closes.
 */
export function useNameKeys({ names, open, wordsOf, onToggle }: Choosing): ChoosableNames {
  const surface = useRef<SVGSVGElement>(null)
  const [reached, setReached] = useState<string | null>(null)
  const known = (name: string | null) => (name !== null && names.includes(name) ? name : undefined)
  const stop = known(reached) ?? known(open) ?? names[0]
  const onKeyDown = (event: KeyboardEvent, name: string) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const next = placeAfterKey(names.indexOf(name), names.length, event.key)
    if (next !== undefined) focusName(surface.current, next)
    else if (event.key === 'Enter' || event.key === ' ') onToggle(name)
    else if (event.key === 'Escape' && open !== null) onToggle(open)
    else return
    event.preventDefault()
  }
  return {
    surface,
    handsOf: (name) => ({
      ...{ class: 'fd-logs-variable', role: 'button', tabindex: name === stop ? 0 : -1 },
      ...{ 'aria-pressed': name === open, 'aria-label': wordsOf(name) },
      'data-place': names.indexOf(name),
      onClick: () => onToggle(name),
      onFocus: () => setReached(name),
      onKeyDown: (event: KeyboardEvent) => onKeyDown(event, name),
    }),
  }
}

/** Where a key leads to; `undefined` for other keys, and beyond either end. */
export function placeAfterKey(place: number, count: number, key: string): number | undefined {
  const next = {
    ...{ ArrowDown: place + 1, ArrowRight: place + 1, ArrowUp: place - 1, ArrowLeft: place - 1 },
    ...{ Home: 0, End: count - 1 },
  }[key]
  return next !== undefined && next >= 0 && next < count ? next : undefined
}

function focusName(surface: SVGSVGElement | null, place: number): void {
  surface?.querySelector<SVGGElement>(`[data-place="${place}"]`)?.focus()
}
