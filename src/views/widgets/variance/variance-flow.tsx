import { useLayoutEffect, useState } from 'preact/hooks'
import { counted } from '../../../core/words.ts'
import type { VarianceMark } from '../../../explain/variance/variance-marks.ts'
import { useWidth } from '../../drawing/axis-width.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import type { VarianceDetail } from './variance-data.ts'
import { VarianceDrawing } from './variance-drawing.tsx'
import { useLinkKeys } from './variance-link-keys.ts'

interface Shown {
  readonly name: string
  readonly detail: VarianceDetail
  readonly marks: readonly VarianceMark[]
  readonly chosen: number | null
  readonly onChoose: (edge: number) => void
}

/** Letters are read down to this much of their size. */
const READABLE = 0.75

/** The flow, in the room there is where it can be read then, or else at its own size to scroll in. */
export function VarianceFlow({ name, detail, marks, chosen, onChoose }: Shown) {
  const { graph } = detail
  const [place, room] = useWidth<HTMLDivElement>(600)
  const { surface, handsOf } = useLinkKeys({ detail, chosen, onChoose })
  const [wish, setWish] = useState<boolean | null>(null)
  const isFitted = wish ?? room >= graph.width * READABLE
  const isWider = graph.width > room
  const drawn = graph.nodes.length
  useLayoutEffect(() => {
    // The root is what one reads first.
    if (place.current !== null) {
      place.current.scrollLeft = (graph.nodes[0]?.x ?? 0) - place.current.clientWidth / 2
    }
  }, [isFitted, room])
  return (
    <div>
      <VarianceLegend />
      <div ref={place} class={`fd-variance-flow${isFitted ? '' : ' fd-variance-whole'}`}>
        <svg
          ref={surface}
          {...{ width: graph.width, viewBox: `0 0 ${graph.width} ${graph.height}` }}
          role="application"
          aria-label={`Flow of ${name}; its edges are in the table as well. Arrow keys go from edge to edge, Enter chooses one.`}
        >
          <VarianceDrawing {...{ detail, ink: PAGE_INK, marks, chosen, handsOf }} />
        </svg>
      </div>
      <p class="fd-soft">
        {drawn < graph.nodesInAll
          ? `${drawn} of ${counted(graph.nodesInAll, 'step')}: those at the largest shares. `
          : ''}
        {isWider ? (
          <button type="button" aria-pressed={isFitted} onClick={() => setWish(!isFitted)}>
            Fit to width
          </button>
        ) : null}
      </p>
    </div>
  )
}

const KEYS = [
  { words: 'share of the variance', stroke: 'var(--fd-change)', width: 5, dashes: undefined },
  { words: 'evens it out', stroke: 'var(--fd-after)', width: 3, dashes: undefined },
  { words: 'hardly any', stroke: 'var(--fd-soft)', width: 1.5, dashes: undefined },
  { words: 'off the critical path', stroke: 'var(--fd-soft)', width: 1.2, dashes: '4 3' },
  { words: 'varies together', stroke: 'var(--fd-soft)', width: 7, dashes: '3 3' },
] as const

function VarianceLegend() {
  return (
    <p class="fd-variance-legend fd-soft">
      {KEYS.map(({ words, stroke, width, dashes }) => (
        <span key={words}>
          <svg width="26" height="10" aria-hidden="true">
            <line
              {...{
                x1: 0,
                x2: 26,
                y1: 5,
                y2: 5,
                'stroke-width': width,
                'stroke-dasharray': dashes,
              }}
              style={`stroke:${stroke}`}
              stroke-opacity={words === 'varies together' ? 0.4 : 1}
            />
          </svg>{' '}
          {words}
        </span>
      ))}
    </p>
  )
}
