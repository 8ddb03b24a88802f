/** Classes of change: −3 is much less, 0 about the same, 3 much more. */
export const CHANGE_CLASSES = [-3, -2, -1, 0, 1, 2, 3] as const

/** A colour, and one for text on it. */
export interface Fill {
  readonly fill: string
  readonly text: string
}

/** Colours of the classes of change, and of frames where there is nothing to compare with. */
export interface ContextColours {
  readonly ofClass: (number: number) => Fill
  readonly plain: Fill
}

/**
 * From green over grey to purple: told apart with every kind of colour blindness (ColorBrewer's
 * PRGn), and neither of the periods' colours.
 */
const LIGHT: readonly Fill[] = [
  { fill: '#1B7837', text: '#FFFFFF' },
  { fill: '#7FBF7B', text: '#222222' },
  { fill: '#D3EBCD', text: '#222222' },
  { fill: '#EAEAEA', text: '#222222' },
  { fill: '#E4D2E8', text: '#222222' },
  { fill: '#B692C4', text: '#222222' },
  { fill: '#762A83', text: '#FFFFFF' },
]
const DARK: readonly Fill[] = [
  { fill: '#7CCB8E', text: '#111111' },
  { fill: '#3B7A4A', text: '#FFFFFF' },
  { fill: '#2C4733', text: '#E8E8E8' },
  { fill: '#3A3A3A', text: '#E8E8E8' },
  { fill: '#4A3650', text: '#E8E8E8' },
  { fill: '#7A4D8A', text: '#FFFFFF' },
  { fill: '#CF9DE0', text: '#111111' },
]
const PLAIN = { light: '#D9E7F1', dark: '#2B4356' }

/** For pictures on white. */
export const PICTURE_COLOURS: ContextColours = {
  ofClass: (number) => LIGHT[number + 3] as Fill,
  plain: { fill: PLAIN.light, text: '#222222' },
}

/** Follows the theme of the page. */
export const PAGE_COLOURS: ContextColours = {
  ofClass: (number) => ({
    fill: `var(--fd-change-${number + 3})`,
    text: `var(--fd-change-text-${number + 3})`,
  }),
  plain: { fill: 'var(--fd-frame)', text: 'var(--fd-text)' },
}

/** The variables of {@link PAGE_COLOURS}. */
export function colourVariables(theme: 'light' | 'dark'): string {
  const fills = (theme === 'light' ? LIGHT : DARK).map(
    ({ fill, text }, i) => `--fd-change-${i}:${fill};--fd-change-text-${i}:${text}`,
  )
  return [...fills, `--fd-frame:${PLAIN[theme]}`].join(';')
}

/** From what change on a frame gets which colour. */
export interface ChangeScale {
  /** Where classes 1, 2 and 3 begin, on both sides of 0; empty where nothing took any time. */
  readonly bounds: readonly [number, number, number] | readonly []
}

/** Changes below this share of a mean request are never coloured fully. */
const SMALL = 0.01
/** A scale up to less than this could not be written: amounts below 1e-6 are said to be 0. */
const SMALLEST = 1e-4

/** A scale for changes up to `largest`, in round steps; `whole` is what a mean request takes. */
export function changeScale(largest: number, whole: number): ChangeScale {
  const top = Math.max(largest, SMALL * whole)
  if (!(top >= SMALLEST)) return { bounds: [] }
  return { bounds: [roundDown(top / 50), roundDown(top / 10), roundDown(top / 2)] }
}

export function changeClass({ bounds }: ChangeScale, change: number): number {
  const steps = [...bounds].filter((bound) => Math.abs(change) >= bound).length
  return steps === 0 ? 0 : Math.sign(change) * steps
}

/** The largest of 1, 2 and 5 times a power of ten that is at most `value`. */
function roundDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [5, 2, 1].find((step) => step * power <= value * (1 + 1e-9)) ?? 1
  return Number((factor * power).toPrecision(3))
}
