import { tooltipText } from '../../../core/shown-text.ts'
import { counted, percent } from '../../../core/words.ts'
import {
  type AttentionEdge,
  type AttentionGraph,
  attentionTree,
} from '../../../logs/attention/attention.ts'
import type { Divergence, VariableDivergence } from '../../../logs/divergence/divergence.ts'
import { tText } from '../../charts/log-values.ts'
import { differenceText, nameText, scoreText } from './logs-words.ts'

interface Shown {
  readonly graph: AttentionGraph
  readonly divergence: Divergence
  readonly open: string | null
  readonly onToggle: (name: string) => void
}

/** More rows than this are only counted. */
const MOST_ROWS = 100
/** Of those that differ and that performance does not depend on. */
const MOST_OTHERS = 8

/** The variables of a graph as a list, and those that differ without being in it. */
export function LogsVariables({ graph, divergence, open, onToggle }: Shown) {
  const { parentEdge } = attentionTree(graph)
  const names = new Set(graph.nodes.map(({ name }) => name))
  const others = divergence.variables.filter(
    ({ kind, name, score, presence }) =>
      kind === graph.kind && !names.has(name) && (score > 0 || presence.onlyIn !== null),
  )
  const rows = graph.nodes.slice(0, MOST_ROWS)
  return (
    <>
      <div class="fd-scroll fd-logs-rows">
        <table aria-label="Variables of the graph">
          <thead>
            <tr>
              <th scope="col">variable</th>
              <th scope="col" title="after minus before, of this feature">
                differs
              </th>
              <th scope="col" title="the strongest way towards performance">
                leads to
              </th>
              <th scope="col" class="fd-amount">
                adds to the score
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((node) => (
              <tr key={node.name} aria-selected={node.name === open}>
                <td>
                  <NameButton {...{ name: node.name, open, onToggle }} />
                </td>
                <td>{differenceText(node)}</td>
                <td>{leadsText(node.name, graph, parentEdge.get(node.name))}</td>
                <td class="fd-amount">{node.name === graph.metric ? '' : scoreText(node.term)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {graph.nodes.length > rows.length ? (
        <p class="fd-soft">… and {counted(graph.nodes.length - rows.length, 'more variable')}.</p>
      ) : null}
      {others.length === 0 ? null : (
        <p class="fd-logs-others">
          <span class="fd-soft">
            Differ{others.length === 1 ? 's' : ''} as well, but {nameText(graph.metric)} does not
            depend on {others.length === 1 ? 'it' : 'them'} here:
          </span>{' '}
          {others.slice(0, MOST_OTHERS).map((each) => (
            <span key={each.name}>
              <NameButton {...{ name: each.name, open, onToggle }} />{' '}
              <span class="fd-soft">{whyOf(each)}</span>{' '}
            </span>
          ))}
          {others.length > MOST_OTHERS ? (
            <span class="fd-soft">and {others.length - MOST_OTHERS} more</span>
          ) : null}
        </p>
      )}
    </>
  )
}

function NameButton({
  name,
  open,
  onToggle,
}: {
  readonly name: string
  readonly open: string | null
  readonly onToggle: (name: string) => void
}) {
  return (
    <button
      {...{ type: 'button', 'aria-pressed': name === open, title: tooltipText(name) }}
      onClick={() => onToggle(name)}
    >
      {nameText(name)}
    </button>
  )
}

function leadsText(name: string, { metric }: AttentionGraph, edge: AttentionEdge | undefined) {
  if (name === metric) return 'performance'
  if (edge === undefined) return ''
  const other = edge.from === name ? edge.to : edge.from
  const order = !edge.directed
    ? ''
    : edge.from === name
      ? ', always before it'
      : ', always after it'
  return `${nameText(other)}, ${percent(edge.weight)}${order}`
}

function whyOf({ score, presence }: VariableDivergence): string {
  if (score > 0) return `(Σ|t| = ${tText(score)})`
  return `(only in ${presence.onlyIn} instances)`
}
