import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import type { LogSet } from '../../src/logs/features/log-set.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { randomSource } from '../../src/stats/random.ts'
import '../property-seed.ts'

interface World {
  readonly seed: number
  readonly runs: number
  readonly slow: number
  /** What each line begins with, and ends with. */
  readonly host: string
  readonly id: (run: number) => string
  readonly constant: string
}

const WORLD: Omit<World, 'seed' | 'runs' | 'slow'> = {
  host: 'web',
  id: (run) => `${run}a7`,
  constant: '',
}
const worlds = fc.record({
  seed: fc.integer({ min: 1, max: 1000 }),
  runs: fc.integer({ min: 4, max: 12 }),
  slow: fc.integer({ min: 2, max: 9 }),
})

/** Runs of a program: it loads some parts, and then waits for a lock, after for longer. */
function runOf({ seed, slow, host, id, constant }: World, run: number, isAfter: boolean) {
  const source = randomSource(100 * seed + run)
  let ms = Date.UTC(2026, 6, 18, 8)
  const line = (text: string, wait: number) => {
    ms += wait * (1 + source.next())
    return `${new Date(ms).toISOString()} INFO [${host}] shop.Server: ${text} boot=${id(run)}${constant}`
  }
  const lines = [
    line('starting', 0),
    ...Array.from({ length: 5 }, (_, i) => line(`loaded part ${i} of 5`, 20)),
    line('has the lock', isAfter ? 40 * slow : 40),
    line(`read ${Math.floor(1e4 * source.next())} bytes`, 5),
    line('ready', 5),
  ]
  return { name: `${isAfter ? 'after' : 'before'} ${run}`, bytes: lines.join('\n') }
}

async function findingsOf(world: World, isSwapped = false) {
  const runs = (isAfter: boolean) =>
    Array.from({ length: world.runs }, (_, i) =>
      runOf(world, i + (isAfter ? world.runs : 0), isAfter),
    )
  const logs: LogSet = await loadLogs({ before: runs(isSwapped), after: runs(!isSwapped) })
  const { divergence, changedPhase } = compareLogs(logs)
  const sign = isSwapped ? -1 : 1
  return {
    variables: divergence.variables
      .map(({ name, kind, score, features }) => ({
        name,
        kind,
        score: score.toPrecision(9),
        t: features.map(({ t }) => (sign * t || 0).toPrecision(9)),
      }))
      .sort((a, b) => (`${a.kind}${a.name}` < `${b.kind}${b.name}` ? -1 : 1)),
    performance: (sign * divergence.performance.t).toPrecision(9),
    phase: changedPhase && [changedPhase.from, changedPhase.to],
  }
}

const once = { numRuns: 5 }

test('before and after swapped give the same findings, with the other sign', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (given) => {
      const world = { ...WORLD, ...given }
      expect(await findingsOf(world, true)).toEqual(await findingsOf(world))
    }),
    once,
  )
})

test('other names of hosts and runs, or a field that is the same in all lines, change no finding', async () => {
  const changes: Partial<World>[] = [
    { host: 'db-7.eu-west.example' },
    { id: (run) => `${((run + 1) * 2_654_435_761).toString(16)}ff` },
    { constant: ' commit=407fa622e9' },
    { constant: ' region=eu' },
  ]
  await fc.assert(
    fc.asyncProperty(worlds, fc.constantFrom(...changes), async (given, change) => {
      const world = { ...WORLD, ...given }
      expect(await findingsOf({ ...world, ...change })).toEqual(await findingsOf(world))
    }),
    once,
  )
})

test('the phase that was planted is found', async () => {
  const found = await findingsOf({ ...WORLD, seed: 1, runs: 8, slow: 8 })
  expect(found.phase).toEqual(['Server: loaded part <num> of <num>', 'Server: has the lock'])
})
