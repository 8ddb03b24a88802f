import type { PrintedWarning } from '../compare/fairness/comparison-warning.ts'
import { COUNT, type Document, listOf, optional, record, TEXT } from '../core/json-parts.ts'
import { printJson, printText, textWidth } from './printing.ts'

export const PERIOD_COUNTS = record<{ readonly before: number; readonly after: number }>({
  before: COUNT,
  after: COUNT,
})

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
