import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** A part of a still, in the order of the view: a drawing, or a group of parts. */
export type StillPart =
  | { readonly width: number; readonly height: number; readonly children: ComponentChildren }
  | { readonly parts: readonly StillPart[]; readonly direction: 'row' | 'column' }

/** Where a view is drawn: in a page, or in a still, a picture without controls or scripts. */
export interface Medium {
  readonly isStill: boolean
  /** Collects the marked parts of a view; `null` in pages and within marked parts. */
  readonly parts: StillPart[] | null
  /** Width of a still, in pixels. */
  readonly width: number
}

/** Width of stills, in pixels; views have this width before they are measured. */
export const STILL_WIDTH = 740

export const MediumContext = createContext<Medium>({
  isStill: false,
  parts: null,
  width: STILL_WIDTH,
})

/** Returns whether the view is drawn as a still. */
export function useIsStill(): boolean {
  return useContext(MediumContext).isStill
}
