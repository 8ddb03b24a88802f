import { getOrInsert } from '../core/entries.ts'
import { OptionError } from '../core/errors.ts'
import { memoized, remembered } from '../core/remembered.ts'
import { listed } from '../core/words.ts'
import { operationName } from '../flows/node-labels.ts'
import type { Categories } from './categories/categories.ts'
import { categoryKey, edgeKey, type Part, partsOf } from './categories/parts.ts'
import type { Comparison } from './comparison.ts'
import type { Finding } from './findings/finding.ts'
import type { Knowledge } from './knowledge/knowledge.ts'
import { shownKeys } from './knowledge/names.ts'
import { noteId, threadsOf } from './words/notes.ts'

/**
 * Returns the knowledge with a further note, or with a name in place of an older one.
 *
 * @throws OptionError if the subject is not in the data
 */
export function withNote(
  known: Knowledge,
  { about: asked, text, name, by = '', at = '' }: TaughtNote,
  source: Comparison | Categories,
): Knowledge {
  const answered = known.notes.find((note) => noteId(note) === asked)
  const subject = answered ?? subjectOf(source, asked)
  if (subject === undefined) {
    const ids = 'findings' in source ? findingsOf(source).map(({ id }) => id) : []
    throw new OptionError(
      text === undefined ? 'name' : 'about',
      asked,
      `the id of a finding (${ids.join(', ') || 'there is none'}), of a note, or of something that flowdelta teach or proposeNames lists; 'category 6', or 'edge:FROM → TO'`,
    )
  }
  const { about } = subject
  const { names = [], notes } = known
  const said = { by, at }
  return {
    ...known,
    ...(name !== undefined && {
      names: [...names.filter((old) => old.about !== about), { about, name, ...said }],
    }),
    ...(text !== undefined && {
      notes: [...notes, { about, text, ...said, ...(answered && { to: asked }) }],
    }),
  }
}

/** A remark, or a name, of something in the data. */
export interface TaughtNote {
  /**
   * Id of a finding; `service:SN`, `step:SN READ` or `part-…` as `proposeNames` lists them; `category 6`;
   * `edge:FROM → TO` with the labels of its nodes; of a reply, the id of a note.
   */
  readonly about: string
  /** Text of the note, or `undefined` for a name. */
  readonly text?: string
  /** New name, which replaces an older one. */
  readonly name?: string
  readonly by?: string
  readonly at?: string
}

/** Something in a comparison that notes and names can be about. */
export interface Subject {
  /** Key that identifies it in other data as well. */
  readonly about: string
  readonly what: string
  /** Calls in it, itself included. */
  readonly calls: number
  readonly categories: ReadonlySet<number>
  /** For a part, the keys of the calls that make it; `null` for none. */
  readonly within: ReadonlySet<string | null>
}

/**
 * Returns the subject that a key of a knowledge file stands for, or `undefined` if there is none. Also takes `category
 * 6`, and labels of edges with their hosts. Lists each kind on first use.
 */
export function subjectOf(
  source: Comparison | Categories,
  asked: string,
): Pick<Subject, 'about' | 'what'> | undefined {
  const [, kind = ''] = /^([a-z]+)/.exec(asked) ?? []
  const categories = 'categories' in source ? source.categories : source
  if ('findings' in source) {
    const finding = findingsOf(source).find(({ id }) => id === asked)
    if (finding !== undefined) return { about: asked, what: finding.title }
  }
  return subjectsIn(categories)(kind).get(asked)
}

function findingsOf({ findings }: Comparison): Finding[] {
  return findings.findings.flatMap((one) => [one, ...one.consequences])
}

/** Threads about something in a comparison, and how many others the file has. */
export function notesIn(comparison: Comparison) {
  const threads = threadsOf(comparison.options.knowledge?.notes ?? [])
  const told = threads.flatMap((thread) => {
    const subject = subjectOf(comparison, thread.note.about)
    return subject === undefined ? [] : [{ what: subject.what, thread }]
  })
  return { told, elsewhere: threads.length - told.length }
}

/** Lists the subjects of a kind, by key, on first use. */
export const subjectsIn = remembered((categories: Categories) =>
  memoized((kind: string): ReadonlyMap<string, Subject> => listSubjects(categories, kind)),
)

interface Place {
  readonly category: number
  readonly calls?: number
  readonly within?: string | null
  /** Another key of the same. */
  readonly also?: string
}

function listSubjects(categories: Categories, kind: string): Map<string, Subject> {
  const { flows, options } = categories
  const found = new Map<string, Subject & { categories: Set<number>; within: Set<string | null> }>()
  const add = (about: string, what: string, place: Place) => {
    const { category, calls = 1, within = null, also = about } = place
    const known = getOrInsert(found, about, () => {
      const within = new Set<string | null>()
      return { about, what, calls, categories: new Set<number>(), within }
    })
    known.categories.add(category)
    known.within.add(within)
    found.set(also, known)
  }
  for (let category = 0; category < categories.size; category++) {
    if (kind === 'service' || kind === 'step') {
      for (const code of new Set(flows.shapes.labels(categories.outline(category).shape))) {
        const label = flows.labels.get(code)
        const { service, operation } = label
        const { ofService, ofStep } = shownKeys(label, options.knowledge)
        if (kind === 'step') add(ofStep, `${service} ${operation}`.trim(), { category })
        else if (service !== '') add(ofService, service, { category })
      }
    } else if (kind === 'flow' || kind === 'category') {
      const also = `category ${category}`
      const what = `${categories.root(category)}, ${also}`
      add(categoryKey(categories, category), what, { category, also })
    } else if (kind === 'part') {
      const parts = partsOf(categories, category)
      for (const part of parts) add(part.key, partText(part, parts), { category, ...part })
    } else if (kind === 'edge') {
      const { labels, from, to } = categories.structure(category)
      from.forEach((start, edge) => {
        const end = to[edge] as number
        const what = `${labels[start]} → ${labels[end]}`
        const ends = [start, end].map((node) => categories.shownNode(category, node))
        add(edgeKey(categories, ends), what, { category, also: `edge:${what}` })
      })
    }
  }
  return found
}

function partText(part: Part, parts: readonly Part[]): string {
  const own = operationName(part.node)
  const called = new Set<string>()
  let level = part.children
  while (level.length > 0) {
    const calls = level.map((call) => parts[call] as Part)
    for (const { node } of calls) called.add(operationName(node))
    level = calls.flatMap(({ children }) => children)
  }
  // A client and its server often have one name.
  called.delete(own)
  return called.size === 0 ? own : `${own} with ${listed([...called], 3)}`
}
