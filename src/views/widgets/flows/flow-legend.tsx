import { textWidth } from '../../charts/text-width.ts'
import { type Ink, useInk } from '../../drawing/ink.ts'
import { type FlowDrawing, hasLeads } from './flow-drawing.ts'
import { CORRESPONDENCE_DASH } from './flow-graph.tsx'
import { LEAD_DASH, OUTLINE, STROKE } from './flow-lines.tsx'
import { edgeLength } from './flow-placement.ts'
import { type FlowMode, type FlowScene, isQuietInside } from './flow-scene.ts'
import { QUIET_DASH } from './flow-step.tsx'

/** Latencies whose lengths the legend shows, with what they are called. */
const LENGTHS = [
  [10, '10 µs'],
  [1_000, '1 ms'],
  [1_000_000, '1 s'],
] as const
const SYMBOL = 34
const AFTER_SYMBOL = 7
const BETWEEN = 20
const ROW = 22
const SIZE = 11.5

type Sign =
  | 'pair'
  | 'work'
  | 'before-line'
  | 'after-line'
  | 'wait'
  | 'lead'
  | 'changed'
  | 'quiet'
  | 'removed'
  | 'added'
  | 'group'
  | 'inside'
  | 'like'
  | 'time'
  | 'length'

interface Entry {
  readonly sign: Sign
  readonly text: string
  readonly width: number
  /** How long the line of a latency is. */
  readonly length?: number
}

/** What of the picture needs a word; only what there is. */
function entries({ scene: { steps, links }, mode, drawings }: LegendInput): Entry[] {
  const shared = links.filter(({ inBefore, inAfter }) => inBefore && inAfter)
  const isDiff = mode === 'diff'
  const found: [Sign, string, boolean][] = [
    ['pair', 'time before and after', isDiff && shared.length > 0],
    ['work', 'work', !isDiff],
    ['before-line', 'only before', links.some(({ inAfter }) => !inAfter)],
    ['after-line', 'only after', links.some(({ inBefore }) => !inBefore)],
    ['wait', 'waiting for another branch', links.some(({ waits }) => waits.before || waits.after)],
    ['lead', 'takes no time, only leads on to a join', drawings.some(hasLeads)],
    [
      'changed',
      'latency changed significantly',
      links.some(({ verdict }) => verdict === 'changed'),
    ],
    [
      'quiet',
      'large change, not significant; why is in its tooltip',
      links.some(({ reason }) => reason !== null) || steps.some(isQuietInside),
    ],
    ['removed', 'step only before', steps.some(({ inAfter }) => !inAfter)],
    ['added', 'step only after', steps.some(({ inBefore }) => !inBefore)],
    ['group', 'several steps drawn as one', steps.some(({ group }) => group !== null)],
    [
      'inside',
      'so many significant changes inside',
      steps.some(({ changedInside }) => changedInside > 0),
    ],
    ['like', 'the same step', mode === 'side-by-side' && shared.length > 0],
  ]
  const signs = found
    .filter(([, , isThere]) => isThere)
    .map(([sign, text]) => ({ sign, text, width: entryWidth(SYMBOL, text) }))
  const lengths = LENGTHS.map(([us, text]) => ({
    ...{ sign: 'length' as const, text, length: edgeLength(us) },
    width: entryWidth(edgeLength(us), text),
  }))
  return [...signs, { sign: 'time', text: TIME, width: textWidth(TIME, SIZE) }, ...lengths]
}

function entryWidth(symbol: number, text: string): number {
  return symbol + AFTER_SYMBOL + textWidth(text, SIZE)
}

const TIME = 'Time runs down; lengths grow slowly with time, not in proportion:'

/** What a legend is of. */
export interface LegendInput {
  readonly scene: FlowScene
  readonly mode: FlowMode
  readonly drawings: readonly FlowDrawing[]
}

export interface LegendLayout {
  readonly height: number
  readonly entries: readonly (Entry & { readonly x: number; readonly y: number })[]
}

/** The entries of the legend in rows of a width. */
export function legendLayout(input: LegendInput, width: number): LegendLayout {
  let [x, y] = [0, 0]
  const found = entries(input)
  const placed = found.map((entry, i) => {
    // The scale is not broken where it fits into one row, with what is said of it or without.
    const scale = found.slice(i).reduce((sum, { width: each }) => sum + each + BETWEEN, -BETWEEN)
    const begins = entry.sign === 'time' || found[i - 1]?.sign === 'time'
    const needed = begins && scale <= width ? scale : entry.width
    if (x > 0 && x + needed > width) [x, y] = [0, y + ROW]
    const place = { ...entry, x, y }
    x += entry.width + BETWEEN
    return place
  })
  return { height: y + ROW, entries: placed }
}

/** Explains every color and stroke that is in the picture. */
export function FlowLegend({ layout }: { readonly layout: LegendLayout }) {
  const ink = useInk()
  return (
    <g font-size={SIZE}>
      {layout.entries.map(({ sign, text, length, x, y }) => (
        <g key={`${sign} ${text}`} transform={`translate(${x} ${y + ROW / 2})`}>
          {sign === 'time' ? null : length === undefined ? (
            <LegendSign sign={sign} ink={ink} />
          ) : (
            <path d={`M0 -4V4M0 0H${length}M${length} -4V4`} stroke={ink.soft} fill="none" />
          )}
          <text
            x={sign === 'time' ? 0 : (length ?? SYMBOL) + AFTER_SYMBOL}
            y={4}
            style={`fill:${ink.text}`}
          >
            {text}
          </text>
        </g>
      ))}
    </g>
  )
}

function LegendSign({ sign, ink }: { readonly sign: Sign; readonly ink: Ink }) {
  const line = (stroke: string, width: number, more: object = {}) => (
    <path d={`M0 0H${SYMBOL}`} stroke={stroke} stroke-width={width} {...more} />
  )
  if (sign === 'pair') {
    return (
      <>
        <path d="M0 -2.1H18" stroke={ink.before} stroke-width={STROKE.half} />
        <path d={`M0 2.1H${SYMBOL}`} stroke={ink.after} stroke-width={STROKE.half} />
      </>
    )
  }
  if (sign === 'work') return line(ink.text, STROKE.work, { 'stroke-opacity': 0.75 })
  if (sign === 'before-line') return line(ink.before, STROKE.work)
  if (sign === 'after-line') return line(ink.after, STROKE.work)
  if (sign === 'wait') return line(ink.text, STROKE.wait)
  if (sign === 'lead') return line(ink.soft, STROKE.lead, { 'stroke-dasharray': LEAD_DASH })
  if (sign === 'like') return line(ink.soft, 1.1, { 'stroke-dasharray': CORRESPONDENCE_DASH })
  if (sign === 'changed' || sign === 'quiet') {
    const dash = sign === 'quiet' ? { 'stroke-dasharray': QUIET_DASH } : {}
    return (
      <>
        {line(sign === 'changed' ? ink.change : ink.soft, OUTLINE.outer, dash)}
        {line(ink.back, OUTLINE.inner)}
        {line(ink.soft, STROKE.work)}
      </>
    )
  }
  return <BoxSymbol sign={sign} ink={ink} />
}

function BoxSymbol({ sign, ink }: { readonly sign: Sign; readonly ink: Ink }) {
  const box = { x: 6, y: -7, width: 22, height: 14, rx: 3 }
  if (sign === 'inside') {
    return (
      <>
        <rect x={9} y={-8} width={16} height={16} rx={8} fill={ink.change} />
        <text x={17} y={4} text-anchor="middle" font-weight="bold" style={`fill:${ink.back}`}>
          2
        </text>
      </>
    )
  }
  if (sign === 'group') {
    return (
      <>
        <rect {...box} x={9} y={-4} fill={ink.raised} stroke={ink.soft} />
        <rect {...box} fill={ink.raised} stroke={ink.soft} stroke-width={1.2} />
      </>
    )
  }
  const color = sign === 'removed' ? ink.before : ink.after
  return (
    <>
      <rect {...box} fill={ink.back} stroke={color} stroke-width={2.6} />
      <text
        x={17}
        y={4.5}
        font-size={14}
        text-anchor="middle"
        font-weight="bold"
        style={`fill:${color}`}
      >
        {sign === 'removed' ? '−' : '+'}
      </text>
    </>
  )
}
