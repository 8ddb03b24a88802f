import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { PALETTE } from '../charts/palette.ts'

/** The colour of change, darker: a contrast of 4.5 and more on white, raised and selected grounds. */
export const CHANGE_TEXT = '#B34C00'

/** The colours a drawing is done in: of a page, which may be dark, or of a picture on white. */
export interface Ink {
  readonly text: string
  readonly soft: string
  readonly line: string
  readonly back: string
  readonly raised: string
  readonly before: string
  readonly after: string
  readonly change: string
  /** For text, which needs more contrast than lines do. */
  readonly changeText: string
}

/** Follows the theme of the page. */
export const PAGE_INK: Ink = {
  text: 'var(--fd-text)',
  soft: 'var(--fd-soft)',
  line: 'var(--fd-line)',
  back: 'var(--fd-back)',
  raised: 'var(--fd-raised)',
  before: 'var(--fd-before)',
  after: 'var(--fd-after)',
  change: 'var(--fd-change)',
  changeText: 'var(--fd-change-ink)',
}

/** For pictures, which bring their own white background. */
export const PICTURE_INK: Ink = {
  text: PALETTE.text,
  soft: PALETTE.softText,
  line: PALETTE.faint,
  back: '#FFFFFF',
  raised: PALETTE.band,
  before: PALETTE.before,
  after: PALETTE.after,
  change: PALETTE.change,
  changeText: CHANGE_TEXT,
}

/** The ink of the drawings below; that of the page by default. */
export const InkContext = createContext<Ink>(PAGE_INK)

/** Returns the ink to draw in: of the page, or of the picture that this is part of. */
export function useInk(): Ink {
  return useContext(InkContext)
}
