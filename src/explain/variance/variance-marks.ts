import { ascending, range, sort } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { FlowdeltaError, rejectUnknownOptions, requireText, show } from '../../core/errors.ts'

/**
 * Why a source varies, the three I's: a tradeoff somebody chose (`'intentional'`), an accident to
 * be put right (`'inadvertent'`), or a property of the hardware or the architecture
 * (`'intrinsic'`).
 *
 * Source: Sambasivan 2013, §5.3.
 */
export type VarianceKind = 'intentional' | 'inadvertent' | 'intrinsic'

/** A person's note on an edge, by the labels at its ends, in any category. */
export interface VarianceMark {
  readonly from: string
  readonly to: string
  readonly kind: VarianceKind
  /** Why, for those who read the file. */
  readonly note?: string
}

export type EdgeEnds = Pick<VarianceMark, 'from' | 'to'>

const SCHEMA = 'flowdelta.variance-marks/1'
const KINDS: readonly string[] = ['intentional', 'inadvertent', 'intrinsic']
const KEYS: readonly string[] = ['from', 'to', 'kind', 'note']

/**
 * Returns the marks with one more, or with another in place of the one on the same edge. Marks are plain data; nothing
 * is changed.
 *
 * @param marks none at first: `[]`
 * @param mark from and to as tables of edges print them
 * @throws FlowdeltaError for a mark without labels or with a kind that there is not
 *
 * Source: Sambasivan 2013, §5.3 and §5.4.2.
 *
 * @example
 * const disk = { from: 'SN WRITE call', to: 'disk write call', kind: 'intrinsic' }
 * markVariance([], disk).length // 1
 */
export function markVariance(
  marks: readonly VarianceMark[],
  mark: VarianceMark,
): readonly VarianceMark[] {
  requireVarianceMarks(marks)
  const checked = requireMark(mark, 'mark')
  return [...marks.filter((other) => !isSameEdge(other, checked)), checked]
}

/**
 * Marks as the text of a file: JSON, one mark a line, in the order of the labels, so that files
 * under version control differ only where marks do.
 *
 * @throws FlowdeltaError as `parseVarianceMarks`
 *
 * @example
 * const text = serializeVarianceMarks([{ from: 'a', to: 'b', kind: 'intentional' }])
 * parseVarianceMarks(text)[0].kind // 'intentional'
 */
export function serializeVarianceMarks(marks: readonly VarianceMark[]): string {
  const sorted = sort(
    requireVarianceMarks(marks),
    (a, b) => ascending(a.from, b.from) || ascending(a.to, b.to),
  )
  const lines = sorted.map((mark) => `    ${JSON.stringify(mark)}`)
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`
  return `{\n  "schema": "${SCHEMA}",\n  "marks": ${list}\n}\n`
}

/**
 * Reads what `serializeVarianceMarks` wrote, or somebody by hand.
 *
 * A byte order mark at its beginning is passed over.
 *
 * @param options.file what to call the file in messages; default `'marks'`
 * @throws FlowdeltaError for text that is not JSON, another schema, a mark that lacks a label or has
 *   a key or a kind that there is not, or two marks on one edge
 *
 * @example
 * parseVarianceMarks('{ "schema": "flowdelta.variance-marks/1", "marks": [] }') // []
 */
export function parseVarianceMarks(
  text: string,
  options: { readonly file?: string } = {},
): readonly VarianceMark[] {
  requireText('parseVarianceMarks(text)', text)
  rejectUnknownOptions(options, ['file'])
  const { file = 'marks' } = options
  let content: unknown
  try {
    // Some editors begin a file with a byte order mark.
    content = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new FlowdeltaError(
      `${file} is not JSON (${(error as Error).message}). Give a file as the variance explorer saves it.`,
    )
  }
  const { schema, marks } = (content ?? {}) as { schema?: unknown; marks?: unknown }
  if (schema !== SCHEMA) {
    throw new FlowdeltaError(`${file} has schema ${show(schema)}. Give a file of schema ${SCHEMA}.`)
  }
  return requireVarianceMarks(marks, file)
}

export function requireVarianceMarks(marks: unknown, file = 'marks'): readonly VarianceMark[] {
  if (!Array.isArray(marks)) {
    throw new FlowdeltaError(`${file} has ${show(marks)} for marks. Give a list of marks.`)
  }
  const checked = marks.map((mark, i) => requireMark(mark, `${file}, marks[${i}]`))
  checked.forEach((mark, i) => {
    const first = checked.findIndex((other) => isSameEdge(other, mark))
    if (first === i) return
    throw new FlowdeltaError(
      `${file}: marks[${first}] and marks[${i}] are both on the edge from ${show(mark.from)} to ` +
        `${show(mark.to)}. Keep one of them.`,
    )
  })
  return checked
}

export function markOf(marks: readonly VarianceMark[], edge: EdgeEnds): VarianceMark | undefined {
  return marks.find((mark) => isSameEdge(mark, edge))
}

export function isSameEdge(a: EdgeEnds, b: EdgeEnds): boolean {
  return a.from === b.from && a.to === b.to
}

function requireMark(mark: unknown, place: string): VarianceMark {
  if (typeof mark !== 'object' || mark === null) {
    throw new FlowdeltaError(`${place} is ${show(mark)}. Give an object with from, to and kind.`)
  }
  const unknown = Object.keys(mark).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) {
    throw new FlowdeltaError(`${place} has ${show(unknown)}. Give ${KEYS.join(', ')} only.`)
  }
  const { from, to, kind, note } = mark as Record<string, unknown>
  for (const [name, label] of Object.entries({ from, to })) {
    if (typeof label === 'string' && label !== '') continue
    throw new FlowdeltaError(
      `${place} has ${show(label)} for ${name}. Give the label at that end, as tables of edges print it.`,
    )
  }
  if (!KINDS.includes(kind as string)) {
    throw new FlowdeltaError(`${place} has ${show(kind)} for kind. Give ${KINDS.join(', ')}.`)
  }
  if (note !== undefined && typeof note !== 'string') {
    throw new FlowdeltaError(`${place} has ${show(note)} for note. Give text, or leave it out.`)
  }
  return mark as VarianceMark
}

/**
 * Which mark is on which edge of some categories, by the labels at its ends. Of folded flows, whose
 * roots say how often what repeats (`ROOT ×6`), a mark on the root without its size counts as well.
 */
export class MarkedEdges {
  readonly marks: readonly VarianceMark[]
  readonly #categories: Categories
  /** Roots without sizes. */
  readonly #kinds: ReadonlyMap<string, string>

  constructor(categories: Categories, marks: readonly VarianceMark[]) {
    this.marks = marks
    this.#categories = categories
    this.#kinds = marks.length === 0 ? new Map() : kindsOfRoots(categories)
  }

  of({ from, to }: EdgeEnds): VarianceMark | undefined {
    const own = this.marks.find((mark) => isSameEdge(mark, { from, to }))
    const kind = this.#kinds.get(from)
    if (own !== undefined || kind === undefined) return own
    return this.marks.find((mark) => isSameEdge(mark, { from: kind, to }))
  }

  /** Marks on edges that no category has: misspelt, or gone. */
  unused(): VarianceMark[] {
    const unused = new Set(this.marks)
    for (let category = 0; category < this.#categories.size && unused.size > 0; category++) {
      for (const edge of this.#categories.structure(category).edgeClasses) {
        const mark = this.of(edge)
        if (mark !== undefined) unused.delete(mark)
      }
    }
    return [...unused]
  }
}

function kindsOfRoots(categories: Categories): ReadonlyMap<string, string> {
  const each = range(categories.size)
  return new Map(
    each.map((category) => [categories.root(category), categories.requestKind(category)]),
  )
}
