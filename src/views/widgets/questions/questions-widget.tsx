import { useState } from 'preact/hooks'
import { defineOptions, most } from '../../../core/options.ts'
import { counted } from '../../../core/words.ts'
import type { Questions } from '../../../explain/explosion/teach.ts'
import { Choice, StateCode } from '../../drawing/controls.tsx'
import { type DataColumn, DataTable } from '../../drawing/data-table.tsx'
import { Caption } from '../../drawing/figure.tsx'
import { defineWidget, STAGE_NAME, type ViewProps } from '../define-widget.ts'

const ANSWERS = { same: 'the same', different: 'not the same', open: 'not sure' } as const
type Answered = keyof typeof ANSWERS

type AskedPair = ReturnType<typeof askedPairs>[number]

const TITLE = 'Which kinds of request are the same to you?'

function QuestionsView({
  data,
  options,
}: ViewProps<readonly AskedPair[], { readonly name?: string | null }>) {
  const [answers, setAnswers] = useState<readonly Answered[]>(data.map(() => 'open'))
  const columns: readonly DataColumn<AskedPair>[] = [
    {
      title: 'question',
      cell: ({ asks, effects }) => (
        <>
          <strong>{asks}</strong>
          {effects.map((effect) => (
            <div key={effect}>{effect}</div>
          ))}
        </>
      ),
      still: ({ asks }) => asks,
    },
    {
      title: 'answer',
      cell: (pair) => (
        <Choice
          name={`${pair.one} and ${pair.other} are`}
          help="What teach learns from"
          value={answers[data.indexOf(pair)] ?? 'open'}
          values={ANSWERS}
          onChoose={(answer) =>
            setAnswers(answers.map((old, at) => (at === data.indexOf(pair) ? answer : old)))
          }
        />
      ),
      still: null,
    },
  ]
  return (
    <section aria-label="Questions">
      <Caption isHeading text={TITLE} />
      <DataTable label={TITLE} columns={columns} rows={data} />
      <StateCode code={teachCode(options.name ?? 'comparison', data, answers)} />
    </section>
  )
}

function teachCode(name: string, pairs: readonly AskedPair[], answers: readonly Answered[]) {
  const given = pairs.flatMap(({ one, other }, at) => {
    const answer = answers[at]
    return answer === 'open' ? [] : [`{ one: ${one}, other: ${other}, same: ${answer === 'same'} }`]
  })
  return `teach(${name}, [${given.join(', ')}])`
}

const QUESTIONS_OPTIONS = defineOptions({
  limit: most(8, 'questions', 'List at most this many questions'),
  name: STAGE_NAME,
})

/** `effects` are what calling both the same would do. */
function askedPairs(stage: Questions, { limit }: { readonly limit: number }) {
  return stage.questions.slice(0, limit).map((question) => {
    const [asks = '', ...effects] = stage.linesOf(question)
    return { one: question.one, other: question.other, asks, effects }
  })
}

/** Questions about pairs of categories, to be answered by buttons. */
export const questionsWidget = defineWidget({
  name: 'questions',
  title: 'Questions',
  description: (data: readonly AskedPair[]) =>
    `${counted(data.length, 'question')}; answer, and copy the code that learns from the answers.`,
  options: QUESTIONS_OPTIONS,
  data: askedPairs,
  view: QuestionsView,
  style:
    '.fd-questions td { white-space: normal; max-width: 46em; vertical-align: top; text-align: left; }',
})
