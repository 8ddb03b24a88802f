import { sort } from 'd3-array'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { textLiteral } from '../../../core/code-literals.ts'
import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { OptionError } from '../../../core/errors.ts'
import { defineOptions, number, type OptionsOf, optionalWord } from '../../../core/options.ts'
import { counted, formatDuration, grouped, shortText, tooltipText } from '../../../core/words.ts'
import { Explanation, pathSentence } from '../../../explain/parameters/explanation.ts'
import type {
  ParameterQuestion,
  ParameterQuestionName,
} from '../../../explain/parameters/parameter-question.ts'
import {
  type Parameter,
  type ParameterDifference,
  ParameterTable,
} from '../../../explain/parameters/parameter-table.ts'
import type { FlowSet } from '../../../flows/flow-set.ts'
import type { ClassificationNode, RegressionNode } from '../../../stats/decision-tree/tree.ts'
import { LEFT_OUT_WORDS } from '../../../traces/attribute-names.ts'
import {
  answerTo,
  differencesOf,
  effectTexts,
  groupsOf,
  type ParameterGroups,
  parameterChart,
  QUESTION_WORDS,
} from '../../charts/parameter-differences.ts'
import { Button, Choice, StateCode } from '../../drawing/controls.tsx'
import { DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { Caption, PageOnly, useIsStill } from '../../drawing/figure.tsx'
import { ParameterTree, treeHidden, treeRows } from '../../drawing/parameter-tree.tsx'
import { defineWidget, STAGE_NAME, type ViewProps } from '../define-widget.ts'
import { VegaChart } from '../vega-chart.tsx'

export type ExplanationData = ReturnType<typeof explanationData>

const MAX_LEFT_OUT = 300

/** Returns an explanation in about `characters` of JSON: trace names go first, then what differs least. */
export function explanationData(explanation: Explanation, characters: number) {
  const { subject, excluded, growth, questions } = explanation
  const order = importance(explanation)
  const limit = characters / Math.max(1, questions.length)
  const carry = (name: ParameterQuestionName) => {
    const asked = explanation.question(name)
    return asked === undefined ? null : carriedTable(asked, excluded, { order, limit })
  }
  const leftOut = explanation.leftOut.filter(({ reason }) => reason !== 'excluded')
  return {
    carried: encodeColumns({
      subject,
      differs: carry('what-differs'),
      slow: carry('what-is-slow'),
      slowAboveUs: explanation.question('what-is-slow')?.slowAboveUs ?? 0,
      excluded,
      growth,
    }),
    leftOut: leftOut.slice(0, MAX_LEFT_OUT),
    leftOutCount: leftOut.length,
  }
}

/** Names of parameters: those of the trees, those taken out, then the most different first. */
function importance(explanation: Explanation): string[] {
  const { questions, excluded } = explanation
  const differing = questions.flatMap((question) => differencesOf(explanation, question))
  const byEffect = sort(differing, ({ effect }) => -effect).map(({ column }) => column)
  return [...questions.flatMap(({ tree }) => columnsOf(tree.root)), ...excluded, ...byEffect]
}

function columnsOf(node: ClassificationNode | RegressionNode): string[] {
  return node.kind === 'leaf' ? [] : [node.column, ...node.children.flatMap(columnsOf)]
}

function carriedTable(
  { table }: ParameterQuestion,
  excluded: readonly string[],
  { order, limit }: { order: readonly string[]; limit: number },
) {
  const include = [...table.parameters.map(({ name }) => name), ...excluded]
  const all = table.choose({ include, exclude: [] }).parameters
  const place = new Map(order.toReversed().map((name, i) => [name, order.length - i]))
  const { labels, timeUs, weights = null } = table.rows
  let size = sizeOf({ labels, timeUs, weights })
  const kept = new Set<Parameter>()
  for (const parameter of sort(all, ({ name }) => place.get(name) ?? order.length + 1)) {
    size += sizeOf(parameter)
    // The first is shown whatever its size.
    if (size <= limit || kept.size === 0) kept.add(parameter)
  }
  const traces = table.table().array('trace') as string[]
  return {
    // In the order of the table: of equally good parameters, trees take the first.
    parameters: all.filter((parameter) => kept.has(parameter)),
    labels,
    timeUs,
    weights,
    traces: size + sizeOf(traces) <= limit ? traces : null,
    dropped: all.length - kept.size,
  }
}

function sizeOf(value: unknown): number {
  return JSON.stringify(encodeColumns(value)).length
}

/** Returns the explanation that `explanationData` was made from: trees are grown by the same code. */
export function restoreExplanation({ carried }: ExplanationData) {
  const { subject, differs, slow, slowAboveUs, excluded, growth } = decodeColumns(carried)
  const names = [differs, slow].flatMap((table) => table?.parameters.map(({ name }) => name) ?? [])
  // Parameters here were in use or can be put back, so none is left out again because its name looks like an id.
  const include = [...new Set(names)].filter((name) => !excluded.includes(name))
  const choice = { include, exclude: excluded }
  const restore = (table: ReturnType<typeof carriedTable> | null) => {
    if (table === null) return null
    const { parameters, labels, timeUs, weights, traces } = table
    const requests = Uint32Array.from(labels.keys())
    const startUs = new Float64Array(labels.length)
    // Neither are periods; what changed with them alone is left out already.
    const unknown = { requests, startUs, periods: labels }
    const rows = { ...unknown, labels, timeUs, weights: weights ?? undefined }
    // The requests themselves are not carried: a table asks for nothing but their traces.
    const ids = traces ?? Array.from(labels, () => '')
    return new ParameterTable({ ids } as unknown as FlowSet, { all: parameters, rows }, choice)
  }
  return {
    explanation: new Explanation(subject, {
      tables: { differs: restore(differs), slow: restore(slow), slowAboveUs },
      choice,
      growth,
    }),
    dropped: Math.max(differs?.dropped ?? 0, slow?.dropped ?? 0),
  }
}

export interface Shown {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ParameterGroups
  readonly onTakeOut: (column: string) => void
}

const MIN_LISTED = 10
const MAX_VALUES = 12

function ParameterList({ explanation, question, groups, onTakeOut }: Shown) {
  const { root } = question.tree
  const [picked, setPicked] = useState<string | null | undefined>(undefined)
  const rows = useMemo(() => {
    const known = new Set(question.table.parameters.map(({ name }) => name))
    return differencesOf(explanation, question).filter(({ column }) => known.has(column))
  }, [explanation, question])
  const first = root.kind === 'split' ? root.column : null
  const open = picked === undefined ? first : picked
  const isOpen = ({ column }: ParameterDifference) => column === open
  if (rows.length === 0) return <p class="fd-soft">There is no parameter left to compare.</p>
  return (
    <PageOnly>
      <DataTable<ParameterDifference>
        label="Parameters"
        class="fd-parameters"
        rows={rows}
        rowKey={({ column }) => column}
        few={Math.max(MIN_LISTED, rows.findIndex(isOpen) + 1)}
        rowProps={(row) => ({ 'aria-selected': isOpen(row) })}
        opened={(row) =>
          isOpen(row) ? (
            <div class="fd-details">
              <div class="fd-bar">
                <Button onClick={() => onTakeOut(row.column)}>Take out</Button>
              </div>
              <VegaChart spec={parameterChart(question, groups, row, MAX_VALUES).spec} />
            </div>
          ) : null
        }
        columns={[
          textColumn('parameter', (row) => (
            <Button
              class="fd-parameter"
              aria-expanded={isOpen(row)}
              title={tooltipText(row.column)}
              onClick={() => setPicked(isOpen(row) ? null : row.column)}
            >
              {isOpen(row) ? '▾' : '▸'} {shortText(row.column, 70)}
            </Button>
          )),
          numberColumn('effect', (row) => effectTexts(row).effect, {
            hint: '0: same distribution, 1: no overlap',
          }),
          numberColumn('q', (row) => effectTexts(row).q, {
            hint: 'The p-value, corrected for the number of parameters',
          }),
        ]}
      />
    </PageOnly>
  )
}

const MAX_NODES = 40
const MAX_STILL_NODES = 20

export const EXPLANATION_STYLE = `
.fd-tree td:first-child { min-width: 200px; }
.fd-tree button { white-space: normal; overflow-wrap: anywhere; text-align: left; padding: 1px 6px; }
.fd-said { margin: 4px 0 8px; padding-left: 22px; max-width: 76em; }
.fd-said li { margin: 2px 0; overflow-wrap: anywhere; }
.fd-explanation > h3, .fd-explanation > div > h3 { margin-top: 12px; }
.fd-explanation > h3:first-child { margin-top: 0; }
.fd-parameters > table { width: 100%; }
.fd-taken { list-style: none; margin: 2px 0 6px; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 8px; }
.fd-taken button { max-width: 100%; overflow-wrap: anywhere; text-align: left; }
td button.fd-parameter { white-space: normal; overflow-wrap: anywhere; text-align: left; background: none; border-color: transparent; padding: 2px 4px; }
td button.fd-parameter:hover { border-color: var(--fd-line); }
.fd-left-out { margin-top: 8px; }
.fd-left-out ul { margin: 4px 0; padding-left: 22px; max-height: 180px; overflow: auto; }
`

interface ExplanationStep {
  readonly verb: 'without' | 'including'
  readonly column: string
}

export function stepsCode(name: string, steps: readonly ExplanationStep[]): string {
  return name + steps.map(({ verb, column }) => `.${verb}(${textLiteral(column)})`).join('')
}

type ExplanationOptions = Pick<OptionsOf<typeof EXPLANATION_WIDGET_OPTIONS>, 'question'>

export function ExplanationView(props: ViewProps<ExplanationData, ExplanationOptions>) {
  const { data, options, call } = props
  const restored = useMemo(() => restoreExplanation(data), [data])
  const start = { explanation: restored.explanation, steps: [] as readonly ExplanationStep[] }
  const [{ explanation, steps }, setState] = useState(start)
  const [chosen, setChosen] = useState<ParameterQuestionName>(
    options.question ?? answerTo(restored.explanation).question,
  )
  const place = useFocusKept(explanation)
  const question = answerTo(explanation, chosen)
  const groups = useMemo(() => groupsOf(explanation, question), [explanation, question])
  const limit = useIsStill() ? MAX_STILL_NODES : MAX_NODES
  const tree = useMemo(() => treeRows(question, { limit }), [question, limit])
  const hidden = treeHidden(tree)
  const take = (verb: ExplanationStep['verb']) => (column: string) =>
    setState({ explanation: explanation[verb](column), steps: [...steps, { verb, column }] })
  const shown = { explanation, question, groups, onTakeOut: take('without') }
  const { title, time, rows } = explanation.subject
  return (
    <section ref={place} aria-label="Explanation" class="fd-explanation">
      <Caption isHeading text={`${QUESTION_WORDS[chosen]} ${tooltipText(title)}`} />
      <div class="fd-bar">
        <Choice
          name="question"
          help="Groups to separate"
          value={chosen}
          values={questionsOf(explanation)}
          onChoose={setChosen}
        />
        <Button
          disabled={steps.length === 0}
          onClick={() => setState({ explanation: explanation.undo(), steps: steps.slice(0, -1) })}
        >
          Undo
        </Button>
        <Button disabled={steps.length === 0} onClick={() => setState(start)}>
          Start over
        </Button>
      </div>
      {question.slowAboveUs !== null && (
        <Caption
          text={`Slow ${rows}s: ${tooltipText(time)} above ${formatDuration(question.slowAboveUs)}.`}
        />
      )}
      <ParameterTree {...shown} rows={tree} />
      {hidden > 0 && <Caption text={`${counted(hidden, 'node')} further down are not drawn.`} />}
      <Sentences {...shown} />
      {explanation.excluded.length > 0 && (
        <div>
          <h3>Taken out</h3>
          <ul class="fd-taken" aria-label="Taken out">
            {explanation.excluded.map((column) => {
              const help = `Put back ${tooltipText(column)}`
              return (
                <li key={column}>
                  <Button aria-label={help} title={help} onClick={() => take('including')(column)}>
                    {shortText(column, 60)} ↩
                  </Button>
                </li>
              )
            })}
          </ul>
        </div>
      )}
      <h3>Each parameter by itself, the most different first</h3>
      <ParameterList key={chosen} {...shown} />
      <LeftOut data={data} dropped={restored.dropped} name={call.name} />
      <StateCode code={stepsCode(call.name, steps)} />
    </section>
  )
}

/** Moves the keyboard focus to the next split when the clicked element disappears with its parameter. */
function useFocusKept(explanation: Explanation) {
  const place = useRef<HTMLElement | null>(null)
  const shown = useRef(explanation)
  useLayoutEffect(() => {
    if (shown.current === explanation) return
    shown.current = explanation
    const section = place.current
    if (section === null) return
    const { activeElement } = section.getRootNode() as Document | ShadowRoot
    if (section.contains(activeElement)) return
    const next = section.querySelector<HTMLElement>('.fd-split, .fd-bar button:not(:disabled)')
    next?.focus({ preventScroll: true })
  }, [explanation])
  return place
}

/** Returns the questions in a fixed order, whichever separates better: buttons do not move under the pointer. */
function questionsOf(explanation: Explanation): typeof QUESTION_WORDS {
  const all = Object.entries(QUESTION_WORDS) as [ParameterQuestionName, string][]
  const asked = all.filter(([name]) => explanation.question(name) !== undefined)
  return Object.fromEntries(asked) as typeof QUESTION_WORDS
}

const SENTENCES = 4

function Sentences({ explanation: { subject }, question, groups }: Shown) {
  const isStill = useIsStill()
  const [isAll, setAll] = useState(false)
  const { paths } = question
  const shown = paths.slice(0, isAll ? paths.length : SENTENCES)
  const [one, other] = groups.names
  if (paths.length === 0) {
    return <Caption text={`No parameter tells ${one} and ${other} apart.`} color="text" />
  }
  if (isStill) {
    const texts = shown.map((path, i) => `${i + 1}. ${shortText(pathSentence(path, subject), 700)}`)
    return texts.map((text) => <Caption key={text} text={text} />)
  }
  return (
    <div>
      <ol class="fd-said" aria-label="Explanations">
        {shown.map((path, i) => (
          <li key={i}>{pathSentence(path, subject)}</li>
        ))}
      </ol>
      {paths.length > shown.length ? (
        <Button onClick={() => setAll(true)}>{grouped(paths.length - shown.length)} more</Button>
      ) : null}
    </div>
  )
}

/** Parameters that never took part, and those that the page had no room for. */
function LeftOut(props: { data: ExplanationData; dropped: number; name: string }) {
  const { dropped, name } = props
  const { leftOut, leftOutCount } = props.data
  return (
    <>
      {dropped > 0 && (
        <p role="note">
          This page had no room for {counted(dropped, 'parameter')} that differ least: trees grow
          without them, and may differ from those of <code>{name}</code>.
        </p>
      )}
      {leftOutCount > 0 && (
        <details class="fd-left-out">
          <summary>
            {counted(leftOutCount, 'parameter does', 'parameters do')} not take part
          </summary>
          <ul>
            {leftOut.map(({ column, reason }) => (
              <li key={column}>
                <span title={tooltipText(column)}>{shortText(column, 70)}</span>{' '}
                <span class="fd-soft">{LEFT_OUT_WORDS[reason]}</span>
              </li>
            ))}
          </ul>
          {leftOutCount > leftOut.length ? (
            <p class="fd-soft">
              … and {grouped(leftOutCount - leftOut.length)} more: {name}.leftOutTable()
            </p>
          ) : null}
        </details>
      )}
    </>
  )
}

const EXPLANATION_WIDGET_OPTIONS = defineOptions({
  question: optionalWord(
    ['what-differs', 'what-is-slow'],
    'Question that stands first; null for the one whose parameters separate better',
  ),
  characters: number({
    default: 3_000_000,
    min: 1000,
    unit: 'characters',
    sentence:
      'Data that the page may carry, before compression. Of more, trace ids go first, then the parameters that differ least',
  }),
  name: STAGE_NAME,
})

/**
 * Why requests changed: the tree of parameters, its paths as sentences, and each parameter. Taking
 * a parameter out grows the tree again in the page. Source: Sambasivan 2013, §2.6.6.
 */
export const explanationWidget = defineWidget({
  name: 'explanation',
  title: 'Explanation',
  description: (carried: ExplanationData) => {
    const { subject, paths } = restoreExplanation(carried).explanation
    return (
      `${tooltipText(subject.title)}: ${counted(paths.length, 'explanation')} by low-level parameters; ` +
      'click a split to take its parameter out, or a parameter to see its values.'
    )
  },
  options: EXPLANATION_WIDGET_OPTIONS,
  data: (explanation: Explanation, { question, characters }) => {
    if (question !== null && explanation.question(question) === undefined) {
      const asked = explanation.questions.map((one) => `'${one.question}'`)
      throw new OptionError('question', question, `one that was asked: ${asked.join(' or ')}`)
    }
    return explanationData(explanation, characters)
  },
  view: ExplanationView,
  style: EXPLANATION_STYLE,
  hasCharts: true,
})
