import { sum } from 'd3-array'
import { FlowdeltaError } from '../../core/errors.ts'
import { grouped } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import type { Parameter } from '../../explain/parameters/left-out.ts'
import { parameterDifferences } from '../../explain/parameters/parameter-differences.ts'
import type { ParameterQuestion } from '../../explain/parameters/parameter-question.ts'
import type { ClassificationNode, RegressionNode } from '../../stats/decision-tree/tree.ts'
import { groupsOf } from './parameter-groups.ts'
import { countCodes } from './parameter-shares.ts'

/** The rows of a question along one parameter. */
export type ParameterDots = ReturnType<typeof parameterDots>

/** A name that rows have. */
interface DotLevel {
  readonly label: string
  readonly kind: 'value' | 'others' | 'missing'
}

const MOST_LEVELS = 60

/**
 * The parameter that a strip shows if none is named: the root of the tree, or the most different.
 *
 * @throws FlowdeltaError for a parameter that the question does not use, or without any
 */
export function parameterOf(
  explanation: Explanation,
  question: ParameterQuestion,
  name?: string,
): Parameter {
  const { table, tree } = question
  const rootColumn = tree.root.kind === 'split' ? tree.root.column : undefined
  const wanted = name ?? rootColumn ?? mostDifferent(explanation, question)
  const found = table.parameters.find((parameter) => parameter.name === wanted)
  if (found !== undefined) return found
  const some = table.parameters.slice(0, 8).map((parameter) => `'${parameter.name}'`)
  const next = some.length === 0 ? 'There is none to show.' : `Give one such as ${some.join(', ')}.`
  throw new FlowdeltaError(
    name === undefined
      ? `'${question.question}' has no parameter to show: all were left out, see explanation.leftOut.`
      : `'${question.question}' does not use a parameter ${JSON.stringify(name)}. ${next}`,
  )
}

function mostDifferent(explanation: Explanation, question: ParameterQuestion): string | undefined {
  const { labels } = groupsOf(explanation, question)
  return parameterDifferences(question.table.parameters, labels)[0]?.column
}

/** The rows of a question along one of its parameters, at most `limit` of them, evenly thinned. */
export function parameterDots(
  explanation: Explanation,
  question: ParameterQuestion,
  { parameter, limit }: { readonly parameter: Parameter; readonly limit: number },
) {
  const { labels } = groupsOf(explanation, question)
  const { timeUs } = question.table.rows
  const splits = splitsOn(question.tree.root, parameter.name)
  const { levels, placeOf, firstSide } =
    parameter.kind === 'categorical'
      ? levelOrder(parameter, labels, question)
      : { levels: [], placeOf: null, firstSide: 0 }
  const valueAt = (row: number) =>
    parameter.kind === 'numeric'
      ? (parameter.values[row] as number)
      : (placeOf as ReadonlyMap<number, number>).get(parameter.codes[row] as number)
  const needsTime = question.question === 'what-is-slow'
  const placed = Array.from(labels, (_, row) => row).filter((row) => {
    const value = valueAt(row) ?? Number.NaN
    return !Number.isNaN(value) && !(needsTime && Number.isNaN(timeUs[row]))
  })
  const every = Math.max(1, placed.length / limit)
  const shown = placed.filter((_, at) => Math.floor(at / every) !== Math.floor((at - 1) / every))
  const isName = parameter.kind === 'categorical'
  const few = new Set(placed.map(valueAt)).size <= FEW_VALUES
  return {
    parameter,
    dots: shown.map((row) => ({
      row,
      group: labels[row] as 0 | 1,
      /** The number; of names the place in `levels`. */
      value: valueAt(row) as number,
      timeUs: timeUs[row] as number,
      /** Across the axis: another for each row, so that equal dots all show. */
      across: spread(row, 0),
      /** Along it; many numbers stay where they are. */
      along: isName || few ? spread(row, 1) : 0,
    })),
    /** Of names: those in the order of `value`. */
    levels: levels as readonly DotLevel[],
    /** Of names: how many of `levels` are on the first side of the tree's split; 0 without one. */
    firstSide,
    /** Of numbers: where the tree divides them, the split nearest to the root first. */
    thresholds: [
      ...new Set(splits.flatMap(({ test }) => (test.kind === 'threshold' ? [test.value] : []))),
    ],
    /** Rows without a number, or in what-is-slow without a time. */
    withoutPlace: labels.length - placed.length,
    /** Rows that are left out because there are more than asked for. */
    thinned: placed.length - shown.length,
  }
}

/** Multiples of these fill a square evenly, however many there are (Roberts' sequence). */
const SPREAD = [0.7548776662466927, 0.5698402909980532] as const
/** Numbers of so many values are as names: dots of one value would hide each other. */
const FEW_VALUES = 12

/** From -0.5 to 0.5, another for each row. */
function spread(row: number, axis: 0 | 1): number {
  return ((row * SPREAD[axis]) % 1) - 0.5
}

type Node = ClassificationNode | RegressionNode
type Split = Extract<Node, { kind: 'split' }>

/** Splits on a column, those nearest to the root first. */
function splitsOn(root: Node, column: string): Split[] {
  const found: Split[] = []
  for (const queue: Node[] = [root]; queue.length > 0; ) {
    const node = queue.shift() as Node
    if (node.kind === 'leaf') continue
    if (node.column === column) found.push(node)
    queue.push(...node.children)
  }
  return found
}

/**
 * The order of names along an axis: where the tree divides them in two, the side with more of the
 * second group first; then by their share of the second group. The rarest are one.
 */
function levelOrder(
  { name, codes, levels }: Extract<Parameter, { kind: 'categorical' }>,
  labels: Uint8Array,
  question: ParameterQuestion,
) {
  const { counts, missing } = countCodes(codes, labels, levels.length)
  const sizeOf = (code: number) => sum(counts[code] ?? [])
  const shareOf = (code: number) => (counts[code]?.[1] ?? 0) / Math.max(1, sizeOf(code))
  const [split] = splitsOn(question.tree.root, name)
  const sides = split?.test.kind === 'set' ? split.test.codes : null
  const meanShare = (side: readonly number[]) => {
    return sum(side, (code) => shareOf(code) * sizeOf(code)) / Math.max(1, sum(side, sizeOf))
  }
  const first =
    sides === null ? [] : meanShare(sides[0]) >= meanShare(sides[1]) ? sides[0] : sides[1]
  const isFirst = (code: number) => Number(first.includes(code))
  const present = levels.map((_, code) => code).filter((code) => sizeOf(code) > 0)
  const kept = present.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, MOST_LEVELS)
  const order = kept.sort(
    (a, b) => isFirst(b) - isFirst(a) || shareOf(b) - shareOf(a) || sizeOf(b) - sizeOf(a) || a - b,
  )
  const placeOf = new Map(order.map((code, place) => [code, place]))
  const shown: DotLevel[] = order.map((code) => ({ label: levels[code] as string, kind: 'value' }))
  const others = present.length - order.length
  if (others > 0) {
    for (const code of present) if (!placeOf.has(code)) placeOf.set(code, shown.length)
    shown.push({ label: `${grouped(others)} others`, kind: 'others' })
  }
  if (sum(missing) > 0) {
    placeOf.set(-1, shown.length)
    shown.push({ label: 'missing', kind: 'missing' })
  }
  return { levels: shown, placeOf, firstSide: order.filter((code) => isFirst(code) === 1).length }
}
