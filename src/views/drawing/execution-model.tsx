import { shortText, tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped, percent } from '../../core/words.ts'
import type {
  ExecutionModel,
  ExecutionModels,
  UnawaitedCalls,
} from '../../whatif/models/execution-models.ts'
import { type CallGroup, groupedModel } from './execution-model-groups.ts'
import { type ExecutionModelTimes, executionModelTimes } from './execution-model-times.ts'
import { flowLayout } from './flow-layout.ts'
import { useInk } from './ink.ts'
import { type Point, smoothPath, tenth } from './path.ts'
import type { Picture } from './picture.tsx'
import { fittedText, textWidth } from './text.ts'

interface BoxWords {
  readonly kind: 'caller' | 'call' | 'unawaited'
  readonly name: string
  /** Second line; empty where there is none. */
  readonly detail: string
  readonly tooltip: string
}

interface Box extends BoxWords, Point {
  readonly width: number
  readonly height: number
}

interface LineWords {
  readonly kind: 'waits' | 'unawaited' | 'gap'
  readonly from: number
  readonly to: number
  readonly text: string
}

/** A line from what is waited for to what waits. */
interface Line extends LineWords {
  readonly points: readonly Point[]
  readonly textAt: Point
}

/** An execution model with everything in its place. */
export interface ExecutionModelLayout {
  readonly width: number
  readonly height: number
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
  /** Groups of calls that are drawn, and all. */
  readonly drawn: number
  readonly groups: number
  /** Kinds of calls that nobody waits for and that are not drawn. */
  readonly unawaitedLeft: number
}

const FONT = { name: 12, detail: 10.5, line: 10.5 }
const PADDING = 16
const HEIGHT = 36
const MAX_LABEL_WIDTH = 250
const MAX_SERVICE_LENGTH = 26
const MAX_UNAWAITED = 4
const ARROW = 8

/**
 * Draws what an operation calls and what waits for what, time running down: the call on top, its
 * reply at the bottom.
 */
export function ExecutionModelDrawing({ layout }: { readonly layout: ExecutionModelLayout }) {
  return (
    <>
      {layout.lines.map((line) => (
        <LineDrawing key={`${line.from} ${line.to}`} line={line} />
      ))}
      {layout.boxes.map((box, i) => (
        <BoxDrawing key={i} box={box} />
      ))}
    </>
  )
}

function LineDrawing({ line: { kind, points, text, textAt } }: { readonly line: Line }) {
  const ink = useInk()
  const end = points.at(-1) ?? { x: 0, y: 0 }
  const dash = { waits: undefined, unawaited: '4 3', gap: '1.5 4' }[kind]
  const color = kind === 'unawaited' ? ink.line : ink.soft
  const way = [...points.slice(0, -1), { x: end.x, y: end.y - ARROW }]
  return (
    <g>
      <path
        d={smoothPath(way, 'y')}
        fill="none"
        stroke={color}
        stroke-width="1.5"
        {...(dash !== undefined && { 'stroke-dasharray': dash })}
      />
      <path d={`M${tenth(end.x)},${tenth(end.y)}l-4,${-ARROW}h8Z`} fill={color} />
      <text
        x={tenth(textAt.x)}
        y={tenth(textAt.y + 4)}
        font-size={FONT.line}
        style={`fill:${ink.soft}`}
      >
        {text}
      </text>
    </g>
  )
}

function BoxDrawing({ box }: { readonly box: Box }) {
  const ink = useInk()
  const { kind, x, y, width, height, name, detail, tooltip } = box
  return (
    <g text-anchor="middle">
      <title>
        {tooltip}: {detail}
      </title>
      <rect
        x={tenth(x - width / 2)}
        y={tenth(y - height / 2)}
        width={tenth(width)}
        height={height}
        rx={4}
        fill={kind === 'caller' ? ink.raised : ink.back}
        stroke={kind === 'unawaited' ? ink.line : ink.soft}
        {...(kind === 'unawaited' && { 'stroke-dasharray': '4 3' })}
      />
      <text x={tenth(x)} y={tenth(y - 3)} font-size={FONT.name} style={`fill:${ink.text}`}>
        {name}
      </text>
      <text x={tenth(x)} y={tenth(y + 12)} font-size={FONT.detail} style={`fill:${ink.soft}`}>
        {detail}
      </text>
    </g>
  )
}

/** Lays a model out, at most `limit` of its calls or groups of like ones. */
export function executionModelLayout(
  model: ExecutionModel,
  times: ExecutionModelTimes,
  limit: number,
): ExecutionModelLayout {
  const { groups, replyWaitsFor } = groupedModel(model)
  const kept = groups.slice(0, limit)
  const left = groups.length - kept.length
  const unawaited = model.asynchronous.slice(0, MAX_UNAWAITED)
  const reply = kept.length + 1
  const boxes = [
    callerWords(model, 'is called'),
    ...kept.map((group) => callWords(model, times, group)),
    callerWords(model, 'replies'),
    ...unawaited.map((each) => unawaitedWords(each, model.calls)),
  ]
  const lines: LineWords[] = kept.flatMap(({ nodes, waitsFor }, i) =>
    startsOf(waitsFor).map((from) => ({
      kind: 'waits' as const,
      from,
      to: i + 1,
      text: waitText(nodes.map((node) => times.preprocessingUs[node] ?? 0)),
    })),
  )
  if (left > 0) {
    lines.push({
      kind: 'gap',
      from: kept.length,
      to: reply,
      text: `… ${counted(left, 'more call')}`,
    })
  }
  const ends = replyWaitsFor.filter((group) => group < limit)
  const text = waitText([times.preprocessingUs[model.nodes.length] ?? 0])
  for (const from of left > 0 ? ends.map((each) => each + 1) : startsOf(ends)) {
    lines.push({ kind: 'waits', from, to: reply, text })
  }
  unawaited.forEach((_, i) => {
    lines.push({ kind: 'unawaited', from: 0, to: reply + 1 + i, text: '' })
  })
  return {
    ...placed(boxes, lines),
    drawn: kept.length,
    groups: groups.length,
    unawaitedLeft: model.asynchronous.length - unawaited.length,
  }
}

/** What a group begins after: others, or the start. */
function startsOf(groups: readonly number[]): number[] {
  return groups.length === 0 ? [0] : groups.map((group) => group + 1)
}

/** The time from one end to the next start: `+2 ms`, of several calls `+2 ms to 4 ms`. */
function waitText(timesUs: readonly number[]): string {
  return `+${rangeText(timesUs.map((us) => Math.max(0, us)))}`
}

function rangeText(timesUs: readonly number[]): string {
  const [low, high] = [Math.min(...timesUs), Math.max(...timesUs)].map(formatDuration)
  return low === high ? `${low}` : `${low} to ${high}`
}

function callerWords({ service, operation }: ExecutionModel, does: string): BoxWords {
  return {
    kind: 'caller',
    name: operation,
    detail: `${placeText(service)}${does}`,
    tooltip: tooltipText(`${service} ${operation}`),
  }
}

function callWords(
  model: ExecutionModel,
  { latencyUs }: ExecutionModelTimes,
  { nodes, inSequence }: CallGroup,
): BoxWords {
  const { service = '', operation = '' } = model.nodes[nodes[0] ?? 0] ?? {}
  const times =
    nodes.length === 1
      ? ''
      : ` · ${grouped(nodes.length)} ${inSequence ? 'one after the other' : 'at the same time'}`
  const took = rangeText(nodes.map((node) => latencyUs[node] ?? 0))
  return {
    kind: 'call',
    name: operation,
    detail: `${placeText(service)}takes ${took}${times}`,
    tooltip: tooltipText(`${service} ${operation}`),
  }
}

function unawaitedWords({ service, operation, calls }: UnawaitedCalls, of: number): BoxWords {
  const each = Number((calls / of).toPrecision(2))
  return {
    kind: 'unawaited',
    name: operation,
    detail: `${placeText(service)}not waited for, ${each} a call`,
    tooltip: tooltipText(`${service} ${operation}`),
  }
}

function placeText(service: string): string {
  return service === '' ? '' : `${shortText(service, MAX_SERVICE_LENGTH)} · `
}

function placed(
  words: readonly BoxWords[],
  lines: readonly LineWords[],
): Pick<ExecutionModelLayout, 'width' | 'height' | 'boxes' | 'lines'> {
  const boxes = words.map((box) => {
    const name = fittedText(box.name, MAX_LABEL_WIDTH, FONT.name)
    const widest = Math.max(textWidth(name, FONT.name), textWidth(box.detail, FONT.detail))
    return { ...box, name, width: PADDING + widest, height: HEIGHT }
  })
  const { width, height, nodes, edges } = flowLayout({
    nodes: boxes,
    edges: lines.map(({ from, to, text }) => ({
      from,
      to,
      labelWidth: textWidth(text, FONT.line),
      labelHeight: 14,
    })),
  })
  return {
    width,
    height,
    boxes: boxes.map((box, i) => ({ ...box, x: nodes[i]?.x ?? 0, y: nodes[i]?.y ?? 0 })),
    lines: lines.map((line, i) => {
      const { points = [], label = { x: 0, y: 0 } } = edges[i] ?? {}
      return { ...line, points, textAt: label }
    }),
  }
}

/** Returns a model as a picture with its words, of at most `limit` calls or groups of like ones. */
export function executionModelPicture(
  models: ExecutionModels,
  model: ExecutionModel,
  limit: number,
): Picture {
  const layout = executionModelLayout(model, executionModelTimes(models, model), limit)
  const { drawn, groups, unawaitedLeft } = layout
  return {
    title: `Execution model ${model.id}: ${shortText(`${model.service} ${model.operation}`, 70)}`,
    subtitle: [explainedText(models, model), readingText(model)],
    omissions: [
      ...(drawn < groups
        ? [`The first ${grouped(drawn)} of ${counted(groups, 'call')} are drawn.`]
        : []),
      ...(unawaitedLeft > 0
        ? [`${counted(unawaitedLeft, 'kind')} of calls that nobody waits for left out.`]
        : []),
    ],
    width: layout.width,
    height: layout.height,
    drawing: <ExecutionModelDrawing layout={layout} />,
  }
}

/** How many of the operation's calls the model explains. */
function explainedText({ forests }: ExecutionModels, model: ExecutionModel): string {
  const { calls, probability, ownCalls, period } = model
  const when = forests.length === 2 ? (period === 0 ? ' before' : ' after') : ''
  const own =
    ownCalls === 0
      ? ''
      : ownCalls === 1
        ? '; 1 of these breaks its order somewhere and is recomputed by its own'
        : `; ${grouped(ownCalls)} of these break its order somewhere and are recomputed by their own`
  return `Explains ${counted(calls, 'call')} to it${when}, ${percent(probability)} of all${own}.`
}

function readingText({ nodes, asynchronous }: ExecutionModel): string {
  if (nodes.length + asynchronous.length === 0) return 'It calls nothing.'
  return 'Time runs down; times are medians. Beside lines: from the end of the last call waited for to the next start. In boxes: how long the call takes.'
}
