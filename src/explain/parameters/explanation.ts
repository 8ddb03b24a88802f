import { FlowdeltaError } from '../../core/errors.ts'
import {
  count,
  custom,
  defineOptions,
  level,
  list,
  type OptionsOf,
  oneOf,
  readOptions,
} from '../../core/options.ts'
import { own, rowTable, Stage, type StageTable } from '../../core/stage.ts'
import {
  counted,
  formatDuration,
  grouped,
  listed,
  percent,
  shortText,
  tooltipText,
} from '../../core/words.ts'
import type { PathCondition } from '../../stats/decision-tree/tree.ts'
import { LEFT_OUT_WORDS } from '../../traces/attribute-names.ts'
import {
  askWhatDiffers,
  askWhatIsSlow,
  type ExplainedPath,
  type ParameterQuestion,
  type ParameterQuestionName,
  type Prediction,
  type TreeChoice,
} from './parameter-question.ts'
import {
  type LeftOutParameter,
  type ParameterChoice,
  type ParameterDifference,
  parameterDifferences,
  type QuestionTables,
  requireColumns,
  type Sampling,
  tablesOf,
} from './parameter-table.ts'

export interface ExplanationSubject {
  /** `frontend NFS3 WRITE, category 5, which was category 0`. */
  readonly title: string
  /** Name of the rows' `timeUs`: `response time`, or the edge that changed. */
  readonly time: string
  /** Name of a row: `request` or `call`. */
  readonly rows: string
  readonly words: GroupWords
}

interface Made {
  /** And from which time on a row of `slow` is slow, in µs. */
  readonly tables: QuestionTables & { readonly slowAboveUs: number }
  readonly choice: ParameterChoice
  readonly growth: TreeChoice
  readonly previous?: Explanation
  readonly others?: readonly Explanation[]
}

/**
 * Why requests changed, by their low-level parameters: differences of each parameter by itself, and
 * trees of them whose paths are explanations, the best first.
 */
export class Explanation extends Stage {
  readonly subject: ExplanationSubject
  readonly #made: Made
  #questions: readonly ParameterQuestion[] | undefined
  #differences: readonly ParameterDifference[] | undefined

  /** Use `explainMutation` or `explainEdge` instead. */
  constructor(subject: ExplanationSubject, made: Made) {
    super()
    this.subject = subject
    this.#made = made
  }

  /** How its trees are grown. */
  get growth(): TreeChoice {
    return this.#made.growth
  }

  /** Explanations of the other steps of a finding, the one that separates better first. */
  get others(): readonly Explanation[] {
    return this.#made.others ?? []
  }

  /** The questions that were asked; the one whose parameters separate better comes first. */
  get questions(): readonly ParameterQuestion[] {
    this.#questions ??= this.#ask()
    return this.#questions
  }

  /** Returns the answer to one question; undefined if it was not asked. */
  question(name: ParameterQuestionName): ParameterQuestion | undefined {
    return this.questions.find(({ question }) => question === name)
  }

  /** All explanations, those of the better question first, in each the best first. */
  get paths(): readonly ExplainedPath[] {
    return this.questions.flatMap(({ paths }) => paths)
  }

  /** Every parameter by itself between precursors and mutations, the most different first. */
  get differences(): readonly ParameterDifference[] {
    const { differs } = this.#made.tables
    this.#differences ??=
      differs === null
        ? []
        : parameterDifferences(differs.parameters, differs.rows.labels, differs.rows.weights)
    return this.#differences
  }

  /** Parameters that do not take part, and why. */
  get leftOut(): readonly LeftOutParameter[] {
    const tables = tablesOf(this.#made.tables)
    const used = new Set(tables.flatMap(({ parameters }) => parameters.map(({ name }) => name)))
    const leftOut = tables
      .flatMap((table) => table.leftOut)
      .filter(({ column }) => !used.has(column))
    return [...new Map(leftOut.map((one) => [one.column, one])).values()]
  }

  /** Parameters that have other values after than before, but tell nothing within a period. */
  get changedWithPeriod(): readonly ParameterDifference[] {
    return this.#made.tables.differs?.changedWithPeriod ?? []
  }

  /** Parameters that the user took out. */
  get excluded(): readonly string[] {
    return this.#made.choice.exclude
  }

  /**
   * Returns the explanation without a parameter and those that divide the requests in the same way, to show what else
   * separates them. `undo()` of the result returns this one.
   *
   * @param options.everywhere also take out the attribute of that name everywhere else in the flow; default false
   * @throws FlowdeltaError for an unknown parameter
   */
  without(column: string, { everywhere = false }: { everywhere?: boolean } = {}): Explanation {
    const { tables } = this.#made
    requireColumns(tables, [column])
    const names = tablesOf(tables).flatMap((table) => {
      const same = everywhere ? table.sameAttribute(column) : [column]
      return same.flatMap((name) => table.equalTo(name))
    })
    const { choice } = this.#made
    const exclude = [...new Set([...choice.exclude, ...names])]
    const include = choice.include.filter((name) => !exclude.includes(name))
    return this.#with({ include, exclude })
  }

  /**
   * Returns the same with a parameter that was left out or taken out.
   *
   * @throws FlowdeltaError for a parameter that is not there
   */
  including(column: string): Explanation {
    requireColumns(this.#made.tables, [column])
    const { include, exclude } = this.#made.choice
    return this.#with({
      include: [...new Set([...include, column])],
      exclude: exclude.filter((name) => name !== column),
    })
  }

  /** Returns the same with the explanations of other steps of its finding. */
  beside(others: readonly Explanation[]): Explanation {
    return others.length === 0 ? this : new Explanation(this.subject, { ...this.#made, others })
  }

  /** Returns the explanation that this one was made from by `without` or `including`; itself if by neither. */
  undo(): Explanation {
    return this.#made.previous ?? this
  }

  /** Returns the explanations in sentences, the first `limit` of them; of other steps of a finding, the best. */
  text({ limit = 5 }: { readonly limit?: number } = {}): string {
    const { rows, words } = this.subject
    const lines = [titleOf(this)]
    const isEmpty = ({ paths }: ParameterQuestion) => Math.min(paths.length, limit) === 0
    for (const asked of this.questions.filter((one) => !isEmpty(one))) {
      lines.push(questionText(asked, this.subject))
      for (const path of asked.paths.slice(0, limit)) {
        lines.push(`  ${pathSentence(path, { rows, words })}`)
      }
    }
    const silent = this.others.filter(({ paths }) => paths.length === 0)
    const answered = this.others.filter((one) => !silent.includes(one))
    lines.push(...answered.map((one) => one.text({ limit: 1 })))
    if (silent.length > 0 && this.paths.length > 0)
      lines.push(`No parameter explains ${listed(silent.map(nameOf))}.`)
    const open = this.questions.filter(isEmpty).map((asked) => apartText(asked, this.subject))
    return [...lines, ...notTold([this, ...silent], open)].join('\n')
  }

  /** Names of the parameters that were tried. */
  get tried(): readonly string[] {
    const all = tablesOf(this.#made.tables).flatMap(({ parameters }) => parameters)
    // The presence of a parameter is tried along with its value.
    return [...new Set(all.map(({ name }) => name.replace(/ \(recorded\)$/, '')))]
  }

  override displayText(): string {
    return this.text()
  }

  /** Returns one row per explanation: question, sentence, prediction, and its quality. */
  table(): StageTable {
    return rowTable(this.paths, {
      question: 'question',
      where: conditionsText,
      ...own('predicts requests support precision recall lift separation'),
    })
  }

  /** Returns one row per parameter that does not take part, with the reason. */
  leftOutTable(): StageTable {
    return rowTable(this.leftOut, {
      parameter: 'column',
      reason: ({ reason }) => LEFT_OUT_WORDS[reason],
    })
  }

  /**
   * Returns the requests that a question was asked of, with all their parameters.
   *
   * @throws FlowdeltaError for a question that was not asked
   */
  requestTable(question: ParameterQuestionName = 'what-differs'): StageTable {
    const asked = this.question(question)
    if (asked !== undefined) return asked.table.table()
    throw new FlowdeltaError(
      `The question '${question}' was not asked. Explain with { question: 'both' }, or give ${this.questions.map((one) => `'${one.question}'`).join(' or ')}.`,
    )
  }

  #with(choice: ParameterChoice): Explanation {
    const { differs, slow, slowAboveUs } = this.#made.tables
    const tables = {
      differs: differs?.choose(choice) ?? null,
      slow: slow?.choose(choice) ?? null,
      slowAboveUs,
    }
    return new Explanation(this.subject, { ...this.#made, tables, choice, previous: this })
  }

  #ask(): ParameterQuestion[] {
    const { tables, growth } = this.#made
    const { differs, slow, slowAboveUs } = tables
    return [
      ...(differs === null
        ? []
        : [askWhatDiffers(differs, { ...growth, differences: this.differences })]),
      ...(slow === null ? [] : [askWhatIsSlow(slow, slowAboveUs)]),
    ].sort((a, b) => b.separation - a.separation)
  }
}

const MAX_TRIED = 8

/** Returns one text for several explanations that answer no question; `null` if any does. */
export function unansweredText(given: readonly Explanation[]): string | null {
  const all = given.flatMap((one) => [one, ...one.others])
  if (all.some(({ paths }) => paths.length > 0)) return null
  const open = all.flatMap(({ questions, subject }) =>
    questions.map((asked) => apartText(asked, subject)),
  )
  return notTold(all, open).join('\n')
}

/** Returns the lines on what no parameter separates, on the parameters tried, and on those left out. */
function notTold(all: readonly Explanation[], open: readonly string[]): string[] {
  const left = all.flatMap(({ leftOut }) =>
    leftOut.filter(({ reason }) => reason !== 'constant' && reason !== 'period'),
  )
  const count = new Set(left.map(({ column }) => column)).size
  return [
    ...new Set(all.flatMap((one) => one.changedWithPeriod.map(periodText))),
    ...(open.length > 0
      ? [
          `No parameter tells ${[...new Set(open)].join(', or ')}.`,
          triedText([...new Set(all.flatMap(({ tried }) => tried))]),
        ]
      : []),
    ...(count > 0
      ? [`${counted(count, 'parameter')} left out: identifiers, times and the like (leftOut).`]
      : []),
  ]
}

function triedText(tried: readonly string[]): string {
  if (tried.length === 0) return 'No recorded parameter has different values.'
  const names = tried.slice(0, MAX_TRIED).map(tooltipText)
  const more = tried.length - names.length
  return `Tried: ${listed([...names, ...(more > 0 ? [`${more} more`] : [])])}.`
}

type Asked = Pick<ParameterQuestion, 'question'>

function questionText({ question }: Asked, { time, words }: ExplanationSubject): string {
  if (question === 'what-is-slow') return `What is slow? (${tooltipText(time)})`
  return words.mutation === FAILURE_WORDS.mutation ? 'What fails?' : 'What differs?'
}

/** Names the groups that a question asks parameters to separate: `slow calls from others`. */
function apartText({ question }: Asked, { rows, words }: ExplanationSubject): string {
  if (question === 'what-is-slow') return `slow ${rows}s from others`
  if (words === FAILURE_WORDS || words === CHOICE_WORDS)
    return `${words.mutation} ${rows}s from others`
  return words.mutation === MUTATION_WORDS.mutation
    ? 'mutations from precursors'
    : `${rows}s after from ${rows}s before`
}

/** Returns the title of the explained steps; if no parameter explains them, together with other unexplained ones. */
export function titleOf({ subject: { title }, paths, others }: Explanation): string {
  return listed([tooltipText(title), ...(paths.length === 0 ? others.map(nameOf) : [])])
}

function nameOf({ subject: { title } }: Explanation): string {
  return tooltipText(title.charAt(0).toLowerCase() + title.slice(1))
}

const EXPLAIN_OPTIONS = defineOptions({
  question: oneOf(['both', 'what-differs', 'what-is-slow'], {
    default: 'both',
    sentence:
      'Ask what separates mutations from precursors (or requests after from those before), what separates slow requests after from others, or both',
  }),
  sample: custom<Sampling>({
    default: 'tenth',
    accepts: (value) =>
      value === 'all' || value === 'tenth' || (Number.isInteger(value) && (value as number) >= 2),
    expected: "'all', 'tenth', or a number of requests, 2 or more",
    schema: { anyOf: [{ enum: ['all', 'tenth'] }, { type: 'integer', minimum: 2 }] },
    unit: 'requests',
    sentence:
      'Number of requests to look at: all, a number, or a tenth but at least 100 (up to 10,000 for slow requests)',
  }),
  seed: count({ default: 1, min: 0, sentence: 'Seed of the sample' }),
  include: list({
    default: [],
    unit: 'names of parameters',
    sentence: 'Use these parameters even if they look like identifiers or times',
  }),
  exclude: list({
    default: [],
    unit: 'names of parameters',
    sentence: 'Do not use these parameters',
  }),
  alpha: level({
    default: 0.05,
    sentence:
      'Significance level that the first split must reach, corrected for the number of parameters',
  }),
})

/** Options of the search for explanations by low-level parameters. */
export type ExplainOptions = Partial<OptionsOf<typeof EXPLAIN_OPTIONS>>

export function explainSettings(options: ExplainOptions) {
  const { question, sample, seed, include, exclude, alpha } = readOptions(EXPLAIN_OPTIONS, options)
  return { question, sample, seed, choice: { include, exclude }, growth: { alpha } }
}

/** Names of the two groups of a question. */
export type GroupWords = Readonly<Record<Prediction, string>>

export const MUTATION_WORDS: GroupWords = {
  mutation: 'mutations',
  precursor: 'precursors',
  slow: 'slow',
  usual: 'as fast as usual',
}

export const PERIOD_WORDS: GroupWords = {
  ...MUTATION_WORDS,
  mutation: 'of the period after',
  precursor: 'of the period before',
}

/** Names for requests of one period that fail, and the others. */
export const FAILURE_WORDS: GroupWords = {
  ...MUTATION_WORDS,
  mutation: 'failing',
  precursor: 'not failing',
}

/** Names for calls that show the changed behavior of a finding, and the others. */
export const CHOICE_WORDS: GroupWords = {
  ...MUTATION_WORDS,
  mutation: 'changed',
  precursor: 'not changed',
}

const MOST_LEVELS = 4
const LONGEST_NAME = 100
const LONGEST_LEVEL = 40

export function pathSentence(
  path: ExplainedPath,
  { rows, words }: { readonly rows: string; readonly words: GroupWords },
): string {
  const { predicts, requests, precision, recall, lift, times } = path
  const which = words[predicts]
  const hits = Math.round(precision * requests)
  const share = `${grouped(hits)} of ${grouped(Math.round(requests))} (${percent(precision)})`
  const found = recall === 1 ? 'covering all of them' : `covering ${percent(recall)} of them`
  const often =
    lift >= 1.05
      ? `, ${lift >= 9.95 ? Math.round(lift) : lift.toFixed(1)} times the overall share`
      : ''
  const time =
    times === null || path.question !== 'what-is-slow'
      ? ''
      : `; ${formatDuration(times.hereUs)} on average against ${formatDuration(times.elsewhereUs)} elsewhere`
  return `Where ${conditionsText(path)}, ${rows}s are ${precision < 0.5 ? 'more often ' : ''}${which}: ${share}, ${found}${often}${time}.`
}

export function conditionsText({ conditions }: Pick<ExplainedPath, 'conditions'>): string {
  return conditions.map(conditionWords).join(' and ')
}

export function conditionWords(condition: PathCondition): string {
  const column = shortText(condition.column, LONGEST_NAME)
  if (condition.kind === 'range') {
    const { above, atMost } = condition
    if (above === undefined) return `${column} is at most ${number(atMost as number)}`
    if (atMost === undefined) return `${column} is above ${number(above)}`
    return `${column} is above ${number(above)} and at most ${number(atMost)}`
  }
  return `${column} is ${levelWords(condition)}`
}

function levelWords({ codes, levels }: Extract<PathCondition, { kind: 'levels' }>): string {
  const [first, ...others] = levels.map((level) => {
    const text = shortText(level, LONGEST_LEVEL)
    return text === '' || text.includes(',') ? `"${text}"` : text
  })
  const last = others.pop()
  if (last === undefined) return String(first)
  if (levels.length <= MOST_LEVELS) return `${[first, ...others].join(', ')} or ${last}`
  // Levels are sorted: codes without a gap are all there is from the first to the last.
  const span = (codes.at(-1) as number) - (codes[0] as number)
  if (span === codes.length - 1) return `${first} to ${last} (${grouped(levels.length)} values)`
  const shown = [first, ...others.slice(0, MOST_LEVELS - 1)]
  return `${shown.join(', ')} or ${grouped(levels.length - shown.length)} more`
}

function number(value: number): string {
  return Number.isInteger(value) ? grouped(value) : String(Number(value.toPrecision(9)))
}

function periodText({ column, before, after }: ParameterDifference): string {
  const values = [before, after].map(summaryWords).map(tooltipText)
  return `${tooltipText(column)} changed with the period alone: ${values.join(' before, ')} after.`
}

function summaryWords({ quartiles, commonest }: ParameterDifference['before']): string {
  if (quartiles !== null) {
    const [low, , middle, , high] = quartiles.map((value) => Number(value.toPrecision(5)))
    return low === high ? `${low}` : `${low} … ${middle} … ${high}`
  }
  return commonest.map(([level, share]) => `${level} ${Math.round(share * 100)} %`).join(', ')
}

/** Comparison of a parameter with a value. */
export interface PlainCondition {
  readonly column: string
  readonly op: '<=' | '>' | 'in'
  readonly value: number | readonly string[]
}

/** Returns a condition of a path as comparisons that all hold. */
export function plainConditions(condition: PathCondition): PlainCondition[] {
  const { column } = condition
  if (condition.kind === 'levels') return [{ column, op: 'in', value: condition.levels }]
  const { above, atMost } = condition
  return [
    ...(above === undefined ? [] : [{ column, op: '>' as const, value: above }]),
    ...(atMost === undefined ? [] : [{ column, op: '<=' as const, value: atMost }]),
  ]
}
