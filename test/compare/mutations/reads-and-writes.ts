import { compare } from '../../../src/comparison/comparison.ts'
import { around, chains, makeGraphs } from '../../make-traces.ts'

const HIT = ['READ', 'HIT', 'REPLY']
const MISS = ['READ', 'MISS', 'DISK', 'REPLY']
const WRITE = ['WRITE', 'REPLY']

/** Categories of so many hits, misses and writes in each period. */
export function categories(before: readonly number[], after: readonly number[]) {
  const period = ([hits = 0, misses = 0, writes = 0]: readonly number[]) =>
    makeGraphs([
      ...chains(HIT, around(100, hits)),
      ...chains(MISS, around(1000, misses)),
      ...chains(WRITE, around(500, writes)),
    ])
  return compare(period(before), period(after)).categories
}
