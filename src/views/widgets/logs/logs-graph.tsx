import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { grouped } from '../../../core/words.ts'
import type { AttentionGraph } from '../../../logs/attention/attention.ts'
import { featureText } from '../../../logs/features/features.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { GraphDrawing, graphLayout } from './graph-drawing.tsx'
import { differenceText, graphText, nameText } from './logs-words.ts'
import { useNameKeys } from './name-keys.ts'

interface Shown {
  readonly graph: AttentionGraph
  readonly open: string | null
  readonly onToggle: (name: string) => void
}

/** A graph whose names can be opened. */
export function LogsGraph({ graph, open, onToggle }: Shown) {
  const place = useRef<HTMLDivElement>(null)
  const layout = useMemo(() => graphLayout(graph), [graph])
  const { width, height, variables } = layout
  const { surface, handsOf } = useNameKeys({
    ...{ open, onToggle, names: variables.map(({ node }) => node.name) },
    wordsOf: (name) => wordsOf(graph, name),
  })
  useLayoutEffect(() => {
    // Performance, at the right end, is what one reads first.
    if (place.current !== null) place.current.scrollLeft = place.current.scrollWidth
  }, [layout])
  const left = graph.nodes.length - variables.length
  return (
    <div class="fd-logs-graph">
      <h3>
        What {nameText(graph.metric)} depends on: {graph.kind}s by {featureText(graph.featureType)}
      </h3>
      <div ref={place} class="fd-logs-drawing">
        <svg
          ref={surface}
          {...{ width: Math.ceil(width), height: Math.ceil(height) }}
          viewBox={`0 0 ${Math.ceil(width)} ${Math.ceil(height)}`}
          role="application"
          aria-label={`${graphText(graph)} Arrow keys go from variable to variable, Enter opens one.`}
        >
          <GraphDrawing {...{ graph, layout, ink: PAGE_INK, open, handsOf }} />
        </svg>
      </div>
      <p class="fd-soft">
        {graph.nodes.length < 2
          ? 'On no other variable that was logged, at this m. '
          : 'Larger letters: differs more between before and after. Thicker lines: depends more strongly. '}
        {graph.edges.some(({ directed }) => directed) ? 'Arrows: always in this order. ' : ''}
        {graph.edges.some(({ inTree }) => !inTree)
          ? 'Faint: beside what the score is taken from. '
          : ''}
        {left > 0
          ? `${grouped(variables.length)} of ${grouped(graph.nodes.length)} variables are drawn. `
          : ''}
        {graph.variablesLeftOut !== undefined
          ? `Learned from the most telling variables: ${grouped(graph.variablesLeftOut)} more are left out (option mostVariables). `
          : ''}
        {graph.sharesDenominator
          ? 'Times are shares of the run here: what always takes equally long is a smaller share of a longer run, and seems to depend on performance.'
          : ''}
      </p>
    </div>
  )
}

function wordsOf({ nodes, metric }: AttentionGraph, name: string): string {
  const node = nodes.find((each) => each.name === name)
  const words = node === undefined ? '' : differenceText(node)
  return `${nameText(name)}${name === metric ? ', performance' : ''}: ${words}`
}
