import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { counted, grouped, shortNumber, shortText, spoken } from '../../../core/words.ts'
import type { AttentionGraph } from '../../../logs/attention/focus-attention.ts'
import { featureText } from '../../../logs/features/features.ts'
import { useMarkKeys } from '../../drawing/controls.tsx'
import {
  DependencyNetwork,
  dependencyLayout,
  dependencyTitle,
  differenceText,
  MAX_NAME_LENGTH,
  readingSentences,
} from '../../drawing/dependency-network.tsx'
import { Caption, Figure, useIsStill } from '../../drawing/figure.tsx'

const MAX_DRAWN = 16

export function nameText(name: string): string {
  return shortText(name, MAX_NAME_LENGTH)
}

export function graphText({ metric, nodes, edges, featureType, kind }: AttentionGraph): string {
  const [, ...others] = nodes
  const what = `${kind}s by ${featureText(featureType)}`
  if (others.length === 0) return `${nameText(metric)} depends on no other: ${what}.`
  const first = others.slice(0, 3).map(({ name }) => nameText(name))
  const more = others.length > first.length ? ' and others' : ''
  return (
    `${nameText(metric)} depends on ${counted(others.length, 'variable')}, first ${first.join(', ')}${more}: ` +
    `${what}, ${counted(edges.length, 'dependency', 'dependencies')}.`
  )
}

export function scoreText(score: number): string {
  return score === 0 ? '0' : shortNumber(score)
}

export interface Shown {
  readonly graph: AttentionGraph
  readonly open: string | null
  readonly onToggle: (name: string) => void
}

export function LogsGraph({ graph, open, onToggle }: Shown) {
  const isStill = useIsStill()
  const place = useRef<HTMLDivElement>(null)
  const layout = useMemo(() => dependencyLayout(graph, MAX_DRAWN), [graph])
  const names = layout.variables.map(({ node }) => node.name)
  const handsOf = useMarkKeys(names, {
    isChosen: (name) => name === open,
    onToggle,
    onLetGo: () => open !== null && onToggle(open),
  })
  const hands = (name: string) => ({
    class: 'fd-logs-variable',
    ...handsOf(name, wordsOf(graph, name)),
  })
  useLayoutEffect(() => {
    // Readers look first at performance, at the right end.
    if (place.current !== null) place.current.scrollLeft = place.current.scrollWidth
  }, [layout])
  const title = dependencyTitle(graph)
  return (
    <div class="fd-logs-graph">
      <Caption isHeading text={title} />
      <div ref={place} class="fd-logs-drawing">
        <Figure
          width={Math.ceil(layout.width)}
          height={Math.ceil(layout.height)}
          label={title}
          role="application"
          aria-label={`${graphText(graph)} Arrow keys go from variable to variable, Enter opens one.`}
        >
          <DependencyNetwork
            graph={graph}
            layout={layout}
            open={open}
            {...(!isStill && { handsOf: hands })}
          />
        </Figure>
      </div>
      <Caption text={readingText(graph, layout.variables.length)} />
    </div>
  )
}

function readingText(graph: AttentionGraph, drawn: number): string {
  const { nodes, variablesLeftOut, sharesDenominator } = graph
  return spoken([
    ...(nodes.length < 2 ? ['It depends on no other logged variable.'] : readingSentences(graph)),
    drawn < nodes.length && `${grouped(drawn)} of ${grouped(nodes.length)} variables are drawn.`,
    variablesLeftOut !== undefined &&
      `Learned from the most telling variables; ${grouped(variablesLeftOut)} more are left out (option mostVariables).`,
    sharesDenominator &&
      'Times are shares of the run: what always takes equally long is a smaller share of a longer run, and only seems to depend on performance.',
  ]).join(' ')
}

function wordsOf({ nodes, metric }: AttentionGraph, name: string): string {
  const node = nodes.find((each) => each.name === name)
  const words = node === undefined ? '' : differenceText(node)
  return `${nameText(name)}${name === metric ? ', performance' : ''}: ${words}`
}
