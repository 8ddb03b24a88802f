import { describe, expect, test } from 'vitest'
import { logLines } from '../../../datasets/storage-service-logs/log-lines.ts'
import {
  cacheMemory,
  SharedCache,
} from '../../../datasets/storage-service-logs/node/shared-cache.ts'
import { planNodes } from '../../../datasets/storage-service-logs/node-plan.ts'
import { truth } from '../../../datasets/storage-service-logs/truth.ts'
import { describeLogDataset } from './describe-log-dataset.ts'
import { readInstances } from './recorded-logs.ts'

const FOLDER = new URL('../../../datasets/storage-service-logs/', import.meta.url)

describe('storage-service-logs', () => {
  describeLogDataset(FOLDER, truth, 34)

  test('the nodes are those that seed 5 plans', async () => {
    const plans = planNodes({ seed: 5, perClass: 34, blocks: 96 })
    for (const logClass of ['good', 'bad'] as const) {
      const planned = plans.filter((plan) => plan.logClass === logClass)
      const recorded = await readInstances(FOLDER, logClass)
      expect([...recorded.keys()]).toEqual(planned.map(({ instance }) => instance))
      for (const { instance, indexEntries } of planned) {
        const counted = recorded.get(instance)?.filter(({ name }) => name === 'index_entries')
        expect(Math.min(...(counted ?? []).map(({ value = 0 }) => value))).toBe(indexEntries + 12)
      }
    }
  })
})

describe('a plan of nodes', () => {
  test('is the same for the same seed, and another for another', () => {
    const plan = (seed: number) => planNodes({ seed, perClass: 3, blocks: 4 })
    expect(plan(1)).toEqual(plan(1))
    expect(plan(1)).not.toEqual(plan(2))
  })

  test('has one node of each class in every pair', () => {
    const classes = planNodes({ seed: 1, perClass: 9, blocks: 1 }).map(({ logClass }) => logClass)
    for (let i = 0; i < 18; i += 2) expect(classes.slice(i, i + 2).sort()).toEqual(['bad', 'good'])
  })

  test('gives bad nodes the smaller caches, and blocks of the same sizes', () => {
    for (const { logClass, cacheBytes, blockBytes } of planNodes({
      seed: 2,
      perClass: 30,
      blocks: 9,
    })) {
      expect(cacheBytes < 170_000).toBe(logClass === 'bad')
      expect(Math.min(...blockBytes)).toBeGreaterThanOrEqual(48 * 1024)
      expect(Math.max(...blockBytes)).toBeLessThanOrEqual(80 * 1024)
    }
  })
})

describe('a write cache', () => {
  test('is emptied by the bytes that fill it, and by its end', () => {
    let flushes = 0
    const cache = new SharedCache(cacheMemory(), 100, () => {
      flushes += 1
    })
    expect(cache.add(60)).toMatchObject({ dirtyBytes: 60, flushed: false })
    expect(cache.add(40)).toMatchObject({ dirtyBytes: 0, flushed: true })
    expect(cache.finish()).toMatchObject({ flushed: false })
    expect(cache.add(1)).toMatchObject({ dirtyBytes: 1, flushed: false })
    expect(cache.finish()).toMatchObject({ dirtyBytes: 0, flushed: true })
    expect(flushes).toBe(2)
  })
})

test('the lines of a log are in the order of time, with a value for states only', () => {
  const messages = [
    { time: 5, name: 'queue', value: 0 },
    { time: 1, name: 'start' },
  ]
  expect(logLines({ instance: 'node01', messages })).toBe(
    '{"time":1,"instance":"node01","name":"start"}\n{"time":5,"instance":"node01","name":"queue","value":0}\n',
  )
})
