import { Comparison } from '../../compare/comparison.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { AFTER, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { tooltip } from './channels.ts'
import { PALETTE, type SpecPart } from './chart-frame.ts'

/** Something to mark on a timeline: when a finding began, or what the user knows of. */
export interface TimeMark {
  readonly label: string
  readonly said: string
  readonly kind: 'finding' | 'event'
  /** µs since 1970; since the period began, where the time of day is not known. */
  readonly atUs: number
  readonly lowUs: number
  readonly highUs: number
}

/** Labels longer than this lose their end. */
const MAX_LABEL = 40
const LINE = 11

/** Returns when an event was, in ms since 1970, and what it was; `null` unless a text says both. */
export function readEvent(text: unknown): { readonly atMs: number; readonly words: string } | null {
  const [, time = '', words = ''] = /^\s*(\S+)\s+(.*\S)\s*$/.exec(String(text)) ?? []
  const atMs = Date.parse(time)
  return Number.isNaN(atMs) ? null : { atMs, words }
}

/** Returns the onsets of a comparison's findings, except those from the start, and events. */
export function timeMarks(source: unknown, events: readonly string[]): readonly TimeMark[] {
  const findings = source instanceof Comparison ? source.findings.findings : []
  const shortened = (text: string) =>
    text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL - 1)}…` : text
  return [
    ...findings.flatMap(({ rank, title, since }): TimeMark[] => {
      if (since === null || since.fromStart) return []
      const { timeUs: atUs, lowUs, highUs } = since
      const label = shortened(`#${rank} ${title}`)
      return [{ label, said: title, kind: 'finding', atUs, lowUs, highUs }]
    }),
    ...events.flatMap((text): TimeMark[] => {
      const event = readEvent(text)
      if (event === null) return []
      const atUs = event.atMs * 1e3
      const label = shortened(event.words)
      return [{ label, said: text, kind: 'event', atUs, lowUs: atUs, highUs: atUs }]
    }),
  ]
}

/** Returns marks that lie in a part of a period, in µs since its start. */
export function marksWithin(
  marks: readonly TimeMark[],
  flows: FlowSet,
  { period, fromUs, toUs }: { period: Period; fromUs: number; toUs: number },
): readonly TimeMark[] {
  const request = period === AFTER ? flows.size - 1 : 0
  const epochUs = flows.epochsUs[flows.recordedIn[request] ?? 0] ?? 0
  return marks
    .map((mark) => ({
      ...mark,
      atUs: mark.atUs - epochUs,
      lowUs: Math.max(fromUs, mark.lowUs - epochUs),
      highUs: Math.min(toUs, mark.highUs - epochUs),
    }))
    .filter(({ atUs }) => atUs >= fromUs && atUs <= toUs)
}

/** Layers marks over a panel of a timeline: a line each, the interval as a band, labels below each other. */
export function withMarks(
  panel: SpecPart,
  marks: readonly TimeMark[],
  { x, middleUs }: { x: (field: string) => SpecPart; middleUs: number },
): SpecPart {
  if (marks.length === 0) return panel
  const { data, mark, encoding, layer = [{ data, mark, encoding }], ...frame } = panel
  const drawn = marks.map((one, i): SpecPart => {
    const color = one.kind === 'finding' ? PALETTE.change : PALETTE.text
    const isLate = one.atUs > middleUs
    return {
      data: { values: [{ ...one, said: tooltipText(one.said) }] },
      layer: [
        {
          mark: { type: 'rect', color, opacity: 0.2, aria: false },
          encoding: { x: x('lowUs'), x2: { field: 'highUs' } },
        },
        {
          mark: { type: 'rule', color, strokeDash: one.kind === 'event' ? [4, 3] : [1, 0] },
          encoding: { x: x('atUs'), tooltip: tooltip({ mark: 'said' }) },
        },
        // White around the letters, to be read over bars.
        ...[{ stroke: 'white', strokeWidth: 3 }, { color }].map((paint) => ({
          mark: {
            ...{ type: 'text', fontSize: 10, baseline: 'top', ...paint },
            ...{ align: isLate ? 'right' : 'left', dx: isLate ? -3 : 3 },
          },
          encoding: { x: x('atUs'), y: { value: 1 + i * LINE }, text: { field: 'label' } },
        })),
      ],
    }
  })
  return { ...frame, layer: [...(layer as SpecPart[]), ...drawn] }
}
