import type { VNode } from 'preact'
import type { ResponseTimeMutations } from '../../compare/mutations/find-response-time-mutations.ts'
import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import {
  count,
  defineOptions,
  most,
  type OptionsOf,
  optionalNumber,
  optionalWord,
  readOptions,
} from '../../core/options.ts'
import { counted, shortText, tooltipText } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import { pathSentence } from '../../explain/parameters/explanation-words.ts'
import { Attention, type AttentionGraph } from '../../logs/attention/focus-attention.ts'
import type { ExecutionModels } from '../../whatif/models/execution-models.ts'
import { Drawing } from '../charts/chart.ts'
import { answerTo, groupsOf, QUESTION_WORDS } from '../charts/parameter-differences.ts'
import { tellingCategory } from '../charts/response-times.ts'
import { dependencyPicture } from './dependency-network.tsx'
import { executionModelPicture } from './execution-model.tsx'
import { Caption, Figure } from './figure.tsx'
import { FLOW_DRAWING_OPTIONS, flowPicture } from './flow.tsx'
import { ParameterTree, treeHidden, treeRows } from './parameter-tree.tsx'
import type { Picture } from './picture.ts'
import { renderStill } from './render-still.tsx'

const FLOW_PLOT_OPTIONS = defineOptions({
  category: optionalNumber('Category; by default the one whose response times differ most surely'),
  ...FLOW_DRAWING_OPTIONS,
})

const DEPENDENCIES_OPTIONS = defineOptions({
  kind: optionalWord(
    ['event', 'state'],
    'Kind of variables; by default the kind with the higher score',
  ),
  limit: most(16, 'variables', 'Most variables drawn, those that add most to the score first'),
})

const EXECUTION_MODEL_PLOT_OPTIONS = defineOptions({
  id: count({ default: 0, min: 0, sentence: 'Number of the model' }),
  limit: most(25, 'calls', 'Most calls, or groups of like ones, drawn'),
})

const PARAMETER_TREE_OPTIONS = defineOptions({
  question: optionalWord(
    ['what-differs', 'what-is-slow'],
    'Question; by default the one whose parameters separate better',
  ),
  limit: most(30, 'nodes', 'About how many nodes are drawn'),
})

/** Draws a category's flow with mean latencies before → after. Source: Sambasivan 2013, §4.2.2. */
export function flowDrawing(
  responseTime: ResponseTimeMutations,
  given?: Partial<OptionsOf<typeof FLOW_PLOT_OPTIONS>>,
): Drawing {
  const { category, ...options } = readOptions(FLOW_PLOT_OPTIONS, given)
  return drawingOf(flowPicture(responseTime, category ?? tellingCategory(responseTime), options))
}

/** Draws which variables of logs the metric depends on. Source: Nagaraj et al., NSDI 2012, §3.4. */
export function dependenciesDrawing(
  stage: Attention | AttentionGraph,
  given?: Partial<OptionsOf<typeof DEPENDENCIES_OPTIONS>>,
): Drawing {
  const { kind, limit } = readOptions(DEPENDENCIES_OPTIONS, given)
  const graph = stage instanceof Attention ? bestGraph(stage, kind) : stage
  if (graph === undefined) {
    throw new FlowdeltaError(
      `The logs have no ${kind ?? 'variable'} to draw. Look at attention.graphs for those there are.`,
    )
  }
  return drawingOf(dependencyPicture(graph, limit))
}

function bestGraph(attention: Attention, kind: 'event' | 'state' | null) {
  if (kind !== null) return attention.best(kind)
  const [event, state] = [attention.best('event'), attention.best('state')]
  return (state?.score ?? 0) > (event?.score ?? 0) ? state : (event ?? state)
}

/** Draws what an operation calls and what waits for what. Source: Ostrowski et al. 2011, §2.2. */
export function executionModelDrawing(
  models: ExecutionModels,
  given?: Partial<OptionsOf<typeof EXECUTION_MODEL_PLOT_OPTIONS>>,
): Drawing {
  const { id, limit } = readOptions(EXECUTION_MODEL_PLOT_OPTIONS, given)
  const model = models.models[id]
  if (model === undefined) {
    throw new OptionError('id', id, `a model from 0 to ${models.models.length - 1}`)
  }
  return drawingOf(executionModelPicture(models, model, limit))
}

/** Draws the tree that answers a question about parameters. Source: Sambasivan 2013, §2.6.6. */
export function parameterTreeDrawing(
  explanation: Explanation,
  given?: Partial<OptionsOf<typeof PARAMETER_TREE_OPTIONS>>,
): Drawing {
  const { question: asked, limit } = readOptions(PARAMETER_TREE_OPTIONS, given)
  const question = answerTo(explanation, asked ?? undefined)
  const groups = groupsOf(explanation, question)
  const rows = treeRows(question, { limit })
  const { subject } = explanation
  const [best] = question.paths
  const hidden = treeHidden(rows)
  return stillDrawing(<ParameterTree {...{ explanation, question, groups, rows }} />, {
    title: `${QUESTION_WORDS[question.question]} ${tooltipText(subject.title)}`,
    sentences: [
      best === undefined
        ? `No parameter tells ${groups.names[0]} and ${groups.names[1]} apart.`
        : `${shortText(pathSentence(best, subject), MAX_SENTENCE_LENGTH)} The way to the leaf that separates best is bold.`,
      hidden > 0 && `${counted(hidden, 'node')} further down are not drawn.`,
    ],
  })
}

const MAX_SENTENCE_LENGTH = 700

export function drawingOf({ title, subtitle, omissions, ...picture }: Picture): Drawing {
  const { width, height, drawing } = picture
  return stillDrawing(
    <Figure width={Math.ceil(width)} height={Math.ceil(height)} label={title}>
      {drawing}
    </Figure>,
    { title, sentences: [...subtitle, ...omissions] },
  )
}

function stillDrawing(
  content: VNode,
  { title, sentences }: { title: string; sentences: readonly (string | false)[] },
): Drawing {
  const description = sentences.filter((sentence) => sentence !== false).join(' ')
  const svg = () =>
    renderStill(
      <>
        <Caption text={description} />
        {content}
      </>,
      title,
    )
  return new Drawing(svg, { title, description })
}
