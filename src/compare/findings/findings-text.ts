import { formatDuration } from '../../core/units.ts'
import type { Finding } from './finding.ts'
import type { Findings } from './findings.ts'

const WIDTH = 96

/** Why there is no finding where none could be. */
export const NOTHING_TESTABLE =
  'no kind of request has enough requests in both periods for any test. Something may well have changed.'

/** Findings as lines of text: each a title and its two sentences, then what they leave over. */
export function findingsText(findings: Findings): string {
  const { findings: found, omitted, observedChangeUs, testable } = findings
  if (!testable) return `No finding: ${NOTHING_TESTABLE}`
  if (found.length === 0) return 'No finding: nothing changed beyond what chance does.'
  const count = found.length + omitted
  const attributedUs = found.reduce((sum, { contributionUs }) => sum + contributionUs, 0)
  return [
    (count === 1 ? '1 finding' : `${count} findings, the largest first`) +
      (omitted > 0 ? `, ${omitted} smaller ones left out` : ''),
    ...found.map((finding) => `\n${findingText(finding)}`),
    `\nRequests after took ${signed(observedChangeUs)} in all against the mean before; the ` +
      `findings account for ${signed(attributedUs)}.`,
  ].join('\n')
}

function findingText({ rank, title, text, mutations, id }: Finding): string {
  const ranks = mutations.map((mutation) => mutation.rank)
  const which =
    ranks.length === 0
      ? 'No ranked mutation shows it.'
      : `Seen in ${ranks.length === 1 ? 'mutation' : 'mutations'} ${listed(ranks)}.`
  return [
    ...wrapped(`#${rank} ${title}`, { first: '', rest: '   ' }),
    ...wrapped(`${text} ${which} [${id}]`, { first: '   ', rest: '   ' }),
  ].join('\n')
}

const MOST_RANKS = 8

function listed(ranks: readonly number[]): string {
  const shown = ranks.slice(0, MOST_RANKS).join(', ')
  return ranks.length > MOST_RANKS ? `${shown} and ${ranks.length - MOST_RANKS} more` : shown
}

function signed(us: number): string {
  return `${formatDuration(Math.abs(us))} ${us < 0 ? 'less' : 'more'}`
}

/** Breaks lines between words; a word longer than a line keeps one to itself. */
function wrapped(text: string, { first, rest }: { first: string; rest: string }): string[] {
  const lines: string[] = []
  let line = first
  let empty = true
  for (const word of text.split(' ')) {
    if (!empty && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = rest
      empty = true
    }
    line += empty ? word : ` ${word}`
    empty = false
  }
  return [...lines, line]
}
