import { sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { describePlace, type Place } from '../../core/errors.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import type { LogClass, VariableKind } from './features.ts'

export interface SkippedLine extends Place {
  /** Line, or enough of it to recognize it. */
  readonly text: string
}

export interface SkippedLines {
  readonly reason: string
  readonly count: number
  readonly first: readonly SkippedLine[]
}

/** A field that is no variable, and why. */
export interface FieldLeftOut {
  readonly field: string
  readonly reason: string
  readonly messages: number
  readonly example: string
  /** Some values of each class, for names of the run that the classes do not share. */
  readonly byClass?: Readonly<Record<LogClass, readonly string[]>>
}

/** Omissions and simplifications while reading two sets of logs. Counts are exact. */
export class LogReport extends columnarStage<
  ReadingNotes['data'] & {
    readonly messages: Readonly<Record<VariableKind, number>>
    readonly emptyInstances: readonly string[]
    /** Names of `exclude` that no variable has. */
    readonly notExcluded: readonly string[]
  }
>() {
  get skippedLines(): number {
    return sum(this.skipped, ({ count }) => count)
  }

  /** Returns one row per thing left out or simplified: what, how often, and the first example. */
  table(): StageTable {
    const onlyFirst = (issue: string, effect: string, examples: readonly string[]) =>
      examples.slice(0, 1).map((example) => ({ issue, effect, count: examples.length, example }))
    const rows = [
      ...this.skipped.map(({ reason, count, first: [first] }) => ({
        issue: reason,
        effect: reason.startsWith('ends') ? 'read in part' : 'line skipped',
        count,
        example: first === undefined ? '' : `${describePlace(first)}${first.text}`,
      })),
      ...this.fieldsLeftOut.map(({ field, reason, messages, example }) => ({
        issue: `field ${field} ${reason}`,
        effect: 'no variable',
        count: messages,
        example,
      })),
      ...onlyFirst('instance without messages', 'kept', this.emptyInstances),
      ...onlyFirst('file in no log format that is known', 'file skipped', this.unreadFiles),
      ...onlyFirst('excluded name that no variable has', 'nothing left out', this.notExcluded),
    ]
    return rowTable(rows, own('issue effect count example'))
  }
}

const LISTED_PER_REASON = 5
const SHOWN_CHARACTERS = 120

export class ReadingNotes {
  /** Lines read; 0 where messages came from code. */
  lines = 0
  /** Files in directories that are in no log format that is known. */
  readonly unreadFiles: string[] = []
  /** Files whose lines share windows. */
  readonly sharedFiles: string[] = []
  /** Fields of messages that are no variables, those of most messages first. */
  readonly fieldsLeftOut: FieldLeftOut[] = []
  readonly #skipped = new Map<string, { count: number; first: SkippedLine[] }>()

  /** Notes lines that gave no message, by the first of them; the first few of each reason are kept. */
  skip(reason: string, line: SkippedLine, count = 1): void {
    const entry = getOrInsert(this.#skipped, reason, () => ({ count: 0, first: [] }))
    entry.count += count
    if (entry.first.length === LISTED_PER_REASON) return
    const { text } = line
    const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
    // A slice keeps the whole text alive that it was cut from.
    entry.first.push({ ...line, text: ` ${shown}`.slice(1) })
  }

  get data() {
    const { lines, unreadFiles, sharedFiles, fieldsLeftOut } = this
    const skipped: readonly SkippedLines[] = Array.from(this.#skipped, ([reason, entry]) => {
      return { reason, ...entry }
    })
    return { lines, skipped, unreadFiles, sharedFiles, fieldsLeftOut } as const
  }
}
