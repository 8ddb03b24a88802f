import { grouped } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { operationAt } from '../../flows/node-labels.ts'
import { mainOperation } from '../findings/names.ts'
import type { CountsTest } from '../steps/compare-counts.ts'
import type { StepChange } from '../steps/step-changes.ts'

type Counts = Pick<CountsTest, 'made' | 'chances'>

/** Writes a count with its chances: `31 of 160`. */
export function ofChances({ made, chances }: Counts, period: Period): string {
  return `${grouped(made[period])} of ${grouped(chances[period])}`
}

/** Returns the counts of both periods as text: `31 of 160 calls (0 of 182 before)`. */
export function callsText(counts: Counts): string {
  return `${ofChances(counts, AFTER)} calls (${ofChances(counts, BEFORE)} before)`
}

/** Says how many other operations changed the same way. */
export function alsoDone(others: number): string {
  if (others < 1) return ''
  return others === 1 ? ', as does 1 other operation' : `, as do ${others} other operations`
}

/** A title that names one operation of a step says less than this share of its change alone. */
const MIN_NAMED = 0.5

/** Says which other operation of a step changed with the one that its title names, or how many did. */
export function alsoChanged(step: StepChange): string {
  const { service, operations, contributionUs } = step
  const changed = operations.filter((one) => one.changed)
  const others = changed.filter(({ operation }) => operation !== mainOperation(step))
  const [other] = others
  if (other !== undefined && others.length === 1) {
    return `, as does ${operationAt(service, other.operation)}`
  }
  if (changed.length > 0) return alsoDone(others.length)
  const most = Math.max(0, ...operations.map((one) => one.contributionUs / contributionUs))
  const isOne = operations.length < 2 || most >= MIN_NAMED
  return isOne ? '' : ', as do its other operations together'
}
