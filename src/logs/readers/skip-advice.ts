import { describePlace } from '../../core/errors.ts'
import { grouped } from '../../core/words.ts'
import type { SkippedLines } from '../features/log-report.ts'
import type { LogFormat } from './log-read-options.ts'
import { SKIPPED } from './log-sink.ts'

const ADVICE: Readonly<Record<string, string>> = {
  [SKIPPED.beforeFirst]:
    'Say in option dateFormat how times are written, or in option template how lines are made',
  [SKIPPED.noTime]:
    'Name the field of times in option fields.time, or say in option dateFormat how they are written',
  [SKIPPED.noName]: 'Name the field of names in option fields.name',
  [SKIPPED.noInstance]: 'Name in option instance a field that lines have',
  [SKIPPED.noNumber]: 'Name in option fields.value a field of numbers',
  [SKIPPED.noTemplate]: 'Mine templates from these logs too, for option templates',
  [SKIPPED.notMatched]: 'Give option template an expression for them as well',
  [SKIPPED.broken]: 'Look at the line, or name another option format',
}

/** What to do about lines that gave no message for a reason; `''` where nothing is to be done. */
export function skipAdvice(reason: string): string {
  return ADVICE[reason] ?? ''
}

/** Why lines were skipped, how many, and which was the first: `has no time … (3, as in a.log:7)`. */
export function skipText({ reason, count, first }: SkippedLines): string {
  const place = describePlace({ ...first[0] }).replace(/: $/, '')
  return `a line ${reason} (${grouped(count)}${place === '' ? '' : `, as in ${place}`})`
}

/** Whether lines that were skipped for a reason say something that is lost. */
export function isLost(reason: string): boolean {
  return reason !== SKIPPED.continuation
}

/** What to do where the logs have certain fields, and maybe another format than was said. */
export function adviceFor(
  reason: string,
  { fields, format }: { readonly fields: readonly string[]; readonly format?: LogFormat },
): string {
  if (format !== undefined) return `Leave option format out: by their content they are ${format}`
  if (reason === SKIPPED.noInstance && fields.length === 0) {
    return 'Text has no fields: name in option instance a group of option template, or leave it out'
  }
  const advice = skipAdvice(reason) || 'Give other logs'
  return fields.length === 0 ? advice : `${advice}; there are ${fields.join(', ')}`
}
