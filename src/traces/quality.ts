import { describePlace, type Place, TraceFormatError, visibleText } from '../core/errors.ts'
import { columnarStage, own, rowTable, type StageTable } from '../core/stage.ts'

/** Effect of an issue on the data that it concerns. */
export type IssueEffect = 'trace skipped' | 'span skipped' | 'log record skipped' | 'kept'

/** One thing in the input that was not as it should be. */
export interface QualityIssue {
  readonly code: string
  readonly effect: IssueEffect
  readonly place: Place
  /** The problem, naming the bad value. */
  readonly message: string
}

const LISTED_PER_CODE = 1000

/** Code of issues about spans that are there twice. */
export const DUPLICATE_SPAN = 'duplicate-span'

/** Code of issues that say which traces of a store are missing; files that are written keep them. */
export const MISSING_TRACES = 'incomplete-answer'
/** Code of issues that say that a file ends in the middle: what followed, and how much, is unknown. */
export const TRUNCATED_FILE = 'truncated-file'

/** Selection of some traces. */
export interface Selected {
  /** Condition in words, as `where` takes it if it is a condition. */
  readonly condition: string
  readonly traces: number
  /** Traces that it was selected from, and those in none of the groups that were selected. */
  readonly of: number
  readonly leftOut: number
}

/** A group of requests that a sample was drawn of: how many there are is exact. */
export interface RequestGroup {
  /** Service and operation of roots, where they have one in common. */
  readonly root: string
  readonly outcome: 'ok' | 'error'
  /** Structures, which are distinguished by how many spans of each operation they have. */
  readonly structures: number
  /** Spans of a request, on average. */
  readonly spans: number
  /** Requests recorded, each as often as its own sampling weight says. */
  readonly requests: number
  /** Requests of them in the sample. */
  readonly sampled: number
  /** Response times of all of them, µs. */
  readonly meanUs: number
  readonly p50Us: number
  readonly p95Us: number
  readonly p99Us: number
}

/** Omissions and doubts of a load. Counts are exact; the list keeps 1,000 issues per code. */
export class Quality extends columnarStage<{
  readonly issues: readonly QualityIssue[]
  readonly counts: ReadonlyMap<string, number>
  /** Ids of traces of which spans were there twice. */
  readonly copied: readonly string[]
  /** Traces that were loaded. */
  readonly traces: number
  readonly skippedTraces: number
  /** Selections made since, one after the other. */
  readonly selected: readonly Selected[]
  /** Groups of requests in a drawn sample, the most frequent first. */
  readonly groups: readonly RequestGroup[]
}>() {
  /** Returns the quality of some of the traces. */
  ofSome(selected: Selected | undefined): Quality {
    return new Quality({ ...this, selected: [...this.selected, ...(selected ? [selected] : [])] })
  }

  /** Returns the quality of a sample that was drawn of some groups. */
  drawnOf(groups: readonly RequestGroup[]): Quality {
    return new Quality({ ...this, groups })
  }

  /** Whether the traces are a sample that was drawn of more. */
  get isOfSample(): boolean {
    return this.groups.some(({ requests, sampled }) => sampled < requests)
  }

  /**
   * Returns one row per group of requests if the traces are a sample, drawn by an engine or `sample`: their exact
   * number, their number in the sample, and exact quantiles of all their times.
   */
  groupTable(): StageTable {
    return rowTable(this.groups, {
      ...own('root outcome structures spans requests sampled meanUs p50Us p95Us p99Us'),
    })
  }

  /** Returns one row per kind of issue: code, effect, count, and the first one found. */
  table(): StageTable {
    const rows = Array.from(this.counts, ([code, count]) => {
      return { code, count, first: this.issues.find((issue) => issue.code === code) }
    })
    return rowTable(rows, {
      code: 'code',
      effect: ({ first }) => first?.effect ?? '',
      count: 'count',
      example: ({ first }) => (first === undefined ? '' : issueText(first)),
    })
  }
}

function issueText({ place, message }: QualityIssue): string {
  return `${describePlace(place)}${message}`
}

/** Notes issues while a file is read; with `strict`, the first skipped one stops the load. */
export class QualityLog {
  readonly #strict: boolean
  readonly #issues: QualityIssue[] = []
  readonly #counts = new Map<string, number>()
  readonly #copied = new Set<string>()
  #skippedTraces = 0
  /** Groups of requests that a sample was drawn of. */
  readonly groups: RequestGroup[] = []

  constructor({ strict = false }: { strict?: boolean } = {}) {
    this.#strict = strict
  }

  note(
    code: string,
    place: Place,
    message: string,
    effect: 'kept' | 'log record skipped' = 'kept',
  ): void {
    this.#add({ code, effect, place, message })
  }

  /** Notes a span or trace left out; throws with the `next` step where the load is strict. */
  skip({ next, ...issue }: QualityIssue & { readonly next: string }): void {
    if (this.#strict && issue.effect !== 'kept') {
      throw new TraceFormatError(issue.message, issue.place, next)
    }
    this.#add(issue)
    if (issue.effect === 'trace skipped') this.#skippedTraces++
  }

  #add(issue: QualityIssue): void {
    const count = (this.#counts.get(issue.code) ?? 0) + 1
    this.#counts.set(issue.code, count)
    if (issue.code === DUPLICATE_SPAN) this.#copied.add(String(issue.place.trace))
    if (count > LISTED_PER_CODE) return
    this.#issues.push({ ...issue, message: visibleText(issue.message) })
  }

  firstIn(file: string): string | undefined {
    const issue = this.#issues.find(({ place }) => place.file === file)
    return issue && issueText(issue)
  }

  finish(traces: number): Quality {
    return new Quality({
      issues: this.#issues,
      counts: this.#counts,
      copied: [...this.#copied],
      traces,
      skippedTraces: this.#skippedTraces,
      selected: [],
      groups: this.groups,
    })
  }
}
