import { InvalidArgumentError } from 'commander'
import { readDuration, shortText } from '../core/words.ts'
import type { LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import { MAX_IN_TEXT } from './printing.ts'

/** A condition of `flowdelta whatif --fail-on`. */
export interface WhatifFailOn {
  readonly text: string
  /** How much slower requests must be on average by a cause, µs; more is a failure. */
  readonly limitUs: (diagnosis: LatencyDiagnosis) => number
}

const MAX_NAME_LENGTH = 180
const CONDITION = /^impact\s*>\s*(\d+(?:\.\d+)?)\s*(%|[a-zµμ]+)$/

/** Reads `impact>5%` (of the mean response time before), `impact>10ms` or `any`. */
export function whatifFailOn(text: string): WhatifFailOn {
  if (text === 'any') return { text, limitUs: () => 0 }
  const [, digits = '', unit = ''] = CONDITION.exec(text.trim()) ?? []
  if (unit === '%') return { text, limitUs: ({ base }) => (base.meanUs * Number(digits)) / 100 }
  const limitUs = readDuration(`${digits}${unit}`)
  if (Number.isNaN(limitUs)) {
    throw new InvalidArgumentError("Give 'impact>5%', 'impact>10ms' or 'any'.")
  }
  return { text, limitUs: () => limitUs }
}

/** Says which conditions hold, on standard error, and for which causes; the exit code is then 1. */
export function failOnCauses(
  diagnosis: LatencyDiagnosis,
  conditions: readonly WhatifFailOn[] = [],
): void {
  for (const { text, limitUs } of conditions) {
    const failing = diagnosis.ranked.filter(
      ({ significant, evaluation }) => significant && evaluation.impactUs > limitUs(diagnosis),
    )
    if (failing.length === 0) continue
    const names = failing
      .slice(0, MAX_IN_TEXT)
      .map(({ rank, scenario }) => `#${rank} ${shortText(scenario.title, MAX_NAME_LENGTH)}`)
    const more = failing.length > names.length ? `; and ${failing.length - names.length} more` : ''
    process.stderr.write(`flowdelta: --fail-on ${text} holds for ${names.join('; ')}${more}\n`)
    process.exitCode = 1
  }
}
