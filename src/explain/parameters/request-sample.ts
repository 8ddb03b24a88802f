import { OptionError } from '../../core/errors.ts'
import { randomSource } from '../../stats/random.ts'

/** How many requests a table is made from. */
export type Sampling = 'all' | 'tenth' | number

const FEWEST = 100
const SHARE = 0.1

/**
 * Some of the requests of two groups: a tenth but at least 100 (`'tenth'`), a number of your own, or
 * all. Each group gives the same share of its requests, and at least one; in the order they had.
 *
 * Source: Sambasivan 2013, §2.6.6, for the tenth; the groups are sampled apart.
 *
 * @throws OptionError for a sampling that is none
 */
export function sampleRequests<T>(
  groups: readonly (readonly T[])[],
  { sample, seed }: { sample: Sampling; seed: number },
): (readonly T[])[] {
  const total = groups.reduce((sum, { length }) => sum + length, 0)
  const size = sampleSize(sample, total)
  if (size >= total) return [...groups]
  const random = randomSource(seed)
  return groups.map((group) => {
    const count = Math.max(Math.min(1, group.length), Math.round((size * group.length) / total))
    const chosen = random.shuffle([...group.keys()]).slice(0, count)
    return chosen.sort((a, b) => a - b).map((at) => group[at] as T)
  })
}

function sampleSize(sample: Sampling, total: number): number {
  if (sample === 'all') return total
  if (sample === 'tenth') return Math.min(total, Math.max(FEWEST, Math.floor(SHARE * total)))
  if (Number.isInteger(sample) && sample >= 2) return sample
  throw new OptionError('sample', sample, "'all', 'tenth', or a number of requests, 2 or more")
}
