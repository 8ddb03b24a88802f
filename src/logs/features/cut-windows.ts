import { max, min } from 'd3-array'
import { type ClosedInstance, OpenInstance } from './open-instance.ts'

/** An instance that is to be part of a set of logs. */
export interface Row {
  readonly id: string
  readonly classCode: number
  /** Messages that only tell others apart. */
  readonly facets: number
  readonly closed: ClosedInstance
}

/** Windows that the shorter of two logs is cut into, at least. */
const MIN_WINDOWS = 20
/** Windows that the longer one is cut into, at most: beyond, one time in it is decades off. */
const MAX_WINDOWS = 100_000
/** Lengths that a person would ask for, in seconds. */
const LENGTHS_S = [
  ...[0.001, 0.01, 0.1, 1].flatMap((s) => [s, 2 * s, 5 * s]),
  ...[10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400],
]

/**
 * Where each class is one log whose messages are still there, the windows of both; undefined otherwise, and
 * where the shorter one is too short, or the longer one far too long.
 */
export function cutWindows(
  rows: readonly Row[],
  instances: readonly unknown[],
  close: (window: OpenInstance) => ClosedInstance,
): { readonly lengthUs: number; readonly rows: readonly Row[] } | undefined {
  const logs = instances.filter((each) => each instanceof OpenInstance)
  const isOneEach = rows.length === 2 && rows[0]?.classCode !== rows[1]?.classCode
  if (!isOneEach || logs.length < 2) return undefined
  const shortestUs = min(logs, ({ spanUs }) => spanUs) ?? 0
  const seconds = LENGTHS_S.findLast((length) => length * 1e6 * MIN_WINDOWS <= shortestUs)
  if (seconds === undefined) return undefined
  const lengthUs = seconds * 1e6
  const longestUs = max(logs, ({ spanUs }) => spanUs) ?? 0
  if (longestUs > MAX_WINDOWS * lengthUs) return undefined
  const cut = rows.flatMap(({ id, classCode }, i) =>
    (logs[i]?.windows(lengthUs) ?? []).map((window, k): Row => {
      return { id: `${id} ${k + 1}`, classCode, facets: 0, closed: close(window) }
    }),
  )
  return { lengthUs, rows: cut }
}
