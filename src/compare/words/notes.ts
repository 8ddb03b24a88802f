import { fingerprint } from '../../core/fingerprint.ts'
import { printable } from '../../core/words.ts'
import type { Categories } from '../categories/categories.ts'
import { categoryKey, edgeKey } from '../categories/parts.ts'
import type { Draft } from '../findings/finding.ts'
import type { Note } from '../knowledge/knowledge.ts'
import { shownKeys } from '../knowledge/names.ts'

export interface NoteThread {
  readonly id: string
  readonly note: Note
  readonly replies: readonly NoteThread[]
}

/** Returns the id that a reply names its note by. */
export function noteId({ about, text, by, at }: Note): string {
  return `note-${fingerprint(JSON.stringify([about, text, by, at]))}`
}

/** Notes with their replies; a reply to a note that there is not stands by itself. */
export function threadsOf(notes: readonly Note[]): NoteThread[] {
  const told = new Set<Note>()
  const thread = (note: Note): NoteThread => {
    told.add(note)
    const id = noteId(note)
    const replies = notes.filter((one) => one.to === id && !told.has(one)).map(thread)
    return { id, note, replies }
  }
  const ids = new Set(notes.map(noteId))
  const first = notes.filter(({ to }) => to === undefined || !ids.has(to)).map(thread)
  // In a circle of replies, no note is the first.
  return [...first, ...notes.flatMap((note) => (told.has(note) ? [] : [thread(note)]))]
}

/** Returns the author and date of a note: `on 2026-09-03 by Ann`. */
export function saidText({ at, by }: Pick<Note, 'at' | 'by'>): string {
  return `${at === '' ? '' : `on ${at.slice(0, 10)}`}${by === '' ? '' : ` by ${printable(by)}`}`.trim()
}

/** Returns a thread on one line: `on 2026-09-03 by Ann: A slow disk. → on 2026-09-04 by Bob: Replaced.` */
export function threadText({ note, replies }: NoteThread, verb = ''): string {
  const said = [verb, saidText(note)].filter((part) => part !== '').join(' ')
  const own = `${said === '' ? '' : `${said}: `}${printable(note.text)}`
  return [own, ...replies.map((reply) => threadText(reply))].join(' → ')
}

/** Returns notes on a finding, also those of earlier incidents, and on its subjects, by their keys. */
export function noteTexts(
  notes: readonly Note[],
  id: string,
  names: ReadonlyMap<string, string>,
): string[] {
  return threadsOf(notes).flatMap((thread) => {
    if (thread.note.about === id) return [threadText(thread, 'seen')]
    const name = names.get(thread.note.about)
    return name === undefined ? [] : [`${printable(name)}, ${threadText(thread, 'noted')}`]
  })
}

/** Returns the subjects of a draft that notes can be about, as keys of a knowledge file. */
export function subjectsOf(
  categories: Categories,
  { services, steps, changedEdges, categories: ids }: Draft,
): ReadonlyMap<string, string> {
  const { knowledge } = categories.options
  const keys = (service: string, operation = '') => shownKeys({ service, operation }, knowledge)
  const names = new Map<string, string>()
  for (const service of services) names.set(keys(service).ofService, service)
  for (const { service, operation } of steps) {
    names.set(keys(service, operation).ofStep, `${service} ${operation}`)
  }
  for (const { fromNode, toNode, from, to } of changedEdges) {
    names.set(edgeKey(categories, [fromNode, toNode]), `${from} → ${to}`)
  }
  for (const id of ids) {
    names.set(categoryKey(categories, id), `${categories.root(id)}, category ${id}`)
  }
  return names
}
