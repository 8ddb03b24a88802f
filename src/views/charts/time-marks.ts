import { max, min } from 'd3-array'
import { allEvents, seenEvents } from '../../compare/onset/events.ts'
import { Comparison } from '../../comparison/comparison.ts'
import { formatDuration, tooltipText } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { tooltip } from './builders.ts'
import { PALETTE, type SpecPart } from './chart-frame.ts'
import { textWidth } from './text-width.ts'

export interface TimeMark {
  readonly label: string
  readonly said: string
  readonly kind: 'finding' | 'given' | 'seen'
  /** µs since 1970; since the period began, where the time of day is not known. */
  readonly atUs: number
  readonly lowUs: number
  readonly highUs: number
}

export const MARKS_MEANING =
  'Marked: when findings began, with the 95 % interval; dashed, other events; dotted, versions and hosts that come or go.'

const MAX_LABEL = 40
/** Versions and hosts that come or go, at most: the first. */
const MAX_SEEN = 8
const FONT_SIZE = 10
const LINE = FONT_SIZE + 1
const GAP = 3

export function timeMarks(
  given: FlowSet | Comparison,
  events: readonly string[] = [],
): readonly TimeMark[] {
  const isWhole = given instanceof Comparison
  const findings = isWhole ? given.findings.findings : []
  const flows = isWhole ? given.flows : given
  const seen = isWhole ? given.seen : seenEvents(flows)
  const all = isWhole ? [...given.options.events, ...events] : events
  const shortened = (text: string) =>
    text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL - 1)}…` : text
  return [
    ...findings.flatMap(({ rank, title, since }): TimeMark[] => {
      if (since === null || since.fromStart) return []
      const { timeUs: atUs, lowUs, highUs } = since
      const label = shortened(`#${rank} ${title}`)
      return [{ label, said: title, kind: 'finding', atUs, lowUs, highUs }]
    }),
    ...allEvents(flows, { events: all, seen: seen.slice(0, MAX_SEEN) }).map(
      ({ words, atUs, source }): TimeMark => {
        const kind = source === 'given' ? source : 'seen'
        return { label: shortened(words), said: words, kind, atUs, lowUs: atUs, highUs: atUs }
      },
    ),
  ]
}

/** Marks in µs since a period began; those between the periods stand where after begins. */
export function marksOfPeriod(
  marks: readonly TimeMark[],
  flows: FlowSet,
  period: Period,
): readonly TimeMark[] {
  const { size, epochsUs, recordedIn } = flows
  const epochUs = epochsUs[recordedIn[period === AFTER ? size - 1 : 0] ?? 0] ?? 0
  const arrivals = Array.from({ length: size }, (_, request) => flows.arrivalUs(request))
  const endUs = max(arrivals.slice(0, flows.count(BEFORE))) ?? 0
  const startUs = min(arrivals.slice(flows.count(BEFORE))) ?? 0
  return marks.map(({ atUs, lowUs, highUs, ...mark }) => {
    const isBetween = period === AFTER && atUs > endUs && atUs < startUs
    const inPeriod = (timeUs: number) => (isBetween ? startUs : timeUs) - epochUs
    const said = `${mark.said}, ${formatDuration(startUs - atUs)} before this period`
    return {
      ...mark,
      ...(isBetween && { label: `‹ ${mark.label}`, said }),
      atUs: inPeriod(atUs),
      lowUs: inPeriod(lowUs),
      highUs: inPeriod(highUs),
    }
  })
}

export function placedMarks(
  marks: readonly TimeMark[],
  { fromUs, toUs, width, height }: Readonly<Record<'fromUs' | 'toUs' | 'width' | 'height', number>>,
) {
  const lines = Array.from({ length: Math.floor(height / LINE) }, (): [number, number][] => [])
  const inside = marks.filter(({ atUs }) => atUs >= fromUs && atUs <= toUs)
  return inside.map((mark) => {
    const atX = ((mark.atUs - fromUs) / (toUs - fromUs)) * width
    const wide = textWidth(mark.label, FONT_SIZE) + 2 * GAP
    const isLeft = atX + wide > width && atX >= wide
    const [from, to] = isLeft ? [atX - wide, atX] : [atX, atX + wide]
    const line = lines.findIndex((taken) => taken.every(([start, end]) => end < from || start > to))
    lines[line]?.push([from, to])
    const [lowUs, highUs] = [Math.max(fromUs, mark.lowUs), Math.min(toUs, mark.highUs)]
    return { ...mark, lowUs, highUs, isLeft, labelY: line < 0 ? null : 1 + line * LINE }
  })
}

export const MARK_DASHES = { finding: [1, 0], given: [4, 3], seen: [1, 3] } as const

export function withMarks(
  panel: SpecPart,
  marks: ReturnType<typeof placedMarks>,
  x: (field: string) => SpecPart,
): SpecPart {
  if (marks.length === 0) return panel
  const { mark, encoding, layer = [{ mark, encoding }], ...frame } = panel
  const drawn = marks.map(({ kind, isLeft, labelY, ...one }): SpecPart => {
    const color = kind === 'finding' ? PALETTE.change : PALETTE.text
    // White around the letters, to be read over bars.
    const ink = kind === 'finding' ? PALETTE.changeText : PALETTE.text
    const paints = labelY === null ? [] : [{ stroke: 'white', strokeWidth: 3 }, { color: ink }]
    return {
      data: { values: [{ ...one, said: tooltipText(one.said) }] },
      layer: [
        {
          mark: { type: 'rect', color, opacity: 0.2, aria: false },
          encoding: { x: x('lowUs'), x2: { field: 'highUs' } },
        },
        {
          mark: { type: 'rule', color, strokeDash: MARK_DASHES[kind] },
          encoding: { x: x('atUs'), tooltip: tooltip({ mark: 'said' }) },
        },
        ...paints.map((paint) => ({
          mark: {
            type: 'text',
            fontSize: FONT_SIZE,
            baseline: 'top',
            ...paint,
            align: isLeft ? 'right' : 'left',
            dx: isLeft ? -GAP : GAP,
          },
          encoding: { x: x('atUs'), y: { value: labelY }, text: { field: 'label' } },
        })),
      ],
    }
  })
  return { ...frame, layer: [...(layer as SpecPart[]), ...drawn] }
}
