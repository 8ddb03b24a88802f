import { tooltipText } from '../../core/shown-text.ts'
import { percent } from '../../core/words.ts'
import type { Parameter } from '../../explain/parameters/left-out.ts'
import type { ParameterDifference } from '../../explain/parameters/parameter-differences.ts'
import type { ParameterQuestion } from '../../explain/parameters/parameter-question.ts'
import { fittedLabel } from './fitted-label.ts'
import { effectTexts } from './parameter-comparison.ts'
import type { ParameterGroups } from './parameter-groups.ts'
import {
  numberText,
  type ParameterShares,
  parameterShares,
  type SharePair,
} from './parameter-shares.ts'
import type { PixelSize, PixelText } from './pixel-layers.ts'

/** A share of one group as a rectangle. */
export interface ShareBar {
  readonly x: number
  readonly x2: number
  readonly y: number
  readonly y2: number
  readonly group: 0 | 1
  readonly parameter: string
  readonly value: string
  readonly share: string
}

/** Distributions of parameters below each other, everything in its place. */
export interface DifferenceDrawing extends PixelSize {
  readonly bars: readonly ShareBar[]
  readonly lines: readonly { readonly x: number; readonly x2: number; readonly y: number }[]
  readonly names: readonly PixelText[]
  /** Values, to the left of their bars. */
  readonly labels: readonly PixelText[]
  /** Shares, to the right of their bars, and ends of axes. */
  readonly notes: readonly PixelText[]
  readonly effects: readonly PixelText[]
}

/** Where the columns of the drawing begin, and where they end. */
const COLUMN = { name: 0, plot: 335, plotEnd: 515, notes: 520, effect: 620, end: 700 }
const NAME_WIDTH = 215
const LABEL_WIDTH = 105
const BAR = 6
const LINE = 18
const HALF = 22
const PADDING = 16

type Part = Omit<DifferenceDrawing, keyof PixelSize>

/** Lays out the distributions of parameters, one block each, in the order given. */
export function differenceDrawing(
  { table }: ParameterQuestion,
  {
    differences,
    groups,
  }: { readonly differences: readonly ParameterDifference[]; readonly groups: ParameterGroups },
): DifferenceDrawing {
  const parts: Part[] = []
  let top = 4
  for (const difference of differences) {
    const parameter = table.parameters.find(({ name }) => name === difference.column)
    if (parameter === undefined) continue
    const shares = parameterShares(parameter, groups.labels)
    const name = tooltipText(parameter.name)
    const height =
      shares.kind === 'values' ? Math.max(2, shares.values.length) * LINE : 2 * HALF + 14
    parts.push(
      shares.kind === 'values' ? valueBars(shares, name, top) : histogramBars(shares, name, top),
      words(parameter, difference, top, height),
    )
    top += height + PADDING
  }
  const all = <Key extends keyof Part>(key: Key) => parts.flatMap((part) => part[key] as never[])
  return {
    ...{ width: COLUMN.end, height: Math.max(20, top) },
    ...{ bars: all('bars'), lines: all('lines'), names: all('names') },
    ...{ labels: all('labels'), notes: all('notes'), effects: all('effects') },
  }
}

const NOTHING: Part = { bars: [], lines: [], names: [], labels: [], notes: [], effects: [] }

/** The name of a parameter on two lines, place and attribute, and how much it differs. */
function words(
  { name, source }: Parameter,
  difference: ParameterDifference,
  top: number,
  height: number,
): Part {
  const { effect, q } = effectTexts(difference)
  const whole = tooltipText(name)
  const place = name.slice(0, name.length - source.attribute.length).replace(/ · $/, '')
  const lines = [source.attribute, place].filter((line) => line !== '')
  return {
    ...NOTHING,
    names: lines.map((line, i) => ({
      ...{ x: COLUMN.name, y: top + LINE / 2 + 16 * i, whole },
      text: fittedLabel(line, NAME_WIDTH, 12),
    })),
    effects: [
      `effect ${effect}`,
      q.startsWith('<') || q.startsWith('>') ? `q ${q}` : `q = ${q}`,
    ].map((text, i) => ({
      ...{ x: COLUMN.effect, y: top + LINE / 2 + 16 * i, text },
    })),
    lines: [{ x: COLUMN.name, x2: COLUMN.end, y: top + height + PADDING / 2 }],
  }
}

function valueBars(
  { values }: Extract<ParameterShares, { kind: 'values' }>,
  parameter: string,
  top: number,
): Part {
  const length = COLUMN.plotEnd - COLUMN.plot
  const middle = (i: number) => top + LINE * i + LINE / 2
  return {
    ...NOTHING,
    bars: values.flatMap(({ label, shares }, i) =>
      shares.map((share, group) => ({
        ...{ x: COLUMN.plot, x2: COLUMN.plot + Math.max(share > 0 ? 1 : 0, share * length) },
        ...{ y: middle(i) + (group === 0 ? -BAR : 0), y2: middle(i) + (group === 0 ? 0 : BAR) },
        ...{ group: group as 0 | 1, parameter, value: tooltipText(label), share: percent(share) },
      })),
    ),
    labels: values.map(({ label }, i) => ({
      ...{ x: COLUMN.plot - 6, y: middle(i), whole: tooltipText(label) },
      text: fittedLabel(label, LABEL_WIDTH, 10),
    })),
    notes: values.map(({ shares }, i) => ({
      ...{ x: COLUMN.notes, y: middle(i), text: sharesText(shares) },
    })),
  }
}

function histogramBars(
  { bins, isClipped, missing }: Extract<ParameterShares, { kind: 'histogram' }>,
  parameter: string,
  top: number,
): Part {
  const width = (COLUMN.plotEnd - COLUMN.plot) / bins.length
  const most = Math.max(...bins.flatMap(({ shares }) => shares))
  const middle = top + HALF
  const [first, last] = [bins[0], bins.at(-1)]
  const low = `${isClipped[0] ? '≤ ' : ''}${numberText(first?.from ?? 0)}`
  const high = `${isClipped[1] ? '≥ ' : ''}${numberText(last?.to ?? 0)}`
  const bottom = top + 2 * HALF + 8
  return {
    ...NOTHING,
    bars: bins.flatMap(({ from, to, shares }, i) =>
      shares.flatMap((share, group) => {
        if (share === 0) return []
        const length = Math.max(1, (share / most) * HALF)
        const x = COLUMN.plot + i * width
        return [
          {
            ...{ x: x + 0.5, x2: x + width - 0.5, group: group as 0 | 1, parameter },
            ...{
              y: group === 0 ? middle - length : middle,
              y2: group === 0 ? middle : middle + length,
            },
            ...{ value: `${numberText(from)} to ${numberText(to)}`, share: percent(share) },
          },
        ]
      }),
    ),
    lines: [{ x: COLUMN.plot, x2: COLUMN.plotEnd, y: middle }],
    labels: [{ x: COLUMN.plotEnd, y: bottom, text: high }],
    notes: [
      { x: COLUMN.plot, y: bottom, text: low },
      ...(missing.some((share) => share > 0)
        ? [{ x: COLUMN.notes, y: bottom, text: `missing ${sharesText(missing)}` }]
        : []),
    ],
  }
}

/** `12 % | 40 %`: of the first group and of the second. */
export function sharesText([zero, one]: SharePair): string {
  return `${percent(zero)} | ${percent(one)}`
}
