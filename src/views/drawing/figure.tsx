import { type ComponentChildren, createContext, type JSX, type Ref } from 'preact'
import { useContext } from 'preact/hooks'
import { textLines, textWidth } from '../charts/text-width.ts'
import { DRAWING_COLORS } from '../page/palette.ts'

export type StillPart =
  | { readonly width: number; readonly height: number; readonly children: ComponentChildren }
  | { readonly parts: readonly StillPart[]; readonly direction: 'row' | 'column' }

/** Medium of a view: a page, or a still, which is a picture without controls or scripts. */
export interface Medium {
  readonly isStill: boolean
  /** Collects the marked parts of a view; `null` in pages and within marked parts. */
  readonly parts: StillPart[] | null
  readonly width: number
}

export const STILL_WIDTH = 740

export const MediumContext = createContext<Medium>({
  isStill: false,
  parts: null,
  width: STILL_WIDTH,
})

export function useIsStill(): boolean {
  return useContext(MediumContext).isStill
}

/** Colors by name for light and dark pages; stills take the light ones. */
export interface Palette<Name extends string = string> {
  readonly light: Readonly<Record<Name, string>>
  readonly dark: Readonly<Record<Name, string>>
  /** The same names as CSS variables that follow the theme of the page. */
  readonly page: Readonly<Record<Name, string>>
}

/** Defines light and dark colors for pages and stills; CSS reaches them as `var(--fd-NAME)`. */
export function definePalette<Name extends string>(
  colors: Readonly<Record<Name, readonly [light: string, dark: string]>>,
): Palette<Name> {
  const names = Object.keys(colors) as Name[]
  const byName = (color: (name: Name) => string) =>
    Object.fromEntries(names.map((name) => [name, color(name)])) as Record<Name, string>
  return {
    light: byName((name) => colors[name][0]),
    dark: byName((name) => colors[name][1]),
    page: byName((name) => `var(${variable(name)})`),
  }
}

export function paletteVariables(colors: Readonly<Record<string, string>>): string {
  return Object.entries(colors)
    .map(([name, color]) => `${variable(name)}:${color}`)
    .join(';')
}

function variable(name: string): string {
  return `--fd-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export function useColors<Name extends string>(palette: Palette<Name>): Record<Name, string> {
  const { isStill } = useContext(MediumContext)
  return isStill ? palette.light : palette.page
}

/** Colors of all drawings; safe for color-blind readers. `changeText` has the contrast text needs. */
export const INK = definePalette(DRAWING_COLORS)

export type Ink = Readonly<Record<keyof typeof INK.light, string>>

export function useInk(): Ink {
  return useColors(INK)
}

type TextProps = Omit<JSX.SVGAttributes<SVGTextElement>, 'color'> & {
  readonly color?: keyof Ink
  readonly size?: number
  readonly anchor?: 'start' | 'middle' | 'end' | undefined
}

export function Text({ color = 'text', size, anchor, ...props }: TextProps) {
  const ink = useInk()
  return <text font-size={size} text-anchor={anchor} {...props} style={`fill:${ink[color]}`} />
}

export const FONT = 'system-ui, sans-serif'

type FigureProps = Omit<JSX.SVGAttributes<SVGSVGElement>, 'width' | 'height'> & {
  readonly width: number
  readonly height: number
  readonly label: string
  readonly svgRef?: Ref<SVGSVGElement>
  readonly children?: ComponentChildren
}

/** Marks an `<svg>` of page and still; its children see no context of the view. */
export function Figure({ width, height, label, svgRef, children, ...attributes }: FigureProps) {
  const { parts } = useContext(MediumContext)
  if (parts !== null) {
    parts.push({ width, height, children })
    return null
  }
  return (
    <svg
      ref={svgRef ?? null}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      font-family={FONT}
      font-size="12"
      {...attributes}
    >
      <title>{label}</title>
      {children}
    </svg>
  )
}

interface StillGroupProps {
  readonly direction: 'row' | 'column'
  readonly children: ComponentChildren
}

/** Places the marked parts of a still in a row or a column; changes nothing in a page. */
export function StillGroup({ direction, children }: StillGroupProps) {
  const medium = useContext(MediumContext)
  if (medium.parts === null) return <>{children}</>
  const parts: StillPart[] = []
  medium.parts.push({ parts, direction })
  return <MediumContext.Provider value={{ ...medium, parts }}>{children}</MediumContext.Provider>
}

export function PageOnly({ children }: { readonly children: ComponentChildren }) {
  const { isStill } = useContext(MediumContext)
  return isStill ? null : children
}

export const TEXT_SIZE = 12
const LINE = 17

interface CaptionProps {
  readonly text: string
  readonly color?: 'text' | 'soft' | 'before' | 'after' | 'changeText'
  readonly isHeading?: boolean
  readonly children?: ComponentChildren
}

export function Caption({ text, color = 'soft', isHeading = false, children }: CaptionProps) {
  const { parts, width } = useContext(MediumContext)
  const ink = useInk()
  if (parts !== null) {
    const size = isHeading ? 14 : TEXT_SIZE
    const lines = textLines(text, width, size)
    parts.push({
      width: Math.min(width, Math.max(...lines.map((line) => textWidth(line, size)))),
      height: lines.length * LINE,
      children: lines.map((line, i) => (
        <text
          key={i}
          y={i * LINE + TEXT_SIZE}
          font-size={size}
          font-weight={isHeading ? 600 : 400}
          style={`fill:${isHeading ? ink.text : ink[color]}`}
        >
          {line}
        </text>
      )),
    })
    return null
  }
  if (isHeading) return <h3>{text}</h3>
  return (
    <p style={`color:${ink[color]}`}>
      {text}
      {children === undefined ? null : ' '}
      {children}
    </p>
  )
}
