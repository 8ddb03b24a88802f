import type { PrintedWarning } from '../comparison/fairness/comparison-warning.ts'
import { visibleText } from '../core/errors.ts'
import { type Document, listOf, optional, record, TEXT } from '../core/json-parts.ts'
import { defineOptions, flag, optionalCount } from '../core/options.ts'
import { fittedLines, MAX_WIDTH } from '../core/text-layout.ts'

export const JSON_FLAG = flag({ default: false, sentence: 'Print a JSON document instead of text' })

/** Flags of commands that list fewer things as text than in a document, unless `--limit` says how many. */
export function listFlags(things: string) {
  const sentence = `List at most this many ${things} (default: ${MAX_IN_TEXT} in text, ${MAX_IN_JSON} in JSON)`
  return defineOptions({ json: JSON_FLAG, limit: optionalCount(sentence) })
}

export const MAX_IN_TEXT = 12
export const MAX_IN_JSON = 1000

export function printedJson(document: unknown): string {
  return `${JSON.stringify(document, null, 1)}\n`
}

export function printJson(document: unknown): void {
  process.stdout.write(printedJson(document))
}

export function printText(text: string): void {
  const shown = visibleText(text.endsWith('\n') ? text : `${text}\n`)
  const width = givenWidth()
  const fitted = width === undefined ? shown : fittedLines(shown, width)
  // See https://no-color.org.
  const { NO_COLOR, TERM } = process.env
  const isColored = process.stdout.isTTY && !NO_COLOR && TERM !== 'dumb'
  // Blocks that changed get a color, others fade.
  const changed = fitted.replace(/[█▓▒]+/g, '\u001b[33m$&\u001b[39m')
  process.stdout.write(isColored ? changed.replace(/░+/g, '\u001b[2m$&\u001b[22m') : fitted)
}

/** Narrower terminals are not served. */
const MIN_WIDTH = 40
/** Narrowest column of descriptions that help wraps. */
export const MIN_HELP_WIDTH = 20

/** Characters of a line of the terminal, or of `COLUMNS`; `undefined` for neither. */
export function givenWidth(): number | undefined {
  const columns = process.stdout.columns || Number(process.env['COLUMNS'])
  return columns > 0 ? Math.max(MIN_WIDTH, columns) : undefined
}

/** Characters of a line: those of the terminal, if there is one. */
export function textWidth(): number {
  return givenWidth() ?? MAX_WIDTH
}

export const WARNINGS = listOf(
  record<PrintedWarning>({
    code: TEXT,
    message: TEXT,
    detail: optional(TEXT).about('Its effect on the results, and what to do.'),
  }),
)

interface Printed<Results> {
  readonly json: boolean
  readonly document: Document<Results>
  readonly text: (results: Results, options: { readonly width: number }) => string
}

/** Prints results: as a JSON document if asked for, else as text of the terminal's width. */
export function printResults<Results>(
  results: Results,
  { json, document, text }: Printed<Results>,
): void {
  if (json) printJson(document.write(results))
  else printText(text(results, { width: textWidth() }))
}
