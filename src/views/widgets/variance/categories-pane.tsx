import { useMemo, useRef, useState } from 'preact/hooks'
import { Button, StateCode, useWidth } from '../../drawing/controls.tsx'
import { Figure, StillGroup } from '../../drawing/figure.tsx'
import { useIsStill } from '../../drawing/medium.tsx'
import type { Point } from '../../drawing/path.ts'
import { CategoryFacts, CategoryLine, CategoryList } from './category-facts.tsx'
import { Curves, Marks, RegionFrame, Scatter } from './category-plots.tsx'
import {
  type Axes,
  type CategoryPoints,
  categoriesWithin,
  curvesPlot,
  FRAME_ROOM,
  keyedSpot,
  MEASURE_NAMES,
  MEASURES,
  type Measure,
  nearestSpot,
  PLOT_HEIGHT,
  type Region,
  regionBetween,
  regionCode,
  type Spot,
  scatterPlot,
} from './category-points.ts'

interface PaneProps {
  readonly data: CategoryPoints
  /** Categories of more requests than this are in the distribution. */
  readonly large: number
  /** Name of the stage in code. */
  readonly name: string
  readonly axes: Axes
  readonly onAxes: (axes: Axes) => void
}

/** Width from which both plots stand side by side. */
const MIN_WIDE = 800
const GAP = 20
const STILL_PLOT = 460

/** Shows how predictable categories are, and how they changed, in two plots of the same categories. */
export function CategoriesPane({ data, large, name, axes, onAxes }: PaneProps) {
  const [place, room] = useWidth<HTMLDivElement>(900)
  const isStill = useIsStill()
  const [seen, setSeen] = useState<number | null>(null)
  const [pinned, setPinned] = useState<number | null>(null)
  const [region, setRegion] = useState<Region | null>(null)
  const isWide = room >= MIN_WIDE
  const width = isStill ? STILL_PLOT : isWide ? Math.floor((room - GAP) / 2) : room
  const curves = useMemo(() => curvesPlot(data, large, width), [data, large, width])
  const scatter = useMemo(() => scatterPlot(data, axes, width), [data, axes, width])
  // Kept while the pointer moves: only what lies on top changes.
  const curvesDrawing = useMemo(() => <Curves plot={curves} large={large} />, [curves])
  const scatterDrawing = useMemo(
    () => <Scatter data={data} plot={scatter} axes={axes} />,
    [data, scatter, axes],
  )
  const listed = useMemo(() => region && categoriesWithin(data, region), [data, region])
  const leave = () => {
    setPinned(null)
    setRegion(null)
  }
  const answers = { width, onSee: setSeen, onPin: setPinned, onLeave: leave }
  const onCurves = usePlotPointer({ ...answers, spots: curves.spots })
  const onScatter = usePlotPointer({
    ...answers,
    spots: scatter.spots,
    onFrame: (corners) => {
      setPinned(null)
      setRegion(regionBetween(scatter, axes, corners))
    },
  })
  const figure = { width, height: PLOT_HEIGHT, role: 'application' as const, tabindex: 0 }
  const marks = { data, pinned, seen }
  return (
    <div class="fd-categories">
      <div class="fd-bar">
        {(['across', 'up'] as const).map((axis, i) => (
          <label key={axis}>
            {axis}
            <select
              value={axes[i]}
              onInput={({ currentTarget }) => {
                onAxes(axes.with(i, currentTarget.value as Measure) as unknown as Axes)
                setRegion(null)
              }}
            >
              {MEASURE_NAMES.map((choice) => (
                <option key={choice} value={choice}>
                  {MEASURES[choice].name}
                </option>
              ))}
            </select>
          </label>
        ))}
        <Button disabled={pinned === null && region === null} onClick={leave}>
          Select nothing
        </Button>
      </div>
      <StillGroup direction="row">
        <div ref={place} class="fd-plots" style={`gap:${GAP}px`}>
          <Figure
            {...figure}
            label="Distribution of C² over the categories, before and after. Arrow keys go from category to category, Enter pins one."
            class="fd-curves"
            {...onCurves}
          >
            <g font-size="11">
              {curvesDrawing}
              <Marks name="fd-curve-mark" plot={curves} {...marks} />
            </g>
          </Figure>
          <Figure
            {...figure}
            label={`Categories by ${axes.map((axis) => MEASURES[axis].name).join(' and ')}. Arrow keys go from category to category, with Shift they frame several, Enter pins one.`}
            class="fd-scatter"
            {...onScatter}
          >
            <g font-size="11">
              {scatterDrawing}
              {region === null ? null : <RegionFrame region={region} plot={scatter} />}
              <Marks name="fd-scatter-mark" plot={scatter} {...marks} />
            </g>
          </Figure>
        </div>
      </StillGroup>
      <p
        class={seen === null ? 'fd-soft fd-seen' : 'fd-seen'}
        style={`min-height:${isWide ? 1.5 : 3}em`}
        aria-live="polite"
      >
        {seen === null ? (
          `Point at a category, or go through them with the arrow keys; click or press Enter to pin it. Drag a frame around several ${isWide ? 'on the right' : 'below'} (keys: Shift and arrows).`
        ) : (
          <CategoryLine data={data} category={seen} />
        )}
      </p>
      {listed === null ? null : (
        <CategoryList data={data} categories={listed} pinned={pinned} onPin={setPinned} />
      )}
      {pinned === null ? null : <CategoryFacts data={data} category={pinned} large={large} />}
      {pinned !== null ? (
        <StateCode
          code={
            data.tests === null
              ? `${name}.category(${pinned})`
              : `${name}.responseTime.edgeTable(${pinned})`
          }
        />
      ) : region !== null ? (
        <StateCode code={regionCode(name, region)} />
      ) : null}
    </div>
  )
}

/** Answers of a plot to the pointer and to keys. */
interface PlotAnswers {
  readonly spots: readonly Spot[]
  /** Width of the drawing, which the page may show smaller. */
  readonly width: number
  readonly onSee: (category: number | null) => void
  readonly onPin: (category: number | null) => void
  /** Answers to a frame that is dragged, or made with keys from one spot to another. */
  readonly onFrame?: (corners: Parameters<typeof regionBetween>[2]) => void
  readonly onLeave: () => void
}

/** Pixels that a pointer may move in a click. */
const MAX_CLICK = 4

/** Returns handlers for an `<svg>`: hovering and arrow keys see a category, clicks and Enter pin it. */
function usePlotPointer({ spots, width, onSee, onPin, onFrame, onLeave }: PlotAnswers) {
  const pressed = useRef<{ readonly at: Point; isDrag: boolean } | null>(null)
  const reached = useRef<Spot | undefined>(undefined)
  const anchor = useRef<Spot | undefined>(undefined)
  const pointOf = (event: PointerEvent): Point => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect()
    const scale = width / box.width
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale }
  }
  const see = (spot: Spot | undefined) => {
    reached.current = spot
    onSee(spot?.category ?? null)
  }
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      pressed.current = { at: pointOf(event), isDrag: false }
      if (onFrame) (event.currentTarget as SVGSVGElement).setPointerCapture(event.pointerId)
    },
    onPointerMove: (event: PointerEvent) => {
      const [at, { current }] = [pointOf(event), pressed]
      if (current === null) return see(nearestSpot(spots, at))
      const far = Math.hypot(at.x - current.at.x, at.y - current.at.y)
      if (far > MAX_CLICK) current.isDrag = true
      if (current.isDrag) onFrame?.({ one: current.at, other: at })
    },
    onPointerUp: (event: PointerEvent) => {
      const { current } = pressed
      pressed.current = null
      if (current?.isDrag === false) onPin(nearestSpot(spots, pointOf(event))?.category ?? null)
    },
    onPointerCancel: () => {
      pressed.current = null
    },
    onPointerLeave: () => {
      if (pressed.current === null) onSee(null)
    },
    onBlur: () => {
      anchor.current = undefined
      onSee(null)
    },
    onKeyDown: (event: KeyboardEvent) => {
      const from = reached.current
      const next = keyedSpot(spots, from, event.key)
      if (event.key === 'Escape') onLeave()
      else if (event.key === 'Enter' || event.key === ' ') {
        if (from !== undefined) onPin(from.category)
      } else if (next === undefined) return
      else {
        see(next)
        anchor.current = event.shiftKey ? (anchor.current ?? from ?? next) : undefined
        const one = anchor.current
        if (one !== undefined) onFrame?.({ one, other: next, room: FRAME_ROOM })
      }
      event.preventDefault()
    },
  }
}
