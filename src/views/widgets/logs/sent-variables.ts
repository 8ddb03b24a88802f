import { shortText } from '../../../core/shown-text.ts'
import type { Divergence, VariableDivergence } from '../../../logs/divergence/divergence.ts'
import { VARIABLE_KINDS, type VariableKind } from '../../../logs/features/features.ts'
import type { LogsStart } from './logs-data.ts'
import type { NetworksToSend } from './sent-networks.ts'
import { type SentNumber, sentNumber } from './sent-number.ts'
import { type SentPresence, sentPresence } from './sent-presence.ts'
import { type SentTest, sentTest } from './sent-test.ts'

/** A variable with its tests, one for each feature of its kind, in their order. */
export interface SentVariable {
  readonly kind: VariableKind
  readonly name: string
  /** The name in the page is not the whole name: code cannot use it. */
  readonly isCut: boolean
  readonly score: SentNumber
  readonly presence: SentPresence
  readonly tests: readonly SentTest[]
}

/** So many of a kind that differ most are there even if nothing depends on them. */
const MOST_DIVERGENT = 30
/** Longer names are cut. */
const LONGEST_NAME = 400

/** The variables of all networks, those that differ most, and the one that is open; most divergent first. */
export function variablesToSend(
  divergence: Divergence,
  networks: NetworksToSend,
  start: LogsStart,
): readonly VariableDivergence[] {
  const opened = divergence.variable(start.kind, start.variable ?? '')
  const wanted = new Set<VariableDivergence>(opened === undefined ? [] : [opened])
  for (const kind of VARIABLE_KINDS) {
    const ofKind = divergence.variables.filter((each) => each.kind === kind)
    for (const each of ofKind.slice(0, MOST_DIVERGENT)) if (differs(each)) wanted.add(each)
    const largest = ofKind.find((each) => holdsLargest(each, divergence.largest(kind)))
    // Shares of divergence are of this one, wherever it stands.
    if (largest !== undefined) wanted.add(largest)
    for (const name of networks.namesOf(kind)) {
      const found = divergence.variable(kind, name)
      if (found !== undefined) wanted.add(found)
    }
  }
  return divergence.variables.filter((each) => wanted.has(each))
}

/** A variable as it is sent. */
export function sentVariable(
  { kind, name, score, presence, features }: VariableDivergence,
  number: number,
): SentVariable {
  const isCut = name.length > LONGEST_NAME
  return {
    // Names tell variables apart: those that are cut end in their number.
    name: isCut ? `${shortText(name, LONGEST_NAME)} (${number})` : name,
    ...{
      kind,
      isCut,
      score: sentNumber(score),
      presence: sentPresence(presence),
      tests: features.map(sentTest),
    },
  }
}

/** Whether there is anything to see of a variable that performance does not depend on. */
function differs({ score, presence }: VariableDivergence): boolean {
  return score > 0 || presence.onlyIn !== null
}

function holdsLargest({ features }: VariableDivergence, largest: number): boolean {
  return features.some(({ t }) => Math.abs(t) === largest)
}
