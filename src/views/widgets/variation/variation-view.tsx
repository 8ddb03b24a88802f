import { useMemo, useState } from 'preact/hooks'
import { useWidth } from '../../drawing/axis-width.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import { VariationCurves } from './variation-curves.tsx'
import { VariationDetails, VariationLine, VariationList } from './variation-facts.tsx'
import {
  CurveMarks,
  RegionFrame,
  regionAround,
  regionBetween,
  ScatterMarks,
} from './variation-highlight.tsx'
import { curvesPlot, scatterPlot } from './variation-layout.ts'
import {
  categoriesWithin,
  MEASURE_NAMES,
  type Region,
  variationCode,
  variationStateCode,
} from './variation-measures.ts'
import { type Axes, MEASURES, type Measure, type VariationData } from './variation-model.ts'
import { usePlotPointer } from './variation-pointer.ts'
import { VariationScatter } from './variation-scatter.tsx'

/** Room for both plots side by side. */
const WIDE = 800
const GAP = 20

/** How predictable categories are, and how they changed: two plots of the same categories. */
export function VariationView({ data }: { readonly data: VariationData }) {
  const [place, room] = useWidth<HTMLDivElement>(900)
  const [axes, setAxes] = useState<Axes>(data.axes)
  const [seen, setSeen] = useState<number | null>(null)
  const [pinned, setPinned] = useState<number | null>(null)
  const [region, setRegion] = useState<Region | null>(null)
  const width = room >= WIDE ? Math.floor((room - GAP) / 2) : room
  const curves = useMemo(() => curvesPlot(data, width), [data, width])
  const scatter = useMemo(() => scatterPlot(data, axes, width), [data, axes, width])
  // Kept while the pointer moves: only what lies on top changes.
  const curvesDrawing = useMemo(
    () => <VariationCurves {...{ plot: curves, large: data.large, ink: PAGE_INK }} />,
    [data, curves],
  )
  const scatterDrawing = useMemo(
    () => <VariationScatter {...{ data, plot: scatter, axes, ink: PAGE_INK }} />,
    [data, scatter, axes],
  )
  const listed = useMemo(
    () => (region === null ? null : categoriesWithin(data, region)),
    [data, region],
  )
  const answers = {
    ...{ width, onSee: setSeen, onPin: setPinned },
    onLeave: () => {
      setPinned(null)
      setRegion(null)
    },
  }
  const frame = (next: Region) => {
    setPinned(null)
    setRegion(next)
  }
  const onCurves = usePlotPointer({ ...answers, spots: curves.spots })
  const onScatter = usePlotPointer({
    ...{ ...answers, spots: scatter.spots },
    onFrame: (one, other) => frame(regionBetween(scatter, axes, [one, other])),
    onSpan: (one, other) => frame(regionAround(data, axes, [one, other])),
  })
  const choose = (next: Axes) => {
    setAxes(next)
    setRegion(null)
  }
  const code = variationCode(data.name, { pinned, region })
  const size = { width, height: curves.height, viewBox: `0 0 ${width} ${curves.height}` }
  return (
    <section aria-label="Variation">
      <div class="fd-bar">
        <AxisSelect name="across" measure={axes[0]} onChange={(next) => choose([next, axes[1]])} />
        <AxisSelect name="up" measure={axes[1]} onChange={(next) => choose([axes[0], next])} />
        <button
          type="button"
          disabled={pinned === null && region === null}
          onClick={answers.onLeave}
        >
          Select nothing
        </button>
      </div>
      <div ref={place} class="fd-variation" style={`gap:${GAP}px`}>
        <svg
          role="application"
          aria-label="Distribution of C² over the categories, before and after. Arrow keys go from category to category, Enter pins one."
          {...{ ...size, ...onCurves, tabindex: 0, 'font-size': '11', class: 'fd-curves' }}
        >
          {curvesDrawing}
          <CurveMarks {...{ plot: curves, pinned, seen }} />
        </svg>
        <svg
          role="application"
          aria-label={`Categories by ${MEASURE_NAMES[axes[0]]} and ${MEASURE_NAMES[axes[1]]}. Arrow keys go from category to category, with Shift they frame several, Enter pins one.`}
          {...{ ...size, ...onScatter, tabindex: 0, 'font-size': '11', class: 'fd-scatter' }}
        >
          {scatterDrawing}
          {region === null ? null : <RegionFrame {...{ region, plot: scatter }} />}
          <ScatterMarks {...{ data, plot: scatter, pinned, seen }} />
        </svg>
      </div>
      <p
        class={seen === null ? 'fd-soft' : ''}
        style={`min-height:${room < WIDE ? 3 : 1.5}em`}
        aria-live="polite"
      >
        {seen === null ? (
          `Point at a category, or go through them with the arrow keys; click or press Enter to pin it. Drag a frame around several ${room < WIDE ? 'below' : 'on the right'} (keys: Shift and arrows).`
        ) : (
          <VariationLine {...{ data, category: seen }} />
        )}
      </p>
      {listed === null ? null : (
        <VariationList {...{ data, categories: listed, pinned, onPin: setPinned }} />
      )}
      {pinned === null ? null : <VariationDetails {...{ data, category: pinned }} />}
      <StateCode code={variationStateCode(data, axes)} />
      {code === null ? null : <StateCode code={code} />}
    </section>
  )
}

function AxisSelect({
  name,
  measure,
  onChange,
}: {
  readonly name: string
  readonly measure: Measure
  readonly onChange: (measure: Measure) => void
}) {
  return (
    <label>
      {name}
      <select
        value={measure}
        onInput={({ currentTarget }) => onChange(currentTarget.value as Measure)}
      >
        {MEASURES.map((choice) => (
          <option key={choice} value={choice}>
            {MEASURE_NAMES[choice]}
          </option>
        ))}
      </select>
    </label>
  )
}
