import { ascending } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { type SpanLogs, statementParts } from '../../traces/log-records.ts'
import { DrainTree, tokensOf } from '../readers/drain/log-templates.ts'

export interface Statement {
  readonly level: string
  readonly source: string
  readonly text: string
}

const LINE = /#\d+$/

interface Known extends Omit<Statement, 'text'> {
  readonly key: string
  readonly groups: Set<{ readonly tokens: string[] } | undefined>
}

/**
 * Names log statements consistently over recordings: by the line of code, where records give it (lines only before
 * and only after that log the same are one moved statement), else by templates that are mined from all of them.
 */
export function nameStatements(
  recordings: readonly Pick<SpanLogs, 'statements'>[],
  runs: number,
): { readonly statements: readonly Statement[]; readonly codes: readonly Uint32Array[] } {
  const tree = new DrainTree()
  const known = new Map<string, Known>()
  const keyOf = new Map<string, string>()
  const firstOf = new Map<unknown, string>()
  // Groups depend on the order of messages, which must not depend on the order of recordings.
  const all = new Set(recordings.flatMap(({ statements }) => statements.values))
  for (const said of [...all].sort(ascending)) {
    const { level, source, text } = statementParts(said)
    const group = tree.add(`${level}\t${source.replace(LINE, '')}`, tokensOf(text), '')
    // The tokens of a group may still change: its first text stands for it.
    const rest = LINE.test(source) ? '' : `\t${getOrInsert(firstOf, group, () => text)}`
    const key = `${level}\t${source}${rest}`
    const unknown = (): Known => ({ key, level, source, groups: new Set() })
    getOrInsert(known, key, unknown).groups.add(group)
    keyOf.set(said, key)
  }
  const keysOf = (some: readonly Pick<SpanLogs, 'statements'>[]) =>
    new Set(some.flatMap(({ statements }) => statements.values.map((said) => keyOf.get(said))))
  const [before, after] = [keysOf(recordings.slice(0, runs)), keysOf(recordings.slice(runs))]
  const moved = new Map<string, string>()
  if (before.size > 0 && after.size > 0) {
    const lined = [...known.values()].filter(({ source }) => LINE.test(source))
    const isNew = new Set(lined.filter(({ key }) => !before.has(key)))
    for (const was of lined.filter(({ key }) => !after.has(key))) {
      const is = [...isNew].find((one) => isSameText(one, was))
      if (is === undefined) continue
      moved.set(was.key, is.key)
      isNew.delete(is)
    }
  }
  const named = [...known.values()].filter(({ key }) => !moved.has(key))
  const numbers = new Map(named.map(({ key }, number) => [key, number]))
  const codeOf = (said: string) => {
    const key = keyOf.get(said) ?? ''
    return numbers.get(moved.get(key) ?? key) ?? 0
  }
  return {
    statements: named.map(({ level, source, groups: [first] }): Statement => {
      return { level, source, text: first?.tokens.join(' ') ?? '' }
    }),
    codes: recordings.map(({ statements }) => Uint32Array.from(statements.values, codeOf)),
  }
}

function isSameText(one: Known, other: Known): boolean {
  return (
    one.level === other.level &&
    one.source.replace(LINE, '') === other.source.replace(LINE, '') &&
    [...one.groups].some((group) => other.groups.has(group))
  )
}
