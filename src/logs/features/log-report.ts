import { describePlace, type Place } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { VariableKind } from './features.ts'

/** A line that gave no message. */
export interface SkippedLine extends Place {
  /** The line, or as much of it as says what it is. */
  readonly text: string
}

/** Lines that gave no message, for one reason. */
export interface SkippedLines {
  readonly reason: string
  readonly count: number
  /** The first few. */
  readonly first: readonly SkippedLine[]
}

/** Messages of one variable that had no finite time or value, and were left out. */
interface RefusedMessages {
  readonly kind: VariableKind
  readonly name: string
  readonly count: number
  /** The first one: what it held, and in which instance. */
  readonly example: string
}

/** A variable with so many messages in an instance that not all of them were kept. */
export interface ThinnedVariable {
  readonly kind: VariableKind
  readonly name: string
  /** In how many instances. */
  readonly instances: number
  /** At worst, one of so many messages was kept. */
  readonly stride: number
}

interface LogReportData {
  /** Lines read; 0 where messages came from code. */
  readonly lines: number
  readonly messages: Readonly<Record<VariableKind, number>>
  readonly skipped: readonly SkippedLines[]
  readonly refused: readonly RefusedMessages[]
  /** Medians and snapshots of these are of a sample of their messages. */
  readonly thinned: readonly ThinnedVariable[]
  /** Instances without a single message. */
  readonly emptyInstances: readonly string[]
  /** Files in directories that are in no log format that is known. */
  readonly unreadFiles: readonly string[]
  /** Files that were given for both classes. */
  readonly inBothClasses: readonly string[]
}

/** What reading two sets of logs left out or simplified. Counts are exact. */
export class LogReport extends Stage implements LogReportData {
  readonly lines: number
  readonly messages: Readonly<Record<VariableKind, number>>
  readonly skipped: readonly SkippedLines[]
  readonly refused: readonly RefusedMessages[]
  readonly thinned: readonly ThinnedVariable[]
  readonly emptyInstances: readonly string[]
  readonly unreadFiles: readonly string[]
  readonly inBothClasses: readonly string[]

  constructor(data: LogReportData) {
    super()
    this.lines = data.lines
    this.messages = data.messages
    this.skipped = data.skipped
    this.refused = data.refused
    this.thinned = data.thinned
    this.emptyInstances = data.emptyInstances
    this.unreadFiles = data.unreadFiles
    this.inBothClasses = data.inBothClasses
  }

  /** How many lines gave no message. */
  get skippedLines(): number {
    return this.skipped.reduce((sum, { count }) => sum + count, 0)
  }

  /** One row a thing left out or simplified: what, how often, and the first example. */
  table(): StageTable {
    const rows = [
      ...this.skipped.map(({ reason, count, first: [first] }) => ({
        issue: reason,
        effect: 'line skipped',
        count,
        example: first === undefined ? '' : `${describePlace(first)}${first.text}`,
      })),
      ...this.refused.map(({ kind, name, count, example }) => ({
        issue: `${kind} ${name} without a finite ${kind === 'event' ? 'time' : 'time and value'}`,
        ...{ effect: 'message skipped', count, example },
      })),
      ...this.thinned.map(({ kind, name, instances, stride }) => ({
        issue: `${kind} ${name} has very many messages`,
        effect: 'medians and snapshots from a sample',
        count: instances,
        example: `one message of ${stride} kept`,
      })),
      ...this.emptyInstances.slice(0, 1).map((example) => ({
        issue: 'instance without messages',
        ...{ effect: 'kept', count: this.emptyInstances.length, example },
      })),
      ...this.unreadFiles.slice(0, 1).map((example) => ({
        issue: 'file in no log format that is known',
        ...{ effect: 'file skipped', count: this.unreadFiles.length, example },
      })),
      ...this.inBothClasses.slice(0, 1).map((example) => ({
        issue: 'file given as before and as after',
        ...{ effect: 'read as both', count: this.inBothClasses.length, example },
      })),
    ]
    return stageTable({
      issue: rows.map(({ issue }) => issue),
      effect: rows.map(({ effect }) => effect),
      count: rows.map(({ count }) => count),
      example: rows.map(({ example }) => example),
    })
  }
}

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
