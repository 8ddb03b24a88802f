import { OptionError } from '../../core/errors.ts'
import { remembered } from '../../core/remembered.ts'
import type { Categories } from '../categories/categories.ts'
import type { Comparison } from '../comparison.ts'
import type { Finding } from '../findings/finding.ts'
import type { Knowledge } from './knowledge.ts'
import { serviceKey, stepKey, withoutNames } from './names.ts'
import { noteId, threadsOf } from './notes.ts'
import { categoryKey, edgeKey, partsOf } from './parts.ts'

/**
 * What is known with a further note, or a name in place of an older one.
 *
 * @throws OptionError for what is not in the data
 */
export function withNote(
  known: Knowledge,
  { about: asked, text, name, by = '', at = '' }: Told,
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

interface Told {
  readonly about: string
  readonly text?: string
  readonly name?: string
  readonly by?: string
  readonly at?: string
}

/** Something in a comparison that notes and names can be about. */
export interface Subject {
  /** What it is known by in other data as well. */
  readonly about: string
  readonly what: string
}

/**
 * What a key of a knowledge file stands for here, or `undefined` where there is no such thing. Also
 * takes `category 6`, and labels of edges with their hosts. Each kind is listed when it is asked for.
 */
export function subjectOf(source: Comparison | Categories, asked: string): Subject | undefined {
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

const subjectsIn = remembered((categories: Categories) => {
  const found = new Map<string, ReadonlyMap<string, Subject>>()
  return (kind: string) => {
    const known = found.get(kind) ?? listSubjects(categories, kind)
    found.set(kind, known)
    return known
  }
})

function listSubjects(categories: Categories, kind: string): Map<string, Subject> {
  const { flows, options } = categories
  const found = new Map<string, Subject>()
  const add = (subject: Subject, ...also: readonly string[]) => {
    for (const key of [subject.about, ...also]) if (!found.has(key)) found.set(key, subject)
  }
  const recorded = (text: string) => withoutNames(text, options.knowledge)
  if (kind === 'service' || kind === 'step') {
    for (let code = 0; code < flows.labels.size; code++) {
      const { service, operation } = flows.labels.get(code)
      const of = { service: recorded(service), operation: recorded(operation) }
      add({ about: serviceKey(of.service), what: service })
      add({ about: stepKey(of), what: `${service} ${operation}`.trim() })
    }
    return found
  }
  for (let category = 0; category < categories.size; category++) {
    const root = `${categories.root(category)}, category ${category}`
    if (kind === 'flow' || kind === 'category') {
      add({ about: categoryKey(categories, category), what: root }, `category ${category}`)
    }
    for (const { key, node } of kind === 'part' ? partsOf(categories, category) : []) {
      add({ about: key, what: `${node.service} ${node.operation} and what it calls` })
    }
    if (kind !== 'edge') continue
    const { labels, from, to } = categories.structure(category)
    from.forEach((start, edge) => {
      const ends = [start, to[edge] as number] as const
      const what = ends.map((node) => labels[node]).join(' → ')
      add({ about: edgeKey(categories, category, ends), what }, `edge:${what}`)
    })
  }
  return found
}
