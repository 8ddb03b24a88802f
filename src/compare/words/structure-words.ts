import { grouped, listed, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import type { Categories } from '../categories/categories.ts'
import type { MovesEvidence, SameSteps, StructureChange } from '../findings/evidence.ts'
import { rootsName, stepName } from '../findings/names.ts'
import type { Words } from './words.ts'

const MAX_STEPS_NAMED = 2
const MAX_SERVICES_NAMED = 4

/** Says which other path requests take, or what they do otherwise with the same steps. */
export function movesWords(
  categories: Categories,
  evidence: MovesEvidence,
  direction: string,
): Words {
  const { otherwise, group } = evidence
  const { moves } = group
  const [{ from, to }] = moves as [(typeof moves)[number]]
  const paths = [BEFORE, AFTER].map((period) => grouped(categories.count(to, period as Period)))
  const isOneOfMore = new Set(moves.map((move) => move.to)).size > 1
  const path = `${isOneOfMore ? 'most common ' : ''}new path taken by ${paths.join(' → ')}`
  return {
    where: rootsName(moves.map((move) => categories.shownNode(move.to, 0))),
    what: otherwise === null ? pathText(categories, evidence) : sameStepsText(otherwise),
    look: whereToLook(evidence, direction),
    notes: from === to ? [] : [path],
  }
}

function whereToLook(
  { group: { changes }, services: { gained, lost } }: MovesEvidence,
  direction: string,
): string {
  const decides = whatDecides(changes)
  if (gained.length > 0) return `${decides}, and at ${listed(gained.map(printable), 3)}`
  return lost.length > 0 && direction === 'faster' ? `${decides}: do requests fail early?` : decides
}

function whatDecides(changes: readonly StructureChange[]): string {
  const change = changes.find(({ answered }) => answered !== null) ?? changes[0]
  if (change?.after == null) return 'who sends these requests'
  const { answered } = change
  if (answered === null) return `what follows ${stepName(change.after.node)}`
  const answer = `the answer of ${printable(answered.service)} ${operationName(answered)}`
  const { restsOn } = answered
  return restsOn.length === 0
    ? answer
    : `${answer} (which calls ${listed(restsOn.map(printable), MAX_SERVICES_NAMED)})`
}

/** Says what requests do otherwise with the same steps. */
function sameStepsText(otherwise: SameSteps): string {
  if (otherwise.how === 'another order') return 'requests do the same steps in another order'
  if (otherwise.how === 'repeated') {
    const [was, is] = otherwise.times
    const rounded = (times: number) => String(Number(times.toFixed(1)))
    const onAverage = otherwise.times.every(Number.isInteger) ? '' : ' on average'
    return `requests do ${stepName(otherwise.node)} ${rounded(is)} times instead of ${rounded(was)}${onAverage}`
  }
  const [one, other] = [otherwise.first, otherwise.second].map(stepName)
  const words: Record<typeof otherwise.how, string> = {
    'in turn': `now do ${one} and ${other} one after the other, no longer at the same time`,
    together: `now do ${one} and ${other} at the same time, no longer one after the other`,
    reordered: `now do ${one} before ${other}`,
    'not waited for': `no longer wait for ${other} before ${one}`,
    'waited for': `now wait for ${other} before ${one}`,
  }
  return `requests ${words[otherwise.how]}`
}

/** Says which path requests take now. */
function pathText(
  categories: Categories,
  { group: { moves, changes }, services: { gained, lost } }: MovesEvidence,
): string {
  const come = moves.filter(({ from, to }) => from === to)
  if (come.length === moves.length) {
    const times = (period: Period) =>
      grouped(come.reduce((sum, { to }) => sum + categories.count(to, period), 0))
    return `comes more often: ${times(BEFORE)} before, ${times(AFTER)} after`
  }
  const few = (names: readonly string[]) => listed(names.map(printable), MAX_SERVICES_NAMED)
  const steps = (wanted: StructureChange['change']) => {
    const names = changes
      .filter(({ change }) => change === wanted)
      .map(({ node }) => stepName(node))
    return listed([...new Set(names)], MAX_STEPS_NAMED)
  }
  const [added, removed] = [steps('added'), steps('removed')]
  // Requests of several paths that take one now have nothing in common but its steps.
  if (added !== '' && removed === '' && new Set(moves.map(({ from }) => from)).size > 1) {
    return `requests now take ${added}`
  }
  if (gained.length > 0 && lost.length > 0) {
    return `requests now go to ${few(gained)} instead of ${few(lost)}`
  }
  if (gained.length > 0) return `requests now also go to ${few(gained)}`
  if (lost.length > 0) return `requests no longer go to ${few(lost)}`
  if (added === '' && removed === '')
    return 'requests repeat the same steps a different number of times'
  if (removed === '') return `requests now also do ${added}`
  return added === ''
    ? `requests no longer do ${removed}`
    : `requests now do ${added} instead of ${removed}`
}
