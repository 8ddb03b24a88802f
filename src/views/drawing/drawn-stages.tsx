// Over every call of a period: the loops index with `!`.
import { ascending, greatest } from 'd3-array'
import type { VNode } from 'preact'
import type { CallName } from '../../calls/call-paths.ts'
import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { count, most, optionalWord } from '../../core/options.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  shortText,
  tooltipText,
} from '../../core/words.ts'
import { type Explanation, pathSentence } from '../../explain/parameters/explanation.ts'
import { Attention, type AttentionGraph } from '../../logs/attention/focus-attention.ts'
import { quantile } from '../../stats/quantile.ts'
import type { WeightedSample } from '../../stats/weighted-sample.ts'
import type { ExecutionModel, ExecutionModels } from '../../whatif/models/execution-models.ts'
import { Drawing } from '../charts/chart.ts'
import { defineChart, mostDrawn } from '../charts/chart-frame.ts'
import {
  answerTo,
  groupsOf,
  QUESTION_WORDS,
  questionOption,
} from '../charts/parameter-differences.ts'
import { dependencyPicture, type Picture } from './dependency-network.tsx'
import { Caption, Figure } from './figure.tsx'
import {
  type BoxLook,
  type GraphBox,
  type GraphLine,
  type LineLook,
  layOutGraph,
  NodeLink,
} from './node-link.tsx'
import { ParameterTree, treeHidden, treeRows } from './parameter-tree.tsx'
import { renderStill } from './render-still.tsx'

/** Draws which variables of logs the metric depends on. Source: Nagaraj et al., NSDI 2012, §3.4. */
export const dependenciesDrawing = defineChart(
  {
    kind: optionalWord(
      ['event', 'state'],
      'Kind of variables; by default the kind with the higher score',
    ),
    limit: mostDrawn(16, 'variables', 'those that add most to the score first'),
  },
  (stage: Attention | AttentionGraph, { kind, limit }) => {
    const graphs =
      stage instanceof Attention
        ? (['event', 'state'] as const).flatMap((each) =>
            kind === null || each === kind ? (stage.best(each) ?? []) : [],
          )
        : [stage]
    const graph = greatest(graphs, ({ score }) => score)
    if (graph === undefined) {
      throw new FlowdeltaError(
        `The logs have no ${kind ?? 'variable'} to draw. Look at attention.graphs for those there are.`,
      )
    }
    return drawingOf(dependencyPicture(graph, limit))
  },
)

/** Draws the calls of an operation and the waits between them. Source: Ostrowski et al. 2011, §2.2. */
export const executionModelDrawing = defineChart(
  {
    id: count({ default: 0, min: 0, sentence: 'Number of the model' }),
    limit: most(25, 'calls', 'Maximum number of calls, or of groups of equal calls, drawn'),
  },
  (models: ExecutionModels, { id, limit }) => {
    const model = models.models[id]
    if (model === undefined) {
      throw new OptionError('id', id, `a model from 0 to ${models.models.length - 1}`)
    }
    return drawingOf(executionModelPicture(models, model, limit))
  },
)

/** Draws the tree that answers a question about parameters. Source: Sambasivan 2013, §2.6.6. */
export const parameterTreeDrawing = defineChart(
  {
    question: questionOption('Question; by default the one whose parameters separate better'),
    limit: most(30, 'nodes', 'About how many nodes are drawn'),
  },
  (explanation: Explanation, { question: asked, limit }) => {
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
  },
)

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
  const view = (
    <>
      <Caption text={description} />
      {content}
    </>
  )
  return new Drawing(() => renderStill(view, title), { title, description })
}

const MAX_NAME_LENGTH = 40
const MAX_SERVICE_LENGTH = 26
const MAX_UNAWAITED = 4

const CALL: BoxLook = { fill: 'back', stroke: 'soft' }
const CALLER: BoxLook = { stroke: 'soft' }
const UNAWAITED: BoxLook = { fill: 'back', dash: '4 3' }
const WAITS: LineLook = { color: 'soft', width: 1.5 }
const GAP: LineLook = { ...WAITS, dash: '1.5 4' }
const DETACHED: LineLook = { color: 'line', width: 1.5, dash: '4 3' }

function executionModelPicture(models: ExecutionModels, model: ExecutionModel, limit: number) {
  const times = medianTimes(models, model)
  const { groups, replyWaitsFor } = groupedModel(model)
  const kept = groups.slice(0, limit)
  const left = groups.length - kept.length
  const unawaited = model.asynchronous.slice(0, MAX_UNAWAITED)
  const unawaitedLeft = model.asynchronous.length - unawaited.length
  const reply = kept.length + 1
  const boxes = [
    modelBox(model, 'is called', CALLER),
    ...kept.map(({ nodes, inSequence }) => {
      const way = inSequence ? 'one after the other' : 'at the same time'
      const many = nodes.length === 1 ? '' : ` · ${grouped(nodes.length)} ${way}`
      const took = rangeText(nodes.map((node) => times.latencyUs[node] ?? 0))
      const called = model.nodes[nodes[0] ?? 0] ?? { service: '', operation: '' }
      return modelBox(called, `takes ${took}${many}`, CALL)
    }),
    modelBox(model, 'replies', CALLER),
    ...unawaited.map((call) => {
      const each = Number((call.calls / model.calls).toPrecision(2))
      return modelBox(call, `not waited for, ${each} a call`, UNAWAITED)
    }),
  ]
  const lines: GraphLine[] = kept.flatMap(({ nodes, waitsFor }, i) => {
    const text = waitText(nodes.map((node) => times.preprocessingUs[node] ?? 0))
    return startsOf(waitsFor).map((from) => ({ from, to: i + 1, text, look: WAITS }))
  })
  const more = `… ${counted(left, 'more call')}`
  if (left > 0) lines.push({ from: kept.length, to: reply, text: more, look: GAP })
  const ends = replyWaitsFor.filter((group) => group < limit)
  const text = waitText([times.preprocessingUs[model.nodes.length] ?? 0])
  for (const from of left > 0 && ends.length === 0 ? [] : startsOf(ends)) {
    lines.push({ from, to: reply, text, look: WAITS })
  }
  unawaited.forEach((_, i) => {
    lines.push({ from: 0, to: reply + 1 + i, text: '', look: DETACHED })
  })
  const layout = layOutGraph(boxes, lines)
  return {
    title: `Execution model ${model.id}: ${shortText(`${model.service} ${model.operation}`, 70)}`,
    subtitle: [
      explainedText(models, model),
      model.nodes.length + model.asynchronous.length === 0
        ? 'It calls nothing.'
        : 'Time runs down; times are medians. Beside lines: from the end of the last call waited for to the next start. In boxes: how long the call takes.',
    ],
    omissions: [
      left > 0 &&
        `The first ${grouped(kept.length)} of ${counted(groups.length, 'call')} are drawn.`,
      unawaitedLeft > 0 &&
        `${counted(unawaitedLeft, 'kind')} of calls that nobody waits for left out.`,
    ],
    width: layout.width,
    height: layout.height,
    drawing: <NodeLink boxes={boxes} lines={lines} layout={layout} />,
  }
}

function medianTimes(models: ExecutionModels, model: ExecutionModel) {
  const { latencyUs } = models.period(model.period).forest
  const median = ({ values, weights }: WeightedSample) => quantile(values, 0.5, weights)
  const latencies = model.nodes.map((_, node) =>
    models.ascending(model, latencyUs, models.nodeCalls(model, node)),
  )
  return {
    preprocessingUs: models.preprocessing(model).map(median),
    latencyUs: latencies.map(median),
  }
}

function startsOf(groups: readonly number[]): number[] {
  return groups.length === 0 ? [0] : groups.map((group) => group + 1)
}

/** Returns the time from one end to the next start: `+2 ms`, of several calls `+2 ms to 4 ms`. */
function waitText(timesUs: readonly number[]): string {
  return `+${rangeText(timesUs.map((us) => Math.max(0, us)))}`
}

function rangeText(timesUs: readonly number[]): string {
  const [low, high] = [Math.min(...timesUs), Math.max(...timesUs)].map(formatDuration)
  return low === high ? `${low}` : `${low} to ${high}`
}

function modelBox({ service, operation }: CallName, does: string, look: BoxLook): GraphBox {
  const place = service === '' ? '' : `${shortText(service, MAX_SERVICE_LENGTH)} · `
  const tooltip = `${tooltipText(`${service} ${operation}`)}: ${place}${does}`
  return { name: shortText(operation, MAX_NAME_LENGTH), detail: place + does, tooltip, look }
}

function explainedText({ forests }: ExecutionModels, model: ExecutionModel): string {
  const { calls, probability, ownCalls, period } = model
  const when = forests.length === 2 ? (period === 0 ? ' before' : ' after') : ''
  const [breaks, is, its] = ownCalls === 1 ? ['breaks', 'is', 'its'] : ['break', 'are', 'their']
  const own =
    ownCalls > 0 &&
    `; ${grouped(ownCalls)} of these ${breaks} its order somewhere and ${is} recomputed by ${its} own`
  return `Explains ${counted(calls, 'call')} to it${when}, ${percent(probability)} of all${own || ''}.`
}

interface Growing {
  readonly name: string
  readonly nodes: number[]
  inSequence: boolean
  readonly before: Set<Growing>
  after: Set<Growing>
}

/** Puts equal calls together that wait for the same, then those that just follow one another. */
export function groupedModel(
  model: Pick<ExecutionModel, 'nodes' | 'predecessors' | 'returnPredecessors'>,
) {
  const { nodes, predecessors, returnPredecessors } = model
  const names = nodes.map(({ service, operation }) => JSON.stringify([service, operation]))
  const grown = [...names, 'reply'].map((name, node): Growing => {
    return { name, nodes: [node], inSequence: false, before: new Set(), after: new Set() }
  })
  const links = [...predecessors, returnPredecessors]
  grown.forEach((group, node) => {
    for (const number of links[node] ?? []) {
      const before = grown[number] as Growing
      before.after.add(group)
      group.before.add(before)
    }
  })
  const reply = grown.at(-1) as Growing
  const order = inOrder(inSequence(sideBySide(grown))).filter((group) => group !== reply)
  const places = new Map(order.map((group, i) => [group, i]))
  const placesOf = (groups: ReadonlySet<Growing>) =>
    Array.from(groups, (group) => places.get(group) as number).sort(ascending)
  return {
    groups: order.map(({ nodes: members, inSequence: isSequence, before }) => ({
      nodes: members.sort(ascending),
      inSequence: isSequence,
      /** Groups; none for the start. */
      waitsFor: placesOf(before),
    })),
    replyWaitsFor: placesOf(reply.before),
  }
}

function sideBySide(groups: readonly Growing[]): Growing[] {
  const numbers = new Map(groups.map((group, i) => [group, i]))
  const numbersOf = (set: ReadonlySet<Growing>) =>
    Array.from(set, (each) => numbers.get(each) as number).sort(ascending)
  const first = new Map<string, Growing>()
  return groups.filter((group) => {
    const key = JSON.stringify([group.name, numbersOf(group.before), numbersOf(group.after)])
    const same = first.get(key)
    if (same === undefined) {
      first.set(key, group)
      return true
    }
    same.nodes.push(...group.nodes)
    for (const before of group.before) before.after.delete(group)
    for (const after of group.after) after.before.delete(group)
    return false
  })
}

function inSequence(groups: readonly Growing[]): Growing[] {
  const gone = new Set<Growing>()
  const isSingle = ({ nodes, inSequence: isSequence }: Growing) => nodes.length === 1 || isSequence
  for (const group of groups) {
    if (gone.has(group)) continue
    for (;;) {
      const [next, other] = group.after
      if (next === undefined || other !== undefined || next.before.size !== 1) break
      if (next.name !== group.name || !isSingle(group) || !isSingle(next)) break
      group.nodes.push(...next.nodes)
      group.inSequence = true
      group.after = next.after
      for (const after of next.after) {
        after.before.delete(next)
        after.before.add(group)
      }
      gone.add(next)
    }
  }
  return groups.filter((group) => !gone.has(group))
}

function inOrder(groups: readonly Growing[]): Growing[] {
  const placed = new Set<Growing>()
  for (let ready = groups; ready.length > 0; ) {
    ready = groups.filter(
      (group) => !placed.has(group) && [...group.before].every((each) => placed.has(each)),
    )
    for (const group of ready) placed.add(group)
  }
  return [...placed]
}
