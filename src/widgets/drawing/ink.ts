import { PALETTE } from '../../charts/palette.ts'

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
}
