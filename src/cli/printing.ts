import { visibleText } from '../core/errors.ts'
import { defineOptions, flag, optionalCount } from '../core/options.ts'
import { alignedLines } from '../core/table-display.ts'
import { grouped } from '../core/words.ts'

export interface PrintedWarning {
  readonly code: string
  readonly message: string
  readonly detail?: string
}

export const JSON_FLAG = flag({ default: false, sentence: 'Print a JSON document instead of text' })

/** Flags of commands that list fewer things as text than in a document, unless `--limit` says how many. */
export function listFlags(things: string) {
  const sentence = `List at most this many ${things} (default: ${MAX_IN_TEXT} in text, ${MAX_IN_JSON} in JSON)`
  return defineOptions({ json: JSON_FLAG, limit: optionalCount(sentence) })
}

export const MAX_IN_TEXT = 12
export const MAX_IN_JSON = 1000

export function leftOutLines(left: number): string[] {
  return left > 0 ? [`… and ${grouped(left)} more; raise --limit to see them.`] : []
}

export function printedJson(document: unknown): string {
  return `${JSON.stringify(document, null, 1)}\n`
}

export function printJson(document: unknown): void {
  process.stdout.write(printedJson(document))
}

export function printText(text: string): void {
  process.stdout.write(visibleText(text.endsWith('\n') ? text : `${text}\n`))
}

export function warningLines(warnings: readonly PrintedWarning[]): string[] {
  return warnings.map(({ code, message }) => `! ${code}: ${message}`)
}

/** Returns rows as text with aligned columns: the first to the left, the others to the right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return alignedLines([head, ...rows], (column) => column > 0).join('\n')
}
