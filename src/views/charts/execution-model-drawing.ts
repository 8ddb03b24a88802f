import { shortText, tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped } from '../../core/words.ts'
import type { ExecutionModel, UnawaitedCalls } from '../../whatif/models/execution-models.ts'
import { NARROWEST_CHART } from './chart-frame.ts'
import { type CallGroup, groupedModel } from './execution-model-groups.ts'
import type { ExecutionModelTimes } from './execution-model-times.ts'
import { fittedLabel } from './fitted-label.ts'
import { flowLayout, type Point } from './flow-layout.ts'
import { textWidth } from './text-width.ts'

/** What a box stands for. */
export type ModelBoxKind = 'caller' | 'call' | 'unawaited'

/** A box in its place; pixels, y down. */
export interface ModelBox {
  readonly kind: ModelBoxKind
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly name: string
  /** Second line; empty where there is none. */
  readonly detail: string
  readonly full: string
}

/** A line from what is waited for to what waits. */
export interface ModelLine {
  readonly kind: 'waits' | 'unawaited' | 'gap'
  readonly points: readonly Point[]
  readonly text: string
  readonly textAt: Point
}

/** An execution model with everything in its place. */
export interface ExecutionModelDrawing {
  readonly width: number
  readonly height: number
  readonly boxes: readonly ModelBox[]
  readonly lines: readonly ModelLine[]
  /** Groups of calls that are drawn, and all. */
  readonly drawn: number
  readonly groups: number
  /** Kinds of calls that nobody waits for and that are not drawn. */
  readonly unawaitedLeft: number
}

export const MODEL_FONTS = { name: 12, detail: 10.5, line: 10.5 } as const
const PADDING = 16
const WIDEST = 250
const LONGEST_SERVICE = 26
const MOST_UNAWAITED = 4

interface Sketch {
  readonly kind: ModelBoxKind
  readonly name: string
  readonly detail: string
  readonly full: string
}

interface LineSketch {
  readonly kind: ModelLine['kind']
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Lays a model out, time running down: the call on top, its reply at the bottom. */
export function executionModelDrawing(
  model: ExecutionModel,
  times: ExecutionModelTimes,
  limit: number,
): ExecutionModelDrawing {
  const { groups, replyWaitsFor } = groupedModel(model)
  const kept = groups.slice(0, limit)
  const unawaited = model.asynchronous.slice(0, MOST_UNAWAITED)
  const reply = kept.length + 1
  const boxes: Sketch[] = [
    caller(model, 'is called'),
    ...kept.map((group) => callBox(model, times, group)),
    caller(model, 'replies'),
    ...unawaited.map((each) => unawaitedBox(each, model.calls)),
  ]
  const lines: LineSketch[] = kept.flatMap(({ nodes, waitsFor }, i) =>
    startsOf(waitsFor).map((from) => ({
      ...{ kind: 'waits' as const, from, to: i + 1 },
      text: waited(nodes.map((node) => times.preprocessingUs[node] as number)),
    })),
  )
  const ends = replyWaitsFor.filter((group) => group < limit)
  const replyUs = times.preprocessingUs[model.nodes.length] as number
  if (groups.length > kept.length) {
    const text = `… ${counted(groups.length - kept.length, 'more call')}`
    lines.push({ kind: 'gap', from: kept.length, to: reply, text })
  }
  for (const from of groups.length > kept.length ? ends.map((each) => each + 1) : startsOf(ends)) {
    lines.push({ kind: 'waits', from, to: reply, text: waited([replyUs]) })
  }
  unawaited.forEach((_, i) => {
    lines.push({ kind: 'unawaited', from: 0, to: reply + 1 + i, text: '' })
  })
  return {
    ...placed(boxes, lines),
    ...{ drawn: kept.length, groups: groups.length },
    unawaitedLeft: model.asynchronous.length - unawaited.length,
  }
}

/** What a group begins after: others, or the start. */
function startsOf(groups: readonly number[]): number[] {
  return groups.length === 0 ? [0] : groups.map((group) => group + 1)
}

/** The time from one end to the next start; of several calls the least and the most. */
function waited(timesUs: readonly number[]): string {
  const [low, high] = [Math.min(...timesUs), Math.max(...timesUs)].map((us) =>
    formatDuration(Math.max(0, us)),
  )
  return low === high ? `+${low}` : `+${low} to ${high}`
}

function caller({ service, operation }: ExecutionModel, does: string): Sketch {
  const full = tooltipText(`${service} ${operation}`)
  return { kind: 'caller', name: operation, detail: `${where(service)}${does}`, full }
}

function callBox(
  { nodes }: ExecutionModel,
  { latencyUs }: ExecutionModelTimes,
  group: CallGroup,
): Sketch {
  const { service, operation } = nodes[group.nodes[0] as number] as ExecutionModel['nodes'][0]
  const medians = group.nodes.map((node) => latencyUs[node] as number)
  const [low, high] = [Math.min(...medians), Math.max(...medians)].map(formatDuration)
  const took = low === high ? `takes ${low}` : `takes ${low} to ${high}`
  const size = group.nodes.length
  const times =
    size === 1
      ? ''
      : ` · ${grouped(size)} ${group.inSequence ? 'one after the other' : 'at the same time'}`
  const full = tooltipText(`${service} ${operation}`)
  return { kind: 'call', name: operation, detail: `${where(service)}${took}${times}`, full }
}

function unawaitedBox({ service, operation, calls }: UnawaitedCalls, of: number): Sketch {
  const full = tooltipText(`${service} ${operation}`)
  const each = Number((calls / of).toPrecision(2))
  const detail = `${where(service)}not waited for, ${each} a call`
  return { kind: 'unawaited', name: operation, detail, full }
}

function where(service: string): string {
  return service === '' ? '' : `${shortText(service, LONGEST_SERVICE)} · `
}

function placed(
  sketches: readonly Sketch[],
  lines: readonly LineSketch[],
): Pick<ExecutionModelDrawing, 'width' | 'height' | 'boxes' | 'lines'> {
  const named = sketches.map((sketch) => ({
    ...sketch,
    name: fittedLabel(sketch.name, WIDEST, MODEL_FONTS.name),
  }))
  const layout = flowLayout({
    nodes: named.map(({ name, detail }) => ({
      width:
        PADDING +
        Math.max(textWidth(name, MODEL_FONTS.name), textWidth(detail, MODEL_FONTS.detail)),
      height: 36,
    })),
    edges: lines.map(({ from, to, text }) => ({
      ...{ from, to, labelWidth: textWidth(text, MODEL_FONTS.line), labelHeight: 14 },
    })),
  })
  const width = Math.max(layout.width, NARROWEST_CHART)
  const shift = (width - layout.width) / 2
  return {
    ...{ width, height: layout.height },
    boxes: layout.nodes.map(({ x, y, width: wide, height }, i) => ({
      ...(named[i] as Sketch),
      ...{ x: x + shift, y, width: wide, height },
    })),
    lines: layout.edges.map(({ points, label }, i) => {
      const { kind, text } = lines[i] as LineSketch
      return {
        ...{ kind, text, textAt: { x: label.x + shift, y: label.y } },
        points: points.map(({ x, y }) => ({ x: x + shift, y })),
      }
    }),
  }
}
