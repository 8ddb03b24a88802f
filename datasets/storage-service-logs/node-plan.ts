import { type Random, seededRandom } from '../storage-service/random.ts'
import { LOG_CLASSES, type LogClass } from './log-lines.ts'

/** What one storage node is set up like, and what is sent to it. */
export interface NodePlan {
  readonly instance: string
  readonly logClass: LogClass
  /** Bytes that may be in memory only; with so many, the next writer forces them to disk. Planted. */
  readonly cacheBytes: number
  /** The node's own timer before it announces itself. Differs, and does nothing. */
  readonly announceMs: number
  /** Entries of an index that is counted and never read. Differs, and does nothing. */
  readonly indexEntries: number
  readonly blockBytes: readonly number[]
}

interface Range {
  readonly from: number
  readonly to: number
}

const KB = 1024
const BLOCK: Range = { from: 48 * KB, to: 80 * KB }

/** What differs between the classes: the write cache, and two things that have no effect. */
const SET_UP: Readonly<Record<LogClass, Readonly<Record<'cache' | 'announce' | 'index', Range>>>> =
  {
    good: {
      cache: { from: 192 * KB, to: 2048 * KB },
      announce: { from: 10, to: 45 },
      index: { from: 900, to: 1100 },
    },
    // The battery is disconnected: the controller keeps next to nothing, and most writes go through.
    bad: {
      cache: { from: 16 * KB, to: 160 * KB },
      announce: { from: 60, to: 95 },
      index: { from: 2700, to: 3300 },
    },
  }

/**
 * Plans `perClass` nodes of each class and `blocks` writes for each; the classes take turns in
 * pairs, a coin says who is first, so that what the machine does meanwhile is done to both.
 *
 * Sizes of caches are uniform on a logarithmic scale: a cache of half the size is flushed twice as
 * often, however large it is.
 */
export function planNodes(options: {
  readonly seed: number
  readonly perClass: number
  readonly blocks: number
}): NodePlan[] {
  const { seed, perClass, blocks } = options
  const coin = seededRandom(`${seed}/order`)
  const classes = Array.from({ length: perClass }, () =>
    coin.next() < 0.5 ? LOG_CLASSES : LOG_CLASSES.toReversed(),
  ).flat()
  return classes.map((logClass, i) => {
    const instance = `node${String(i + 1).padStart(2, '0')}`
    const { cache, announce, index } = SET_UP[logClass]
    const draw = (of: string) => seededRandom(`${seed}/${instance}/${of}`)
    const sizes = draw('blocks')
    return {
      instance,
      logClass,
      cacheBytes: Math.round(logarithmic(draw('cache'), cache)),
      announceMs: uniform(draw('announce'), announce),
      indexEntries: Math.round(uniform(draw('index'), index)),
      blockBytes: Array.from({ length: blocks }, () => 4 * Math.round(uniform(sizes, BLOCK) / 4)),
    }
  })
}

function uniform(random: Random, { from, to }: Range): number {
  return from + random.next() * (to - from)
}

function logarithmic(random: Random, { from, to }: Range): number {
  return from * (to / from) ** random.next()
}
