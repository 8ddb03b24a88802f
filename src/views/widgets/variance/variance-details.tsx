import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { counted, formatDuration, percent, pValue, shortText } from '../../../core/words.ts'
import {
  type EdgeEnds,
  markOf,
  markVariance,
  type VarianceKind,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import { squaredDuration, varianceShare } from '../../charts/flow-order.ts'
import { Button, Choice, useMarkKeys, useWidth } from '../../drawing/controls.tsx'
import { CellBar, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { Caption, Figure } from '../../drawing/figure.tsx'
import type { FlowLayout } from '../../drawing/flow-layout.ts'
import { Legend } from '../../drawing/legend.tsx'
import { type GraphLine, type LineLook, layOutGraph, NodeLink } from '../../drawing/node-link.tsx'
import type { DetailEdge, SpreadRow, VarianceDetail, VarianceLink } from './variance-data.ts'

/** Widest drawing that has the edges next to it; wider ones have them below. */
const MAX_BESIDE = 460
const BAR = 44

interface DetailsProps {
  readonly row: SpreadRow
  readonly detail: VarianceDetail
  readonly marks: readonly VarianceMark[]
  readonly onMark: (marks: readonly VarianceMark[]) => void
  readonly chosen: number | null
  readonly onChoose: (edge: number | null) => void
}

export function VarianceDetails({ row, detail, marks, onMark, chosen, onChoose }: DetailsProps) {
  const { graph, edges, note } = detail
  const layout = useMemo(() => layOutGraph(graph.nodes, graph.links, { notes: true }), [graph])
  const edge = edges.find((each) => each.edge === chosen)
  const onPath = useMemo(() => new Set(edges.map((each) => each.edge)), [edges])
  // A second click lets go.
  const toggle = (next: number) => onChoose(next === chosen ? null : next)
  const name = `${shortText(row.root, 100)} (category ${row.category})`
  return (
    <div class="fd-variance-open">
      <Caption isHeading text={`Where the variance of ${name} comes from, ${row.period}`} />
      <Caption text={note} />
      <div class={`fd-variance-sides${layout.width > MAX_BESIDE ? ' fd-variance-wide' : ''}`}>
        <VarianceFlow name={name} {...{ detail, layout, marks, chosen, onChoose: toggle }} />
        <div>
          <Edges {...{ detail, marks, chosen, onChoose: toggle }} />
          {edge === undefined ? (
            <p class="fd-soft">
              Choose an edge, here or in the flow, to see which edges vary with it and to mark why
              it varies.
            </p>
          ) : (
            <EdgePanel key={edge.edge} {...{ edge, marks, onMark, onChoose, onPath }} />
          )}
        </div>
      </div>
    </div>
  )
}

interface FlowProps extends EdgesProps {
  readonly name: string
  readonly layout: FlowLayout
}

const READABLE = 0.75
/** Shares below this are drawn like none. */
const MIN_SHARE = 0.005

/**
 * Draws the flow, an edge the redder and thicker the more variance is its own. Edges are chosen by
 * click and keyboard: one stop of the Tab key, arrows, Home and End go on, Escape lets go.
 */
function VarianceFlow({ name, detail, layout, marks, chosen, onChoose }: FlowProps) {
  const { graph, edges } = detail
  const [width, height] = [Math.ceil(layout.width), Math.ceil(layout.height)]
  const [place, room] = useWidth<HTMLDivElement>(600)
  const [wish, setWish] = useState<boolean | null>(null)
  const isFitted = wish ?? room >= width * READABLE
  const known = useMemo(() => new Map(edges.map((edge) => [edge.edge, edge])), [edges])
  const edgeOf = (link: number) => known.get(graph.links[link]?.edge ?? -1)
  const order = useMemo(() => linksDown(graph.links, layout, known), [graph, layout, known])
  const isChosen = (link: number) => chosen !== null && graph.links[link]?.edge === chosen
  useLayoutEffect(() => {
    // Readers look first at the root.
    if (place.current !== null) {
      place.current.scrollLeft = (layout.nodes[0]?.x ?? 0) - place.current.clientWidth / 2
    }
  }, [isFitted, room])
  const handsOf = useMarkKeys(order, {
    isChosen,
    onToggle: (link) => onChoose(edgeOf(link)?.edge ?? -1),
    onLetGo: () => chosen !== null && onChoose(chosen),
  })
  const handsOfLink = (link: number) => {
    const edge = edgeOf(link)
    if (edge === undefined) return undefined
    const share = Number.isNaN(edge.share) ? '' : `: ${varianceShare(edge.share)} of the variance`
    const hands = handsOf(link, edge.name + share)
    return { class: 'fd-variance-link', 'data-edge': edge.edge, ...hands }
  }
  const partners = new Set(known.get(chosen ?? -1)?.covarying?.map(({ edge }) => edge))
  const lines = graph.links.map((link, number): GraphLine => {
    const edge = edgeOf(number)
    const note = edge && markOf(marks, edge)?.kind
    const halo = isChosen(number) ? CHOSEN : partners.has(link.edge ?? -1) ? PARTNER : undefined
    const look = lookOf(link)
    return {
      ...link,
      look,
      ...(note && { note }),
      ...(halo && { halo: { ...halo, width: look.width + halo.width } }),
    }
  })
  return (
    <div>
      <Legend entries={LEGEND} width={room} />
      <div ref={place} class={`fd-variance-flow${isFitted ? '' : ' fd-variance-whole'}`}>
        <Figure
          width={width}
          height={height}
          label={`Flow of ${name}; its edges are in the table as well. Arrow keys go from edge to edge, Enter chooses one.`}
          role="application"
        >
          <NodeLink boxes={graph.nodes} lines={lines} layout={layout} lineHands={handsOfLink} />
        </Figure>
      </div>
      <p class="fd-soft">
        {graph.nodes.length < graph.nodesInAll
          ? `${graph.nodes.length} of ${counted(graph.nodesInAll, 'step')}: those at the largest shares. `
          : ''}
        {width > room ? (
          <Button aria-pressed={isFitted} onClick={() => setWish(!isFitted)}>
            Fit to width
          </Button>
        ) : null}
      </p>
    </div>
  )
}

/** Returns the links that can be chosen, from the top down, and at one height from the left. */
export function linksDown(
  links: readonly Pick<VarianceLink, 'edge'>[],
  { edges }: Pick<FlowLayout, 'edges'>,
  known: { has: (edge: number) => boolean },
): number[] {
  const at = (link: number) => edges[link]?.label ?? { x: 0, y: 0 }
  return [...links.keys()]
    .filter((link) => known.has(links[link]?.edge ?? -1))
    .sort((a, b) => at(a).y - at(b).y || at(a).x - at(b).x || a - b)
}

const OFF_PATH: LineLook = { color: 'soft', width: 1.2, dash: '4 3' }
const HARDLY: LineLook = { color: 'soft', width: 1.5 }
/** Laid below lines; how much wider than they. */
const CHOSEN: LineLook = { color: 'text', width: 7, opacity: 0.35 }
const PARTNER: LineLook = { color: 'soft', width: 7, opacity: 0.25, dash: '3 3' }

function lookOf({ share, onPath }: VarianceLink): LineLook {
  if (!onPath) return OFF_PATH
  const size = Math.min(1, Math.abs(share ?? 0))
  if (share === null || size < MIN_SHARE) return HARDLY
  const color = share < 0 ? 'after' : 'change'
  return { color, width: 1.8 + 6 * size, opacity: 0.5 + 0.5 * size }
}

const LEGEND: readonly { readonly text: string; readonly look: LineLook }[] = [
  { text: 'share of the variance', look: { color: 'change', width: 5 } },
  { text: 'evens it out', look: { color: 'after', width: 3 } },
  { text: 'hardly any', look: HARDLY },
  { text: 'off the critical path', look: OFF_PATH },
  { text: 'varies together', look: { ...PARTNER, opacity: 0.4 } },
]

interface EdgesProps extends Pick<DetailsProps, 'detail' | 'marks' | 'chosen'> {
  readonly onChoose: (edge: number) => void
}

function Edges({ detail: { edges, more }, marks, chosen, onChoose }: EdgesProps) {
  const share = (each: DetailEdge) =>
    Number.isNaN(each.share) ? 'none' : varianceShare(each.share)
  return (
    <>
      <DataTable<DetailEdge>
        class="fd-variance-edges"
        rows={edges}
        rowProps={(each) => ({ 'aria-selected': each.edge === chosen })}
        columns={[
          {
            title: 'edge on the critical path',
            still: ({ name }) => name,
            cell: (each) => {
              const kind = markOf(marks, each)?.kind
              return (
                <>
                  <Button
                    aria-pressed={each.edge === chosen}
                    title={each.from === '' ? each.name : `${each.from} → ${each.to}`}
                    onClick={() => onChoose(each.edge)}
                  >
                    {each.name}
                  </Button>
                  {kind === undefined ? null : <i class="fd-soft"> {kind}</i>}
                </>
              )
            },
          },
          {
            title: 'share',
            isNumber: true,
            still: share,
            cell: (each) => (
              <div class="fd-with-bar">
                <span>{share(each)}</span>
                <CellBar
                  share={Math.min(1, Math.abs(each.share || 0))}
                  width={BAR}
                  color={`var(--fd-${each.share < 0 ? 'after' : 'change'})`}
                />
              </div>
            ),
          },
          numberColumn('variance', ({ varianceUs2 }) => squaredDuration(varianceUs2)),
          numberColumn('latency', ({ meanUs }) => formatDuration(meanUs)),
          numberColumn('on path', (each) => percent(each.onCriticalPath)),
        ]}
      />
      {more === 0 ? null : (
        <p class="fd-soft">… and {counted(more, 'more edge')} with smaller shares.</p>
      )}
    </>
  )
}

/** The three I's, and none. */
const KINDS: Readonly<Record<VarianceKind | 'none', string>> = {
  none: 'no mark',
  intentional: 'intentional',
  inadvertent: 'inadvertent',
  intrinsic: 'intrinsic',
}
const MARK_HELP =
  'Why it varies: a deliberate tradeoff, an accident to fix, or a property of the hardware or the architecture'

interface PanelProps extends Pick<DetailsProps, 'marks' | 'onMark'> {
  readonly edge: DetailEdge
  readonly onChoose: (edge: number) => void
  readonly onPath: ReadonlySet<number>
}

function EdgePanel({ edge, marks, onMark, onChoose, onPath }: PanelProps) {
  const kind = markOf(marks, edge)?.kind ?? 'none'
  return (
    <div class="fd-variance-edge" aria-live="polite">
      <h3>{edge.name}</h3>
      {edge.from === '' ? (
        <p class="fd-soft">Its labels are too long to be marked here; use markVariance.</p>
      ) : (
        <Choice
          name="It varies because it is"
          help={MARK_HELP}
          value={kind}
          values={KINDS}
          onChoose={(next) => onMark(withMark(marks, edge, next === 'none' ? null : next))}
        />
      )}
      <p>{covaryingSentence(edge)}</p>
      {edge.covarying === null || edge.covarying.length === 0 ? null : (
        <DataTable<NonNullable<DetailEdge['covarying']>[number]>
          rows={edge.covarying}
          columns={[
            textColumn('varies together with', (other) =>
              onPath.has(other.edge) ? (
                <Button onClick={() => onChoose(other.edge)}>{other.name}</Button>
              ) : (
                `${other.name} (off the critical path)`
              ),
            ),
            numberColumn('correlation', ({ correlation }) =>
              correlation.toFixed(2).replace('-', '−'),
            ),
            numberColumn('covariance', ({ covarianceUs2 }) => squaredDuration(covarianceUs2)),
            numberColumn('chance', ({ q }) => pValue(q, 'q')),
          ]}
        />
      )}
      {edge.moreCovarying === 0 ? null : (
        <p class="fd-soft">
          … and {counted(edge.moreCovarying, 'more edge')}, less strongly: all are in the code
          below.
        </p>
      )}
    </div>
  )
}

function covaryingSentence({ covarying, tested, requests }: DetailEdge): string {
  if (covarying === null) return 'The code below lists the edges that vary with it.'
  if (tested === 0) {
    return `Too little data to test which edges vary with it: ${counted(requests, 'request')}, or no edge that varies.`
  }
  const others = counted(tested, 'other edge')
  return covarying.length === 0
    ? `None of ${others} varies significantly with it (q ≥ 0.05).`
    : `These of ${others} vary with it (t-test of the correlation, q < 0.05), the strongest first:`
}

export function withMark(
  marks: readonly VarianceMark[],
  { from, to }: EdgeEnds,
  kind: VarianceKind | null,
): readonly VarianceMark[] {
  const before = markOf(marks, { from, to })
  if (kind === null) return marks.filter((mark) => mark !== before)
  return markVariance(marks, { from, to, ...before, kind })
}
