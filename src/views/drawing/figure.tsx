import type { ComponentChildren, JSX, Ref, VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { useInk } from './ink.ts'
import { MediumContext, type StillPart } from './medium.ts'
import { fittedText, textLines, textWidth } from './text.ts'

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
 * Marks a drawing: an `<svg>` in a page, and a part of the widget's still. What stands within may
 * use hooks, but sees no context except the medium.
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

/**
 * Places the marked parts within beside each other in a still (`row`), or below one another within
 * a row (`column`); changes nothing in a page.
 */
export function StillGroup({
  direction,
  children,
}: {
  readonly direction: 'row' | 'column'
  readonly children: ComponentChildren
}) {
  const medium = useContext(MediumContext)
  if (medium.parts === null) return <>{children}</>
  const parts: StillPart[] = []
  medium.parts.push({ parts, direction })
  return <MediumContext.Provider value={{ ...medium, parts }}>{children}</MediumContext.Provider>
}

/** Leaves its content out of a still. */
export function PageOnly({ children }: { readonly children: VNode }) {
  const { isStill } = useContext(MediumContext)
  return isStill ? null : children
}

const TEXT_SIZE = 12
const LINE = 17

interface CaptionProps {
  /** What page and still both say. */
  readonly text: string
  /** Color of the words, by name. */
  readonly color?: 'text' | 'soft' | 'before' | 'after' | 'changeText'
  readonly isHeading?: boolean
  /** Hints that only the page gives, after the text. */
  readonly children?: ComponentChildren
}

/** Writes a paragraph, or a heading, that a still repeats. */
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

/** A cell of a still's table: text, or a drawing of its own that is at most a row high. */
export type StillCell =
  | string
  | { readonly text: string; readonly color?: string; readonly isBold?: boolean }
  | { readonly width: number; readonly drawing: ComponentChildren }

export interface StillColumn {
  readonly title: string
  /** Numbers stand at the right. */
  readonly align?: 'start' | 'end'
}

interface StillTableProps {
  readonly columns: readonly StillColumn[]
  readonly rows: readonly (readonly StillCell[])[]
  /** Rows that the still shows at most; it says how many more there are. */
  readonly max?: number
  /** The table of the page. */
  readonly children?: ComponentChildren
}

const ROW = 21
const GAP = 14

/** Shows its children in a page, and rows of text in a still. */
export function StillTable({ columns, rows, max = 12, children }: StillTableProps) {
  const { parts, width } = useContext(MediumContext)
  if (parts === null) return <>{children}</>
  const shown = rows.slice(0, max)
  const widths = columnWidths(columns, shown, width)
  const total = widths.reduce((sum, each) => sum + each + GAP, -GAP)
  const more = rows.length - shown.length
  parts.push({
    width: total,
    height: (shown.length + 1) * ROW + (more > 0 ? ROW : 0),
    children: <TableText {...{ columns, rows: shown, widths, total, more }} />,
  })
  return null
}

function columnWidths(
  columns: readonly StillColumn[],
  rows: StillTableProps['rows'],
  available: number,
): number[] {
  const natural = columns.map(({ title }, column) =>
    Math.ceil(
      Math.max(textWidth(title, TEXT_SIZE) * 1.1, ...rows.map((row) => cellWidth(row[column]))),
    ),
  )
  const room = available - GAP * (columns.length - 1)
  // The widest columns give way, as their texts can lose their middle.
  for (let excess = sum(natural) - room; excess > 0; ) {
    const widest = Math.max(...natural)
    const second = Math.max(40, ...natural.filter((width) => width < widest))
    const wide = natural.filter((width) => width === widest).length
    const cut = Math.min(widest - second || excess, Math.ceil(excess / wide))
    if (cut <= 0) break
    natural.forEach((width, column) => {
      if (width === widest) natural[column] = width - cut
    })
    excess = sum(natural) - room
  }
  return natural
}

function cellWidth(cell: StillCell | undefined): number {
  if (cell === undefined) return 0
  if (typeof cell !== 'string' && 'drawing' in cell) return cell.width
  return textWidth(typeof cell === 'string' ? cell : cell.text, TEXT_SIZE)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function TableText({
  columns,
  rows,
  widths,
  total,
  more,
}: Pick<StillTableProps, 'columns' | 'rows'> & {
  readonly widths: readonly number[]
  readonly total: number
  readonly more: number
}) {
  const ink = useInk()
  const lefts = widths.map((_, column) => sum(widths.slice(0, column)) + GAP * column)
  const place = (column: number) =>
    columns[column]?.align === 'end'
      ? { x: (lefts[column] ?? 0) + (widths[column] ?? 0), 'text-anchor': 'end' as const }
      : { x: lefts[column] ?? 0 }
  return (
    <g font-size={TEXT_SIZE}>
      {columns.map(({ title }, column) => (
        <text
          key={title}
          {...place(column)}
          y={ROW - 7}
          font-weight="600"
          style={`fill:${ink.text}`}
        >
          {title}
        </text>
      ))}
      {rows.map((row, i) => (
        <g key={i} transform={`translate(0 ${(i + 1) * ROW})`}>
          <line x2={total} y1="0.5" y2="0.5" stroke={ink.line} />
          {row.map((cell, column) => {
            if (typeof cell !== 'string' && 'drawing' in cell) {
              return (
                <g key={column} transform={`translate(${lefts[column]} 0)`}>
                  {cell.drawing}
                </g>
              )
            }
            const {
              text,
              color = ink.text,
              isBold = false,
            } = typeof cell === 'string' ? { text: cell } : cell
            return (
              <text
                key={column}
                {...place(column)}
                y={ROW - 6}
                font-weight={isBold ? 600 : 400}
                style={`fill:${color}`}
              >
                {fittedText(text, widths[column] ?? 0, TEXT_SIZE)}
              </text>
            )
          })}
        </g>
      ))}
      {more > 0 ? (
        <text y={(rows.length + 2) * ROW - 6} style={`fill:${ink.soft}`}>
          … and {more} more
        </text>
      ) : null}
    </g>
  )
}
