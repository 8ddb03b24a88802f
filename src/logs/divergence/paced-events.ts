import { greatest } from 'd3-array'
import { LOG_CLASSES, type LogSet } from '../features/log-set.ts'

/** An event that comes at other intervals, of one log each, which no test can compare. */
export interface PacedEvent {
  readonly name: string
  /** Mean time from one message to the next. */
  readonly beforeGapUs: number
  readonly afterGapUs: number
  readonly beforeCount: number
  readonly afterCount: number
  /** How much more time as many messages take. */
  readonly changeUs: number
}

/** Fewer messages have no interval. */
const MIN_MESSAGES = 3
/** Share of the change of performance that the intervals must account for. */
const MIN_SHARE = 0.5

/** The event whose intervals account for most of `changeUs`; undefined where none does for half of it. */
export function pacedEvent({ events, classOf }: LogSet, changeUs: number): PacedEvent | undefined {
  const all = events.names.flatMap((name, variable): PacedEvent[] => {
    const { instances, values } = events.entries(variable)
    const [counts, firsts, lasts] = [
      values('count'),
      values('firstAbsolute'),
      values('lastAbsolute'),
    ]
    const [before, after] = LOG_CLASSES.map((_, code) => {
      const i = instances.findIndex((instance) => classOf[instance] === code)
      const count = Number(counts[i] ?? 0)
      return { count, gapUs: (Number(lasts[i]) - Number(firsts[i])) / (count - 1) }
    })
    if (before === undefined || after === undefined) return []
    const count = Math.min(before.count, after.count)
    if (count < MIN_MESSAGES) return []
    const [beforeGapUs, afterGapUs] = [before.gapUs, after.gapUs]
    const own = { beforeGapUs, afterGapUs, changeUs: (afterGapUs - beforeGapUs) * (count - 1) }
    return [{ name, beforeCount: before.count, afterCount: after.count, ...own }]
  })
  const most = greatest(all, (event) => Math.sign(changeUs) * event.changeUs)
  if (most === undefined || changeUs === 0) return undefined
  return most.changeUs / changeUs >= MIN_SHARE ? most : undefined
}
