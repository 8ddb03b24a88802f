import type { ComponentChildren, JSX, Ref } from 'preact'
import { useContext } from 'preact/hooks'
import { MediumContext, type StillPart, useInk } from './medium.tsx'
import { textLines, textWidth } from './text.ts'

export const FONT = 'system-ui, sans-serif'

type FigureProps = Omit<JSX.SVGAttributes<SVGSVGElement>, 'width' | 'height'> & {
  readonly width: number
  readonly height: number
  /** What it shows, for readers who cannot see it. */
  readonly label: string
  readonly svgRef?: Ref<SVGSVGElement>
  readonly children?: ComponentChildren
}

/**
 * Marks an `<svg>` of page and still; its children may use hooks, but see no context of the view.
 */
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

/** Leaves its content out of a still. */
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
  if (isHeading) {
    return (
      <h3>
        {text}
        {children}
      </h3>
    )
  }
  return (
    <p style={`color:${ink[color]}`}>
      {text}
      {children === undefined ? null : ' '}
      {children}
    </p>
  )
}
