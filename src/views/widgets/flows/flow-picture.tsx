import { shortText } from '../../../core/shown-text.ts'
import { grouped } from '../../../core/words.ts'
import { textWidth } from '../../charts/text-width.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { noteSubject, shownNotes } from './flow-details.tsx'
import { type FlowDrawing, flowDrawing, layOutFlow } from './flow-drawing.ts'
import { FlowGraph } from './flow-graph.tsx'
import { FlowLegend, legendLayout } from './flow-legend.tsx'
import {
  type FlowData,
  type FlowLevel,
  type FlowScene,
  type FlowState,
  flowScene,
} from './flow-scene.ts'
import { differenceWords, periodWords } from './flow-words.ts'

const MARGIN = 14
const NARROWEST = 700
const LINE = 17
const STILL_GAP = 70
/** A picture with more boxes would be too large to read, and for a notebook to keep. */
const MOST_STEPS = 400
/** Lines to the same step are crowded when nearer than this. */
export const LEAST_APART = 84

/** The comparison in a state, without anything to open; of the animation its beginning and end. */
export function FlowPicture({ data }: { readonly data: FlowData }) {
  const ink = PICTURE_INK
  const state = data.initial
  const scene = pictureScene(data, state)
  const stills = scene === null ? [] : pictureStills(scene, data, state)
  const drawn = stills.reduce(
    (size, { width, height }) => ({
      width: size.width + (size.width > 0 ? STILL_GAP : 0) + width,
      height: Math.max(size.height, height),
    }),
    { width: 0, height: 0 },
  )
  const width = Math.max(NARROWEST, Math.ceil(drawn.width)) + 2 * MARGIN
  const room = width - 2 * MARGIN
  const lines = brokenLines(pictureLines(data, scene), room, 12)
  const top = MARGIN + 24 + lines.length * LINE + 10
  const legend =
    scene === null ? null : legendLayout({ scene, mode: state.mode, drawings: stills }, room)
  const legendTop = top + drawn.height + 22
  const notes = brokenLines(noteLines(data), room, 12)
  const notesTop = legendTop + (legend?.height ?? 0) + 8
  const height = Math.ceil(notesTop + notes.length * LINE + MARGIN)
  let x = MARGIN + Math.max(0, (room - drawn.width) / 2)
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      font-size="12"
      font-family="system-ui, sans-serif"
    >
      <title>{data.title}</title>
      <rect width={width} height={height} fill={ink.back} />
      <text x={MARGIN} y={MARGIN + 13} font-size={15} font-weight="bold" style={`fill:${ink.text}`}>
        {shortText(data.title, Math.floor(room / 9))}
      </text>
      <Lines lines={lines} y={MARGIN + 24} />
      {stills.map((drawing, i) => {
        const left = x
        x += drawing.width + STILL_GAP
        return (
          <g key={String(i)} transform={`translate(${left} ${top})`}>
            <FlowGraph
              {...{ data, drawing, ink }}
              notes={shownNotes(state.annotations, scene as FlowScene, data)}
              pinned={state.pin === null ? null : ((scene as FlowScene).stepOf[state.pin] ?? null)}
            />
          </g>
        )
      })}
      {legend === null ? null : (
        <g transform={`translate(${MARGIN} ${legendTop})`}>
          <FlowLegend layout={legend} ink={ink} />
        </g>
      )}
      <Lines lines={notes} y={notesTop} />
    </svg>
  )
}

function Lines({ lines, y }: { readonly lines: readonly string[]; readonly y: number }) {
  return (
    <>
      {lines.map((line, i) => (
        <text key={line} x={MARGIN} y={y + 13 + i * LINE} style={`fill:${PICTURE_INK.soft}`}>
          {line}
        </text>
      ))}
    </>
  )
}

/** The scene of the state, or a coarser one where that has too many boxes; `null` if all have. */
function pictureScene(data: FlowData, state: FlowState): FlowScene | null {
  const coarser: readonly FlowLevel[] = ['groups', 'components']
  const tries = [state, ...coarser.map((level) => ({ level, opened: [] }))]
  for (const each of tries) {
    const scene = flowScene(data, each)
    if (scene.steps.length <= MOST_STEPS) return scene
  }
  return null
}

function pictureStills(
  scene: FlowScene,
  data: FlowData,
  { mode, pin, at }: FlowState,
): FlowDrawing[] {
  const layouts = layOutFlow(scene, mode)
  const moments = mode === 'animation' ? [...new Set([0, at, 1])] : [at]
  return moments.map((moment) =>
    flowDrawing(layouts, data, { pin, at: moment, leastApart: LEAST_APART }),
  )
}

function pictureLines(data: FlowData, scene: FlowScene | null): string[] {
  const periods = [data.before, data.after].map(periodWords)
  return [
    `${periods.join('; ')}.`.replace(/^c/, 'C'),
    `${differenceWords(data)} ${data.confidenceText}`,
    ...(scene === null ? [`${grouped(data.nodes.length)} steps are too many for a picture.`] : []),
  ]
}

function noteLines(data: FlowData): string[] {
  return data.initial.annotations.map((note, i) => {
    const sign = note.mark === true ? ' ★' : ''
    const comment = note.comment === undefined ? '' : `: ${shortText(note.comment, 200)}`
    return `${i + 1}${sign} ${noteSubject(data, note)}${comment}`
  })
}

function brokenLines(sentences: readonly string[], room: number, size: number): string[] {
  const lines: string[] = []
  for (const sentence of sentences) {
    let line = ''
    for (const word of sentence.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`
      if (line !== '' && textWidth(longer, size) > room) {
        lines.push(line)
        line = word
      } else line = longer
    }
    lines.push(line)
  }
  return lines
}
