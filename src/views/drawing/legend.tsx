import type { ComponentChildren, JSX } from 'preact'
import { textWidth } from '../charts/text-width.ts'
import { Figure, type Ink, Text, useInk } from './figure.tsx'
import { type LineLook, strokeOf } from './node-link.tsx'
import { tenth } from './path.ts'

export interface LegendEntry {
  readonly text: string
  readonly look?: LineLook
  /** Draws another sign, from where it begins, around a height of 0. */
  readonly sign?: (ink: Ink) => ComponentChildren
  readonly width?: number
}

interface LegendProps {
  readonly entries: readonly LegendEntry[]
  readonly width: number
}

const TEXT_SIZE = 11
const SAMPLE = 28
const AFTER_SAMPLE = 7
const BETWEEN = 18
const ROW = 20

export function layOutLegend(entries: readonly LegendEntry[], width: number) {
  let [x, y] = [0, 0]
  const places = entries.map(({ text, width: sample = SAMPLE }) => {
    const needed = besideSample(sample) + textWidth(text, TEXT_SIZE)
    if (x > 0 && x + needed > width) [x, y] = [0, y + ROW]
    const place = { x, y }
    x += needed + BETWEEN
    return place
  })
  return { places, height: entries.length === 0 ? 0 : y + ROW }
}

function besideSample(width: number): number {
  return width === 0 ? 0 : width + AFTER_SAMPLE
}

export function LegendRows({ entries, width }: LegendProps) {
  const ink = useInk()
  const { places } = layOutLegend(entries, width)
  return (
    <g font-size={TEXT_SIZE}>
      {entries.map(({ text, look, sign, width: sample = SAMPLE }, i) => (
        <g
          key={text}
          transform={`translate(${tenth(places[i]?.x ?? 0)} ${(places[i]?.y ?? 0) + ROW / 2})`}
        >
          {look === undefined ? null : <path d={`M0 0h${sample}`} {...strokeOf(look, ink)} />}
          {sign?.(ink)}
          <Text x={besideSample(sample)} y={4}>
            {text}
          </Text>
        </g>
      ))}
    </g>
  )
}

/** Returns an entry with a mark that is drawn 24 pixels wide and 18 high. */
export function marked(text: string, mark: ComponentChildren): LegendEntry {
  return { text, width: 24, sign: () => <g transform="translate(0 -9)">{mark}</g> }
}

/** Returns an entry with a bar of its color, 24 pixels wide. */
export function swatch(text: string, bar: JSX.SVGAttributes<SVGRectElement>): LegendEntry {
  return marked(text, <rect width="24" {...bar} />)
}

export function Legend({ entries, width }: LegendProps) {
  return (
    <Figure width={width} height={layOutLegend(entries, width).height} label="Legend">
      <LegendRows entries={entries} width={width} />
    </Figure>
  )
}
