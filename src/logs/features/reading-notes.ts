import type { VariableKind } from './feature-types.ts'
import type { LogReportData, SkippedLine } from './log-report.ts'

const LISTED_PER_REASON = 5
const SHOWN_CHARACTERS = 120

export type Notes = Pick<
  LogReportData,
  'lines' | 'skipped' | 'refused' | 'unreadFiles' | 'inBothClasses'
>

/** Keeps, while logs are read, what is left out. */
export class ReadingNotes {
  lines = 0
  readonly unreadFiles: string[] = []
  readonly inBothClasses: string[] = []
  readonly #skipped = new Map<string, { count: number; first: SkippedLine[] }>()
  readonly #refused = new Map<
    string,
    { kind: VariableKind; name: string; count: number; example: string }
  >()

  skip(reason: string, line: SkippedLine): void {
    const known = this.#skipped.get(reason)
    const entry = known ?? { count: 0, first: [] }
    if (known === undefined) this.#skipped.set(reason, entry)
    entry.count++
    if (entry.first.length === LISTED_PER_REASON) return
    const { text } = line
    const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
    // A slice keeps the whole text alive that it was cut from.
    entry.first.push({ ...line, text: ` ${shown}`.slice(1) })
  }

  refuse(kind: VariableKind, name: string, example: () => string): void {
    const key = `${kind} ${name}`
    const known = this.#refused.get(key)
    if (known === undefined) this.#refused.set(key, { kind, name, count: 1, example: example() })
    else known.count++
  }

  get data(): Notes {
    const skipped = Array.from(this.#skipped, ([reason, entry]) => ({ reason, ...entry }))
    return {
      lines: this.lines,
      skipped,
      refused: [...this.#refused.values()],
      unreadFiles: [...this.unreadFiles],
      inBothClasses: [...this.inBothClasses],
    }
  }
}
