import { sum } from 'd3-array'
import type { ComponentChildren, JSX, Ref } from 'preact'
import { useContext } from 'preact/hooks'
import { Text, useInk } from './ink.tsx'
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
export function PageOnly({ children }: { readonly children: ComponentChildren }) {
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
  | CellDrawing

interface CellDrawing {
  readonly width: number
  readonly drawing: ComponentChildren
}

export interface StillColumn {
  readonly title: string | CellDrawing
  /** Numbers stand at the right. */
  readonly align?: 'start' | 'end'
}

interface StillTableProps {
  readonly columns: readonly StillColumn[]
  readonly rows: readonly (readonly StillCell[])[]
  /** Rows that the still shows at most; it says how many more there are. */
  readonly max?: number
  /** Number of all rows, where `rows` has only the first. */
  readonly total?: number
  /** The table of the page. */
  readonly children?: ComponentChildren
}

const ROW = 21
const GAP = 14
/** Narrower columns say nothing. */
const MIN_COLUMN = 40

/** Shows its children in a page, and rows of text in a still. */
export function StillTable({ columns, rows, max = 12, total, children }: StillTableProps) {
  const { parts, width } = useContext(MediumContext)
  if (parts === null) return <>{children}</>
  const shown = rows.slice(0, max)
  const widths = columnWidths(columns, shown, width)
  const across = sum(widths) + GAP * (widths.length - 1)
  const more = (total ?? rows.length) - shown.length
  parts.push({
    width: across,
    height: (shown.length + 1) * ROW + (more > 0 ? ROW : 0),
    children: <TableText {...{ columns, rows: shown, widths, total: across, more }} />,
  })
  return null
}

function columnWidths(
  columns: readonly StillColumn[],
  rows: StillTableProps['rows'],
  available: number,
): number[] {
  const cells = columns.map(({ title }, column) => [title, ...rows.map((row) => row[column])])
  const widths = cells.map((column) => Math.ceil(Math.max(...column.map(cellWidth))))
  // Text gives way, the widest column first, as it can lose its middle; drawings cannot.
  const isText = cells.map((column) => !column.some(isDrawing))
  let excess = sum(widths) + GAP * (columns.length - 1) - available
  while (excess > 0) {
    const texts = widths.filter((width, column) => isText[column] && width > MIN_COLUMN)
    if (texts.length === 0) break
    const widest = Math.max(...texts)
    const next = Math.max(MIN_COLUMN, ...texts.filter((width) => width < widest))
    const column = widths.findIndex((width, i) => isText[i] && width === widest)
    const cut = Math.min(widest - next, excess)
    widths[column] = widest - cut
    excess -= cut
  }
  return widths
}

function isDrawing(cell: StillCell | undefined): cell is CellDrawing {
  return typeof cell === 'object' && 'drawing' in cell
}

function cellWidth(cell: StillCell | undefined): number {
  if (cell === undefined) return 0
  if (isDrawing(cell)) return cell.width
  return 1.08 * textWidth(typeof cell === 'string' ? cell : cell.text, TEXT_SIZE)
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
  const head = columns.map(({ title }) =>
    isDrawing(title) ? title : { text: title, isBold: true },
  )
  return (
    <g font-size={TEXT_SIZE}>
      {[head, ...rows].map((row, i) => (
        <g key={i} transform={`translate(0 ${i * ROW})`}>
          {i === 0 ? null : <line x2={total} y1="0.5" y2="0.5" stroke={ink.line} />}
          {row.map((cell, column) => (
            <Cell
              key={column}
              cell={cell}
              left={sum(widths.slice(0, column)) + GAP * column}
              width={widths[column] ?? 0}
              align={columns[column]?.align}
            />
          ))}
        </g>
      ))}
      {more > 0 ? (
        <Text color="soft" y={(rows.length + 2) * ROW - 6}>
          … and {more} more
        </Text>
      ) : null}
    </g>
  )
}

function Cell({
  cell,
  left,
  width,
  align = 'start',
}: {
  readonly cell: StillCell
  readonly left: number
  readonly width: number
  readonly align: 'start' | 'end' | undefined
}) {
  const ink = useInk()
  if (isDrawing(cell)) return <g transform={`translate(${left} 0)`}>{cell.drawing}</g>
  const {
    text,
    color = ink.text,
    isBold = false,
  } = typeof cell === 'string' ? { text: cell } : cell
  // Fitting would take leading no-break spaces away.
  const indent = /^\u00a0*/.exec(text)?.[0] ?? ''
  return (
    <text
      x={align === 'end' ? left + width : left}
      y={ROW - 6}
      text-anchor={align}
      font-weight={isBold ? 600 : 400}
      style={`fill:${color}`}
    >
      {indent}
      {fittedText(text, width - textWidth(indent, TEXT_SIZE), TEXT_SIZE)}
    </text>
  )
}
