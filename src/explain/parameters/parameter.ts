import type { NodeLabel } from '../../flows/node-labels.ts'
import type { TreeColumn } from '../../stats/decision-tree/tree.ts'

/** Where in the flow a parameter was recorded, and under which name. */
export interface ParameterSource {
  readonly node: NodeLabel
  /** Counts nodes of that label in the template, from 1; 0 where there is only one. */
  readonly occurrence: number
  readonly attribute: string
}

/** A low-level parameter: one value a row, with the place it was recorded at. */
export type Parameter = TreeColumn & { readonly source: ParameterSource }

/** Why a parameter does not take part. */
export interface LeftOutParameter {
  readonly column: string
  readonly reason: LeftOutReason
}

export type LeftOutReason =
  /** Named as something that is another one for each request, thread or moment. */
  | 'identifier'
  | 'timestamp'
  | 'thread'
  | 'address'
  /** Text that nearly every request has another of. */
  | 'unique'
  /** Numbers that only rise (or fall) as requests arrive: they tell when, not why. */
  | 'counter'
  /** One value wherever it is known. */
  | 'constant'
  /** Taken out by the user. */
  | 'excluded'

/** What a reason means, for people. */
export const LEFT_OUT_WORDS: Readonly<Record<LeftOutReason, string>> = {
  identifier: 'is named as an identifier',
  timestamp: 'is a point in time',
  thread: 'names a thread or process',
  address: 'is an address',
  unique: 'differs in nearly every request',
  counter: 'only rises or falls as requests arrive',
  constant: 'is the same wherever it is known',
  excluded: 'was taken out',
}
