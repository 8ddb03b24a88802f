import type { ComponentChildren } from 'preact'
import { Figure } from './figure.tsx'
import { useInk } from './ink.ts'
import { textWidth } from './text.ts'

interface LegendEntry {
  readonly name: string
  /** Drawn 24 pixels wide and 18 high; an entry without is a text alone. */
  readonly mark?: ComponentChildren
}

interface LegendProps {
  readonly entries: readonly LegendEntry[]
  readonly width: number
}

const LINE = 18
const MARK = 30
const GAP = 14
const FONT_SIZE = 11

/** Explains marks, as many on a line as fit. */
export function Legend({ entries, width }: LegendProps) {
  let [x, y] = [0, 0]
  const places = entries.map((entry) => {
    const room = (entry.mark === undefined ? 0 : MARK) + textWidth(entry.name, FONT_SIZE)
    if (x > 0 && x + room > width) [x, y] = [0, y + LINE]
    const left = x
    x += room + GAP
    return { ...entry, x: left, y }
  })
  return (
    <Figure width={width} height={y + LINE} label="Legend">
      <Entries places={places} />
    </Figure>
  )
}

type Placed = LegendEntry & { readonly x: number; readonly y: number }

function Entries({ places }: { readonly places: readonly Placed[] }) {
  const ink = useInk()
  return (
    <g font-size={FONT_SIZE}>
      {places.map(({ name, mark, x, y }) => (
        <g key={name} transform={`translate(${x} ${y})`}>
          {mark}
          <text x={mark === undefined ? 0 : MARK} y="13" style={`fill:${ink.soft}`}>
            {name}
          </text>
        </g>
      ))}
    </g>
  )
}
