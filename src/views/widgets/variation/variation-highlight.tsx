import { shortText } from '../../../core/shown-text.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import type { CurvesPlot, VariationPlot } from './variation-layout.ts'
import { boundsBetween, type Region } from './variation-measures.ts'
import { type Axes, measured, nameOf, type VariationData } from './variation-model.ts'
import type { Spot } from './variation-picking.ts'

interface Marked {
  /** One is pinned, the other only looked at. */
  readonly pinned: number | null
  readonly seen: number | null
}

const LONGEST_NAME = 34

/** Where a category stands in the distribution: a dot on the curve of each period. */
export function CurveMarks({ plot, pinned, seen }: Marked & { readonly plot: CurvesPlot }) {
  return (
    <g pointer-events="none">
      {marked({ pinned, seen }).map(({ category, isPinned }) => {
        const found = plot.curves.map((curve, period) => {
          const point = curve.find((candidate) => candidate.category === category)
          if (point === undefined) return undefined
          const x = plot.box.left + plot.x.share(point.c2) * plot.box.width
          const y = plot.box.top + (1 - plot.y.share(point.share)) * plot.box.height
          return { x, y, colour: period === 0 ? PAGE_INK.before : PAGE_INK.after }
        })
        const [before, after] = found
        return (
          <g key={category} class="fd-curve-mark" data-category={category}>
            {before === undefined || after === undefined ? null : (
              <line
                {...{ x1: before.x, y1: before.y, x2: after.x, y2: after.y }}
                {...{ stroke: PAGE_INK.text, 'stroke-dasharray': '2 3' }}
              />
            )}
            {found.map((mark) =>
              mark === undefined ? null : (
                <circle
                  key={mark.colour}
                  {...{ cx: mark.x, cy: mark.y, r: 5.5, fill: mark.colour }}
                  {...{ stroke: PAGE_INK.text, 'stroke-width': isPinned ? 2.5 : 1.5 }}
                />
              ),
            )}
          </g>
        )
      })}
    </g>
  )
}

/** A ring around a category's dot, with its name. */
export function ScatterMarks({
  data,
  plot,
  pinned,
  seen,
}: Marked & { readonly data: VariationData; readonly plot: VariationPlot }) {
  return (
    <g pointer-events="none">
      {marked({ pinned, seen }).map(({ category, isPinned }) => {
        const { x, y } = plot.spots[category] as Spot
        const isRight = x > plot.box.left + plot.box.width / 2
        const isSaid = category === seen || seen === null
        return (
          <g key={category} class="fd-scatter-mark" data-category={category}>
            <circle
              {...{ cx: x, cy: y, r: 7.5, fill: 'none', stroke: PAGE_INK.text }}
              stroke-width={isPinned ? 2.5 : 1.5}
            />
            {isSaid ? (
              <text
                x={x + (isRight ? -12 : 12)}
                y={y + (y < plot.box.top + 30 ? 20 : -9)}
                text-anchor={isRight ? 'end' : 'start'}
                {...{ stroke: PAGE_INK.back, 'stroke-width': 4, 'paint-order': 'stroke' }}
              >
                {shortText(nameOf(data, category), LONGEST_NAME)} ({category})
              </text>
            ) : null}
          </g>
        )
      })}
    </g>
  )
}

function marked({ pinned, seen }: Marked) {
  return [
    ...(pinned === null ? [] : [{ category: pinned, isPinned: true }]),
    ...(seen === null || seen === pinned ? [] : [{ category: seen, isPinned: false }]),
  ]
}

/** The frame around a region of the scatter. */
export function RegionFrame({
  region: [across, up],
  plot: { box, x, y },
}: {
  readonly region: Region
  readonly plot: VariationPlot
}) {
  const edge = (low: number | null, share: (value: number) => number) =>
    low === null ? 0 : share(low)
  const left = box.left + edge(across.low, x.share) * box.width
  const right = box.left + x.share(across.high) * box.width
  const top = box.top + (1 - y.share(up.high)) * box.height
  const bottom = box.top + (1 - edge(up.low, y.share)) * box.height
  // Wide enough to be seen around dots that stand on its very edge.
  const room = 6
  return (
    <rect
      class="fd-region"
      {...{ x: left - room, y: top - room, rx: 3 }}
      {...{ width: right - left + 2 * room, height: bottom - top + 2 * room }}
      {...{ fill: 'var(--fd-focus)', 'fill-opacity': 0.08, stroke: 'var(--fd-focus)' }}
      pointer-events="none"
    />
  )
}

/** The region between two points of the scatter, in pixels of the drawing. */
export function regionBetween(
  { box, x, y }: VariationPlot,
  axes: Axes,
  [one, other]: readonly [Pick<Spot, 'x' | 'y'>, Pick<Spot, 'x' | 'y'>],
): Region {
  const across = (at: number) => Math.min(1, Math.max(0, (at - box.left) / box.width))
  const up = (at: number) => Math.min(1, Math.max(0, 1 - (at - box.top) / box.height))
  return [
    boundsBetween(axes[0], x, [across(one.x), across(other.x)]),
    boundsBetween(axes[1], y, [up(one.y), up(other.y)]),
  ]
}

/** The smallest region that holds two categories, rounded outwards. */
export function regionAround(
  data: VariationData,
  axes: Axes,
  categories: readonly [number, number],
): Region {
  const [across, up] = axes.map((measure) => {
    const values = categories.map((category) => measured(data, measure, category) || 0)
    const [low, high] = [Math.min(...values), Math.max(...values)]
    return { measure, low: low > 0 ? roundedTo(low, -1) : null, high: roundedTo(high, 1) }
  })
  return [across as Region[0], up as Region[1]]
}

/** The nearest number of three digits that is not above (−1) or not below (1). */
function roundedTo(value: number, direction: 1 | -1): number {
  const near = Number(value.toPrecision(3))
  if (value === 0 || direction * (near - value) >= 0) return near
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2)
  return Number((near + direction * unit).toPrecision(3))
}
