import { ascending } from 'd3-array'
import { type SpanLogs, statementParts } from '../../traces/log-records.ts'
import { DrainTree, tokensOf } from '../readers/drain/log-templates.ts'

/** Something that code may log. */
export interface Statement {
  /** `error`; empty where records say none. */
  readonly level: string
  /** Class or service that logs it, with the line where that is known: `ContactsServiceImpl#34`. */
  readonly source: string
  /** Template of its text. */
  readonly text: string
}

type Logged = Pick<SpanLogs, 'statements'>

/** A line of code behind a class. */
const LINE = /#\d+$/

/** One statement while its name is not known yet. */
interface Known {
  readonly level: string
  readonly source: string
  readonly groups: Set<{ readonly tokens: string[] } | undefined>
}

/**
 * Names log statements consistently over recordings: by the line of code, where records give it (lines only before
 * and only after that log the same are one moved statement), else by templates that are mined from all of them.
 */
export function nameStatements(
  recordings: readonly Logged[],
  runs: number,
): { readonly statements: readonly Statement[]; readonly codes: readonly Uint32Array[] } {
  const tree = new DrainTree()
  const known = new Map<string, Known>()
  const keyOf = new Map<string, string>()
  // Groups depend on the order of messages, which must not depend on the order of recordings.
  const all = new Set(recordings.flatMap(({ statements }) => statements.values))
  const grouped = [...all].sort(ascending).map((said) => {
    const { level, source, text } = statementParts(said)
    const component = `${level}\t${source.replace(LINE, '')}`
    return { said, level, source, group: tree.add(component, tokensOf(text), '') }
  })
  for (const { said, level, source, group } of grouped) {
    const rest = LINE.test(source) ? '' : `\t${group?.tokens.join(' ') ?? ''}`
    const key = `${level}\t${source}${rest}`
    const statement = known.get(key) ?? { level, source, groups: new Set() }
    statement.groups.add(group)
    known.set(key, statement)
    keyOf.set(said, key)
  }
  const keysOf = (some: readonly Logged[]) =>
    new Set(
      some.flatMap(({ statements }) => statements.values.map((said) => keyOf.get(said) ?? '')),
    )
  const moved = movedLines(known, keysOf(recordings.slice(0, runs)), keysOf(recordings.slice(runs)))
  const keys = [...known.keys()].filter((key) => !moved.has(key))
  const numbers = new Map(keys.map((key, number) => [key, number]))
  const codeOf = (said: string) => {
    const key = keyOf.get(said) ?? ''
    return numbers.get(moved.get(key) ?? key) ?? 0
  }
  return {
    statements: keys.map((key): Statement => {
      const { level, source, groups } = known.get(key) as Known
      const [first] = groups
      return { level, source, text: first?.tokens.join(' ') ?? '' }
    }),
    codes: recordings.map(({ statements }) => Uint32Array.from(statements.values, codeOf)),
  }
}

/** Returns, for lines found only before, the line that logs the same after, if it is another. */
function movedLines(
  known: ReadonlyMap<string, Known>,
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): Map<string, string> {
  const lined = [...known].filter(([, { source }]) => LINE.test(source))
  const isOnly = (own: ReadonlySet<string>, others: ReadonlySet<string>) =>
    lined.filter(([key]) => own.has(key) && !others.has(key))
  const isNew = isOnly(after, before)
  const moved = new Map<string, string>()
  const taken = new Set<string>()
  if (before.size === 0 || after.size === 0) return moved
  for (const [key, was] of isOnly(before, after)) {
    const found = isNew.find(
      ([other, is]) =>
        !taken.has(other) &&
        is.level === was.level &&
        is.source.replace(LINE, '') === was.source.replace(LINE, '') &&
        [...is.groups].some((group) => was.groups.has(group)),
    )
    if (found === undefined) continue
    taken.add(found[0])
    moved.set(key, found[0])
  }
  return moved
}
