import { greatest } from 'd3-array'
import { FlowdeltaError } from './errors.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Returns a page of a document, at most `budget` bytes: first the fields that are no lists, then the entries of its
 * lists in order. An entry too large for any page loses the ends of its lists, and says how many items.
 *
 * @param options.cursor `next` of the page before; default: the first page
 */
export function jsonPage(
  document: Json,
  { budget, cursor = '0' }: { readonly budget: number; readonly cursor?: string },
): string {
  const fields = Object.entries(document)
  const isList = ([, value]: readonly [string, unknown]) => Array.isArray(value) && value.length > 0
  const first = Object.fromEntries(fields.filter((field) => !isList(field)))
  const entries = fields
    .filter(isList)
    .flatMap(([list, values]) => (values as readonly Json[]).map((value) => ({ list, value })))
  const items: Json[] = [first, ...entries]
  const from = Number(cursor)
  if (!(Number.isInteger(from) && from >= 0 && from < items.length)) {
    throw new FlowdeltaError(`There is no page ${cursor}. Give \`next\` of an answer.`)
  }
  const write = (to: number, shown: readonly Json[]) =>
    JSON.stringify({ items: shown, of: items.length, next: to < items.length ? String(to) : null })
  const room = budget - 100
  let shown = [cut(items[from] as Json, room)]
  for (let to = from + 1; to < items.length; to++) {
    const more = [...shown, items[to] as Json]
    if (Buffer.byteLength(write(to + 1, more)) > budget) break
    shown = more
  }
  return write(from + shown.length, shown)
}

/** Returns a value of limited size: its longest lists and texts are halved until it fits. */
function cut(value: Json, room: number): Json {
  const copy = structuredClone(value) as Json
  const leftOut: Record<string, number> = {}
  while (Buffer.byteLength(JSON.stringify({ ...copy, leftOut })) > room) {
    const longest = longestPart(copy)
    if (longest === undefined) break
    const { owner, key, path } = longest
    const part = owner[key] as string | readonly unknown[]
    const half = Math.floor(part.length / 2)
    owner[key] = part.slice(0, half)
    leftOut[path] = (leftOut[path] ?? 0) + part.length - half
  }
  return Object.keys(leftOut).length === 0 ? copy : { ...copy, leftOut }
}

interface Part {
  readonly owner: Record<string, unknown>
  readonly key: string
  readonly path: string
  readonly bytes: number
}

/** Returns the list or text within a value that takes the most room. */
function longestPart(value: unknown, path = ''): Part | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const owner = value as Record<string, unknown>
  const parts = Object.entries(owner).flatMap(([key, part]): Part[] => {
    const at = path === '' ? key : `${path}.${key}`
    const isLong = (Array.isArray(part) || typeof part === 'string') && part.length > 1
    const own = isLong ? [{ owner, key, path: at, bytes: JSON.stringify(part).length }] : []
    return [...own, longestPart(part, at) ?? []].flat()
  })
  return greatest(parts, ({ bytes }) => bytes)
}
