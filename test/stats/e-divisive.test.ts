import { expect, test } from 'vitest'
import { eDivisive } from '../../src/stats/e-divisive.ts'
import { randomSource } from '../../src/stats/random.ts'

test('two levels divide at the first run of the second', () => {
  const [change, ...more] = eDivisive([[5, 6, 5, 6, 5, 6, 5, 9, 8, 9, 8, 9, 8, 9]])
  expect(more).toEqual([])
  expect(change!.at).toBe(7)
  expect(change!.series.map(({ index }) => index)).toEqual([0])
})

test('each of two changes is found with the series that changed there', () => {
  const random = randomSource(3)
  const noise = (run: number, after: number) => random.normal() + (run >= after ? 6 : 0)
  const runs = Array.from({ length: 40 }, (_, run) => run)
  const series = [15, 28, 99, 99].map((after) => runs.map((run) => noise(run, after)))
  const found = eDivisive(series)
  expect(found.map(({ at }) => at)).toEqual([15, 28])
  expect(found.map((change) => change.series.map(({ index }) => index))).toEqual([[0], [1]])
})

test('fewer runs than two sides need, equal values and no series give no change', () => {
  expect(eDivisive([[1, 1, 9, 9, 9]])).toEqual([])
  expect(eDivisive([Array.from({ length: 20 }, () => 3)])).toEqual([])
  expect(eDivisive([])).toEqual([])
})

test('values in another unit divide at the same runs with the same p', () => {
  const random = randomSource(8)
  const values = Array.from({ length: 24 }, (_, run) => random.normal() + (run < 12 ? 0 : 2))
  expect(eDivisive([values.map((value) => 1e6 * value + 5)])).toEqual(eDivisive([values]))
})

test('series of several lengths are refused', () => {
  expect(() => eDivisive([[1, 2], [1]])).toThrow('2 finite values in each')
})

/** Draws of a run; heavy tails and types that move together are what histories have. */
const NOISES = {
  'normal noise': (random: ReturnType<typeof randomSource>) => random.normal(),
  'heavy tails': (random: ReturnType<typeof randomSource>) => random.logNormal(0, 1.5),
}

test.each(Object.entries(NOISES))(
  'of random histories with %s at most one in twenty has a change, whatever types share',
  (_, noise) => {
    const histories = 300
    let alarms = 0
    for (let seed = 1; seed <= histories; seed++) {
      const random = randomSource(seed)
      const shared = Array.from({ length: 18 }, () => noise(random))
      const series = Array.from({ length: 6 }, () => shared.map((each) => each + noise(random)))
      alarms += Number(eDivisive(series, { permutations: 99, seed }).length > 0)
    }
    // 5 % of 300, and two standard errors.
    expect(alarms).toBeLessThanOrEqual(15 + 8)
  },
)
