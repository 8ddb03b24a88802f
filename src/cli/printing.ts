import { visibleText } from '../core/shown-text.ts'

/** A warning as commands print it. */
export interface PrintedWarning {
  readonly code: string
  readonly message: string
  readonly detail?: string
}

/** Writes a document as it is printed. */
export function printedJson(document: unknown): string {
  return `${JSON.stringify(document, null, 1)}\n`
}

/** Prints a document as JSON, or the same as text. */
export function print(json: boolean, document: () => unknown, text: () => string): void {
  const printed = json ? printedJson(document()) : visibleText(text())
  process.stdout.write(printed.endsWith('\n') ? printed : `${printed}\n`)
}

/** Returns warnings as lines of text. */
export function warningLines(warnings: readonly PrintedWarning[]): string[] {
  return warnings.map(({ code, message }) => `! ${code}: ${message}`)
}

/** Returns rows as text with aligned columns: the first to the left, the others to the right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows]
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  )
  const aligned = lines.map((line) =>
    line.map((cell, column) => {
      const width = widths[column] ?? 0
      return column === 0 ? cell.padEnd(width) : cell.padStart(width)
    }),
  )
  return aligned.map((cells) => cells.join('  ').trimEnd()).join('\n')
}
