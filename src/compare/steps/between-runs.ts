import {
  type BlockedSample,
  type BlockedStratum,
  logOf,
  type ModeratedShift,
  moderatedShifts,
} from '../../stats/moderated-shifts.ts'
import { largerP, RunSums, runMeasure, runShifts, shareMeasure } from '../../stats/run-shifts.ts'
import type { ChoiceCounts } from './call-counts.ts'
import { type CountsOptions, type CountsTest, compareCounts } from './compare-counts.ts'
import { countsWithin, type PartOfAfter, testPartsOfAfter, timesWithin } from './parts-of-after.ts'
import type { TimeBlocks } from './time-blocks.ts'

/**
 * Tests all steps within runs (`moderatedShifts`) and, of several runs before, against their
 * differences (`runShifts`): p is the larger one.
 */
export function compareTimes(
  measures: readonly (readonly BlockedStratum[])[],
  blocks: TimeBlocks,
): ModeratedShift[] {
  const { perRun, runs, aligned } = blocks
  const tests = testPartsOfAfter(blocks, (part) =>
    moderatedShifts(timesWithin(measures, part), { perRun, aligned, steady: part !== null }),
  )
  if (runs < 2) return tests
  const between = runShifts(
    measures.map((strata, i) => {
      const measure = runMeasure(strata.map((stratum) => sumsByRun(stratum, perRun, runs)))
      return { ...measure, variance: measure.variance * (tests[i] as ModeratedShift).designEffect }
    }),
  )
  return tests.map((test, i) => ({ ...test, p: largerP(test.p, between[i]) }))
}

function sumsByRun({ before, after }: BlockedStratum, perRun: number, runs: number): RunSums {
  const sums = new RunSums(runs + 1)
  const add = ({ values, blocks }: BlockedSample, runOf: (block: number) => number) => {
    for (let i = 0; i < values.length; i++) {
      sums.add(runOf(blocks[i] as number), logOf(values[i] as number))
    }
  }
  add(before, (block) => Math.floor(block / perRun))
  add(after, () => runs)
  return sums
}

/** The same for how often things are done: `compareCounts`, then between runs; bursts in all of after only. */
export function compareChoices(
  choices: readonly { readonly strata: readonly ChoiceCounts[] }[],
  blocks: TimeBlocks,
  { bursts = false }: Pick<CountsOptions, 'bursts'> = {},
): CountsTest[] {
  const { perRun, runs, aligned } = blocks
  const test = (part: PartOfAfter | null) =>
    compareCounts(
      choices.map(({ strata }) => countsWithin(strata, part)),
      { perRun, aligned, bursts, steady: part !== null },
    )
  // A part of after with a burst, or without, differs from all of before by itself.
  const tests = bursts ? test(null) : testPartsOfAfter(blocks, test)
  if (runs < 2) return tests
  const byRun = (counts: Float64Array) =>
    Array.from({ length: runs + 1 }, (_, run) =>
      counts.subarray(run * perRun, (run + 1) * perRun).reduce((sum, count) => sum + count, 0),
    )
  const between = runShifts(
    choices.map(({ strata }) =>
      shareMeasure(
        strata.map(({ made, chances }) => ({ made: byRun(made), chances: byRun(chances) })),
      ),
    ),
  )
  return tests.map((test, i) => ({ ...test, p: largerP(test.p, between[i]) }))
}
