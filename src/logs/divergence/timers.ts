import { median, quantile } from 'd3-array'
import { LOG_CLASSES, type LogSet } from '../features/log-set.ts'

/** Instances of a class that show their period. */
const MIN_INSTANCES = 3
/** Widest middle half of gaps, within an instance and of its instances, as a share of the period. */
const MAX_SPREAD = 0.15
/** Share of the instances whose number of messages must be that of a timer. */
const MIN_FITTING = 0.75

/**
 * Whether an event is a timer: it comes at even gaps, which are the same in all instances of a class, for as
 * long as they run. What does a fixed piece of work at even gaps comes equally often in all instances; what a
 * slow disk paces comes at other gaps in the other class.
 */
export function isTimer({ events, runTimeUs, classOf }: LogSet, event: number): boolean {
  if (!events.types.includes('count')) return false
  const { instances, values } = events.entries(event)
  const [gaps, spreads, counts] = [values('gap'), values('gapSpread'), values('count')]
  const rows = Array.from(instances, (instance, i) => ({
    code: classOf[instance],
    gap: Number(gaps[i]),
    spread: Number(spreads[i]),
    count: Number(counts[i]),
    runUs: Number(runTimeUs[instance]),
  }))
  const known = rows.filter(({ gap }) => gap > 0)
  if (new Set(rows.map(({ count }) => count)).size < 2) return false
  return LOG_CLASSES.every((_, code) => {
    const own = known.filter((row) => row.code === code)
    const periodUs = median(own, ({ gap }) => gap) ?? Number.NaN
    const [low = 0, high = 0] = [0.25, 0.75].map((p) => quantile(own, p, ({ gap }) => gap))
    const fitting = own.filter(({ count, runUs }) => {
      const expected = runUs / periodUs
      return Math.abs(count - expected) <= Math.max(1, MAX_SPREAD * expected) + 1
    })
    return (
      own.length >= MIN_INSTANCES &&
      high - low <= MAX_SPREAD * periodUs &&
      (median(own, ({ spread }) => spread) ?? 1) <= MAX_SPREAD &&
      fitting.length >= MIN_FITTING * own.length
    )
  })
}
