import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { load, randomPeriods } from './random-periods.ts'
import {
  allOptions,
  everything,
  expectAgreement,
  restored,
  testSameResults,
} from './same-results.ts'

describe('results depend on inputs and options alone', async () => {
  await testSameResults([])

  test('random trace-point graphs agree as well', () => {
    fc.assert(
      fc.property(randomPeriods, allOptions, (periods, options) => {
        const { before, after } = load(periods)
        const fresh = compare(before, after, options)
        const expected = everything(fresh)
        expectAgreement(fresh)
        expect(everything(compare(before, after).with(options))).toEqual(expected)
        expect(everything(restored(fresh))).toEqual(expected)
      }),
      { numRuns: 10 },
    )
  })

  test('asking for the default threshold changes nothing', () => {
    const comparison = compareShops({ archive: 0.1 }, { archive: 0.4 })
    const asked = comparison.with({ smPThreshold: comparison.options.smPThreshold })
    expect(everything(asked)).toEqual(everything(comparison))
  })
})
