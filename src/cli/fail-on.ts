import { InvalidArgumentError } from 'commander'
import type { Comparison } from '../compare/comparison.ts'
import type { Finding } from '../compare/findings/finding.ts'

/** When a comparison counts as failed. */
export interface FailOn {
  /** As it was written. */
  readonly text: string
  readonly holds: (finding: Finding, comparison: Comparison) => boolean
}

const UNITS_US: Readonly<Record<string, number>> = {
  us: 1,
  µs: 1,
  μs: 1,
  ms: 1000,
  s: 1_000_000,
  min: 60_000_000,
}
const CONDITION = /^(contribution|shift)\s*>\s*(\d+(?:\.\d+)?)\s*(%|us|µs|μs|ms|s|min)$/

/**
 * Reads a condition on findings. Only what became slower fails: `contribution>5%` (of what all
 * requests after would have taken before), `contribution>2s` (in all), `shift>10ms` (of one step),
 * or `any`.
 *
 * @throws InvalidArgumentError for anything else
 */
export function parseFailOn(text: string): FailOn {
  if (text === 'any') return { text, holds: ({ direction }) => direction === 'slower' }
  const [, what, digits, unit = ''] = CONDITION.exec(text.trim()) ?? []
  if (what === undefined || (what === 'shift' && unit === '%')) {
    throw new InvalidArgumentError(
      "Give 'contribution>5%', 'contribution>2s', 'shift>10ms' or 'any'.",
    )
  }
  const limit = Number(digits)
  if (unit === '%') {
    return {
      text,
      holds: ({ contributionUs }, { edges }) =>
        contributionUs > 0 && 100 * contributionUs > limit * edges.usualUs,
    }
  }
  const limitUs = limit * (UNITS_US[unit] as number)
  return {
    text,
    holds:
      what === 'contribution'
        ? ({ contributionUs }) => contributionUs > limitUs
        : ({ changedEdges }) => changedEdges.some(({ shiftUs }) => shiftUs > limitUs),
  }
}

/** Adds a condition to those given before it: `--fail-on` may stand more than once. */
export function collectFailOn(text: string, before: readonly FailOn[] = []): FailOn[] {
  return [...before, parseFailOn(text)]
}

/** The findings that a condition holds for. */
export function failingFindings(comparison: Comparison, { holds }: FailOn): Finding[] {
  return comparison.findings.findings.filter((finding) => holds(finding, comparison))
}
