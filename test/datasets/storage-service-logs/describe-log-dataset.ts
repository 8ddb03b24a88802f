import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { LOG_CLASSES, type LogMessage } from '../../../datasets/storage-service-logs/log-lines.ts'
import { welch } from '../../../src/stats/welch.ts'
import { correlation, featureOf, readInstances } from './recorded-logs.ts'

interface Variable {
  readonly name: string
  readonly kind: string
  readonly feature: string
}
interface Names {
  readonly events: readonly (string | { readonly name: string })[]
  readonly states: readonly (string | { readonly name: string })[]
}
interface Truth {
  readonly metric: string
  readonly planted: Names
  readonly trivial: Names
  readonly distractors: Names
  readonly background: Names
  readonly chain: readonly Variable[]
  readonly recording: object
}

const namesOf = (names: Names, kind: 'events' | 'states') =>
  names[kind].map((named) => (typeof named === 'string' ? named : named.name))

/** What must hold for a recorded set of logs and its truth. */
export function describeLogDataset(folder: URL, truth: object, instancesPerClass: number): void {
  const file: Truth = JSON.parse(readFileSync(new URL('truth.json', folder), 'utf8'))
  const logs = { good: [] as (readonly LogMessage[])[], bad: [] as (readonly LogMessage[])[] }
  const names = new Map<string, string[]>()

  beforeAll(async () => {
    for (const logClass of LOG_CLASSES) {
      const instances = await readInstances(folder, logClass)
      names.set(logClass, [...instances.keys()])
      logs[logClass] = [...instances.values()]
    }
  })

  const performance = (messages: readonly LogMessage[]) =>
    featureOf(messages, file.metric, 'lastAbsolute')
  const values = (logClass: 'good' | 'bad', { name, feature }: Variable) =>
    logs[logClass].map((messages) => featureOf(messages, name, feature))
  const t = (variable: Variable) =>
    welch(values('good', variable), values('bad', variable)).statistic
  const withPerformance = (logClass: 'good' | 'bad', variable: Variable) =>
    correlation(values(logClass, variable), logs[logClass].map(performance))

  test('truth.json is the truth of the code, and how it was recorded', () => {
    const { recording, ...rest } = file
    expect(rest).toEqual(JSON.parse(JSON.stringify(truth)))
    expect(recording).toMatchObject({ seed: expect.any(Number) })
  })

  test(`each class has ${instancesPerClass} instances, no name is in both`, () => {
    expect(logs.good.length).toBe(instancesPerClass)
    expect(logs.bad.length).toBe(instancesPerClass)
    expect(new Set([...names.values()].flat()).size).toBe(2 * instancesPerClass)
  })

  test.each(LOG_CLASSES)('%s logs begin with start at 0, end with finish, and go forward', (of) => {
    for (const messages of logs[of]) {
      expect(messages[0]).toMatchObject({ time: 0, name: 'start' })
      expect(messages.at(-1)).toMatchObject({ name: file.metric })
      const times = messages.map(({ time }) => time)
      expect(times.every(Number.isSafeInteger)).toBe(true)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    }
  })

  test('every variable is in the truth, as what it is, and the other way round', () => {
    const { planted, trivial, distractors, background, chain, metric } = file
    const all = [...logs.good, ...logs.bad].flat()
    for (const kind of ['events', 'states'] as const) {
      const told = [planted, trivial, distractors, background].flatMap((of) => namesOf(of, kind))
      const inChain = chain.filter((of) => `${of.kind}s` === kind).map(({ name }) => name)
      const known = [...told, ...inChain, ...(kind === 'events' ? [metric] : [])]
      const logged = all.filter(({ value }) => (value !== undefined) === (kind === 'states'))
      expect([...new Set(logged.map(({ name }) => name))].sort()).toEqual(
        [...new Set(known)].sort(),
      )
    }
  })

  describe('what was planted is in the data', () => {
    test.each(file.chain)('$name differs, and goes with the end of the run in each class', (of) => {
      expect(Math.abs(t(of))).toBeGreaterThan(5)
      expect(Math.abs(withPerformance('good', of))).toBeGreaterThan(0.5)
      expect(Math.abs(withPerformance('bad', of))).toBeGreaterThan(0.5)
    })

    const distractors: Variable[] = [
      ...namesOf(file.distractors, 'events').map((name) => ({
        name,
        kind: 'event',
        feature: 'lastAbsolute',
      })),
      ...namesOf(file.distractors, 'states').map((name) => ({
        name,
        kind: 'state',
        feature: 'mean',
      })),
    ]
    test.each(distractors)('$name differs more than the run time does, but not with it', (of) => {
      const finish = { name: file.metric, kind: 'event', feature: 'lastAbsolute' }
      expect(Math.abs(t(of))).toBeGreaterThan(Math.abs(t(finish)))
      expect(Math.abs(withPerformance('good', of))).toBeLessThan(0.35)
      expect(Math.abs(withPerformance('bad', of))).toBeLessThan(0.35)
    })
  })

  test('the files are small', async () => {
    const sizes = await Promise.all(
      LOG_CLASSES.map((of) => stat(new URL(`${of}.jsonl.gz`, folder))),
    )
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(90_000)
  })
}
