import { changeWords, moreText, partAndRestText, TIME } from '../../core/quantity.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { counted, percent } from '../../core/words.ts'

/**
 * One difference between two flows: steps on one side only, steps in the place of others, steps in
 * another order, or an edge whose latency changed.
 */
export interface FlowDifference {
  /** From 1, the largest change of time on the critical path first. */
  readonly rank: number
  readonly kind: 'added' | 'removed' | 'replaced' | 'order' | 'latency'
  /** Ids of the union's nodes that it is about: those that came, went or moved, or an edge's ends. */
  readonly nodes: readonly number[]
  /** Ids of the union's edges whose time it accounts for; no edge is in two differences. */
  readonly edges: readonly number[]
  /** Time of these edges on the critical path of a mean request, in µs. */
  readonly beforeUs: number
  readonly afterUs: number
  readonly changeUs: number
  /** `changeUs` as a share of the whole change; below 0 against it, `null` where there is none. */
  readonly share: number | null
  /** What it is, without its time: `X → Y takes 98 ms longer`. */
  readonly what: string
  /** The same with its share: `X → Y takes 98 ms longer: 72 % of the slowdown`. */
  readonly text: string
}

/** What edges without a difference of their own add to the change. */
export type RestOfChange = Pick<FlowDifference, 'edges' | 'changeUs' | 'share'>

interface Ranked {
  readonly differences: readonly FlowDifference[]
  /** Mean response time after − before, in µs: what the differences and the rest add up to. */
  readonly totalUs: number
  readonly rest: RestOfChange
}

/** What differs between two flows, ranked by its part of the change of the mean response time. */
export class FlowDifferences extends columnarStage<Ranked>() {
  /** A row for each difference, the largest change first. */
  table(): StageTable {
    return rowTable(this.differences, own('rank kind what beforeUs afterUs changeUs share'))
  }

  /** A line for each difference, then what is left. */
  text(): string {
    const { differences, totalUs } = this
    const lines = differences.map(({ rank, text }) => `${rank}. ${text}`)
    if (lines.length === 0) lines.push('Nothing differs significantly.')
    return [...lines, restWords(this), `In all: ${moreWords(totalUs)}.${pNote(differences)}`].join(
      '\n',
    )
  }
}

/** Less is what rounding leaves over. */
export const NO_TIME_US = 1e-6

export function moreWords(us: number): string {
  return Math.abs(us) <= NO_TIME_US ? 'as long as before' : moreText(us, TIME)
}

/** What part a change of some edges is of the whole change. */
export function shareWords(changeUs: number, totalUs: number): string {
  if (Math.abs(totalUs) <= NO_TIME_US || Math.abs(changeUs) <= NO_TIME_US) return ''
  if (changeUs / totalUs >= 0) return `: ${partAndRestText(changeUs, totalUs, TIME)}`
  const { change } = changeWords(TIME, totalUs > 0)
  return `, against the ${change} (${percent(-changeUs / totalUs)} of it)`
}

/** Said where p of edges is told. */
export const CORRECTED = 'corrected for all edges that were tested'

/** Says how p is meant where it is told. */
export function pNote(differences: readonly FlowDifference[]): string {
  const tested = differences.filter(({ kind }) => kind === 'latency')
  if (tested.length === 0) return ''
  const isAll = tested.length === differences.length
  return ` p is ${CORRECTED}${isAll ? '' : '; steps that came, went or moved need none'}.`
}

function restWords({ rest, totalUs }: Ranked): string {
  const { edges, changeUs } = rest
  return `All else, ${counted(edges.length, 'edge')}, takes ${moreWords(changeUs)}${shareWords(changeUs, totalUs)}.`
}
