import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { Explanation } from '../../../explain/parameters/explanation.ts'
import type {
  ParameterQuestion,
  ParameterQuestionName,
} from '../../../explain/parameters/parameter-question.ts'
import { type Parameter, ParameterTable } from '../../../explain/parameters/parameter-table.ts'
import type { FlowSet } from '../../../flows/flow-set.ts'
import type { ClassificationNode, RegressionNode } from '../../../stats/decision-tree/tree.ts'
import { differencesOf } from '../../charts/parameter-differences.ts'

export type ExplanationData = ReturnType<typeof explanationData>

type CarriedTable = ReturnType<typeof carriedTable>

const MAX_LEFT_OUT = 300

/**
 * Returns the rows of an explanation in about `characters` of JSON: trace names are left out first, then the parameters
 * that differ least.
 */
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
function importance(explanation: Explanation): ReadonlyMap<string, number> {
  const inTrees = explanation.questions.flatMap(({ tree }) => columnsOf(tree.root))
  const differing = explanation.questions
    .flatMap((question) => differencesOf(explanation, question))
    .sort((a, b) => b.effect - a.effect)
    .map(({ column }) => column)
  const names = new Set([...inTrees, ...explanation.excluded, ...differing])
  return new Map([...names].map((name, rank) => [name, rank]))
}

function columnsOf(node: ClassificationNode | RegressionNode): string[] {
  return node.kind === 'leaf' ? [] : [node.column, ...node.children.flatMap(columnsOf)]
}

function carriedTable(
  { table }: ParameterQuestion,
  excluded: readonly string[],
  { order, limit }: { order: ReadonlyMap<string, number>; limit: number },
) {
  const include = [...table.parameters.map(({ name }) => name), ...excluded]
  const all = table.choose({ include, exclude: [] }).parameters
  const rankOf = ({ name }: Parameter) => order.get(name) ?? order.size
  const { labels, timeUs, weights = null } = table.rows
  let size = sizeOf({ labels, timeUs, weights })
  const kept = new Set<Parameter>()
  for (const parameter of all.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    size += sizeOf(parameter)
    // A tree of nothing is no use: the first is there however large it is.
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
  const restore = (table: CarriedTable | null) => {
    if (table === null) return null
    const { parameters, labels, timeUs, weights, traces } = table
    const rows = {
      requests: Uint32Array.from(labels, (_, row) => row),
      labels,
      // Neither are periods; what changed with them alone is left out already.
      periods: labels,
      timeUs,
      startUs: new Float64Array(labels.length),
      weights: weights ?? undefined,
    }
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
