import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped } from '../../../core/words.ts'
import type { ParameterQuestionName } from '../../../explain/parameters/explained-path.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import { restoreExplanation } from '../../../explain/parameters/explanation-rows.ts'
import { pathSentence } from '../../../explain/parameters/explanation-words.ts'
import type { ParameterQuestion } from '../../../explain/parameters/parameter-question.ts'
import { answerTo, groupsOf, QUESTION_WORDS } from '../../charts/parameter-groups.ts'
import { treeHidden, treeRows } from '../../charts/parameter-tree-rows.ts'
import { useWidth } from '../../drawing/axis-width.ts'
import { Choice } from '../../drawing/choice.tsx'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import type { ExplanationData } from './explanation-data.ts'
import {
  type ExplanationState,
  type ExplanationStep,
  stepsCode,
  withoutLastStep,
  withStep,
} from './explanation-steps.ts'
import { groupInk } from './group-ink.ts'
import { GroupLegend } from './group-legend.tsx'
import { ParameterList } from './parameter-list.tsx'
import { LeftOut, TakenOut } from './taken-out.tsx'
import { TREE_ROW, TreeDrawing } from './tree-drawing.tsx'

const LEGEND = 24
const NODES = 40
const WIDEST = 820

/** Takes parameters out of an explanation and puts them back; trees are grown again each time. */
export function ExplanationView({ data }: { readonly data: ExplanationData }) {
  const start = useMemo<ExplanationState>(
    () => ({ explanation: restoreExplanation(data.rows), steps: [] }),
    [data],
  )
  const [state, setState] = useState(start)
  const [chosen, setChosen] = useState<ParameterQuestionName>(
    data.question ?? answerTo(start.explanation).question,
  )
  const { explanation, steps } = state
  const place = useFocusKept(explanation)
  const question = answerTo(explanation, chosen)
  const groups = useMemo(() => groupsOf(explanation, question), [explanation, question])
  const colours = groupInk(question.question, PAGE_INK)
  const take = (verb: ExplanationStep['verb']) => (column: string) =>
    setState(withStep(state, { verb, column }))
  const carried = chosen === 'what-differs' ? data.rows.differs : data.rows.slow
  const { title, time, rows } = explanation.subject
  return (
    <section ref={place} aria-label="Explanation" class="fd-explanation">
      <h3>{tooltipText(title)}</h3>
      <div class="fd-bar">
        <Choice
          name="question"
          help="Which groups are told apart"
          value={chosen}
          values={questionsOf(explanation)}
          onChoose={setChosen}
        />
        <button
          type="button"
          disabled={steps.length === 0}
          onClick={() => setState(withoutLastStep(state))}
        >
          Undo
        </button>
        <button type="button" disabled={steps.length === 0} onClick={() => setState(start)}>
          Start over
        </button>
      </div>
      {question.slowAboveUs === null ? null : (
        <p class="fd-soft">
          Slow {rows}s: {tooltipText(time)} above {formatDuration(question.slowAboveUs)}.
        </p>
      )}
      <Tree {...{ explanation, question, groups, colours }} onTakeOut={take('without')} />
      <Sentences explanation={explanation} question={question} />
      <TakenOut columns={explanation.excluded} onPutBack={take('including')} />
      <h3>Each parameter by itself, the most different first</h3>
      <ParameterList
        key={chosen}
        {...{ explanation, question, groups, colours, traces: carried?.traces ?? null }}
        onTakeOut={take('without')}
      />
      <LeftOut data={data} />
      <StateCode code={stepsCode(data.name, steps)} />
    </section>
  )
}

/** What was clicked goes away with its parameter: the keyboard goes on at the next split. */
function useFocusKept(explanation: Explanation) {
  const place = useRef<HTMLElement | null>(null)
  const shown = useRef(explanation)
  useLayoutEffect(() => {
    if (shown.current === explanation) return
    shown.current = explanation
    const section = place.current
    if (section === null || section.contains(document.activeElement)) return
    const next = section.querySelector<HTMLElement>('.fd-split, .fd-bar button:not(:disabled)')
    next?.focus({ preventScroll: true })
  }, [explanation])
  return place
}

/** In one order, whichever separates better: buttons do not change places under the pointer. */
function questionsOf(explanation: Explanation): Record<ParameterQuestionName, string> {
  const asked = (['what-differs', 'what-is-slow'] as const).filter(
    (name) => explanation.question(name) !== undefined,
  )
  return Object.fromEntries(asked.map((name) => [name, QUESTION_WORDS[name]])) as Record<
    ParameterQuestionName,
    string
  >
}

function Tree({
  explanation,
  question,
  groups,
  colours,
  onTakeOut,
}: {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ReturnType<typeof groupsOf>
  readonly colours: readonly [string, string]
  readonly onTakeOut: (column: string) => void
}) {
  const [place, room] = useWidth<HTMLDivElement>(WIDEST)
  const width = Math.min(WIDEST, room)
  const rows = useMemo(() => treeRows(question, { limit: NODES }), [question])
  const { subject, questions } = explanation
  const hidden = treeHidden(rows)
  const height = LEGEND + rows.length * TREE_ROW
  const equalTo = (column: string) => [
    ...new Set(questions.flatMap(({ table }) => table.equalTo(column))),
  ]
  return (
    <div ref={place} class="fd-tree">
      {/* biome-ignore lint/a11y/useSemanticElements: no element of HTML groups parts of an SVG */}
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label={`Tree: ${QUESTION_WORDS[question.question]}`}
      >
        <GroupLegend names={groups.names} colours={colours} ink={PAGE_INK} />
        <g transform={`translate(0 ${LEGEND})`}>
          <TreeDrawing
            {...{ rows, groups, subject, colours, ink: PAGE_INK, width, onTakeOut, equalTo }}
          />
        </g>
      </svg>
      {hidden === 0 ? null : (
        <p class="fd-soft">{counted(hidden, 'node')} further down are not drawn.</p>
      )}
    </div>
  )
}

const SENTENCES = 4

/** The ways through the tree as sentences, the best first. */
function Sentences({
  explanation: { subject },
  question,
}: {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
}) {
  const [isAll, setAll] = useState(false)
  const { paths } = question
  if (paths.length === 0) return <p>No parameter tells them apart.</p>
  const shown = isAll ? paths : paths.slice(0, SENTENCES)
  return (
    <div>
      <ol class="fd-said" aria-label="Explanations">
        {shown.map((path, i) => (
          <li key={i}>{pathSentence(path, subject)}</li>
        ))}
      </ol>
      {paths.length > shown.length ? (
        <button type="button" onClick={() => setAll(true)}>
          {grouped(paths.length - shown.length)} more
        </button>
      ) : null}
    </div>
  )
}
