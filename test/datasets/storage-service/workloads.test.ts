import { describe, expect, test } from 'vitest'
import { buildWorkload } from '../../../datasets/storage-service/cases/build-workload.ts'
import { createBehaviour } from '../../../datasets/storage-service/cases/create-behaviour.ts'
import { mdsConfig } from '../../../datasets/storage-service/cases/mds-config.ts'
import { sfsWorkload } from '../../../datasets/storage-service/cases/sfs-workload.ts'
import type { Step } from '../../../datasets/storage-service/client/step.ts'
import { thinkTimes } from '../../../datasets/storage-service/client/think-time.ts'
import type {
  SequentialWorkload,
  Workload,
} from '../../../datasets/storage-service/client/workload.ts'
import { stepsOf } from '../../../datasets/storage-service/client/workloads/steps-of.ts'
import { seededRandom } from '../../../datasets/storage-service/random.ts'

const sequential: SequentialWorkload = {
  kind: 'sequential',
  workers: 1,
  thinkMs: 0,
  directories: 1,
  recordBytes: 4096,
  strideBytes: 16384,
  records: 3,
}

function run(workload: Workload, count: number, seed = 'seed') {
  const steps = stepsOf(workload, 0, seededRandom(seed))
  const populate = [...steps.populate()]
  return { populate, sent: Array.from({ length: count }, () => steps.next()) }
}

const workloads = [
  sfsWorkload,
  mdsConfig.before.workload,
  createBehaviour.before.workload,
  buildWorkload,
  sequential,
]

describe('every workload', () => {
  test.each(workloads)('$kind uses no file before it is created or after it is removed', (w) => {
    const { populate, sent } = run(w, 3000)
    const files = new Map<string, number>()
    for (const step of [...populate, ...sent]) {
      const sizeBytes = files.get(step.name)
      if (step.kind === 'create') expect(sizeBytes).toBeUndefined()
      else expect(sizeBytes, `${step.kind} of ${step.name}`).toBeDefined()
      if (step.kind === 'read') {
        expect(step.offset + step.count).toBeLessThanOrEqual(sizeBytes ?? 0)
      }
      const grown = step.kind === 'write' ? step.offset + step.count : 0
      if (step.kind === 'remove') files.delete(step.name)
      else files.set(step.name, Math.max(sizeBytes ?? 0, grown))
    }
  })

  test.each(workloads)('$kind sends the same requests for the same seed', (w) => {
    expect(run(w, 500)).toEqual(run(w, 500))
  })
})

test('a sequential workload writes a file, rewrites it, and reads it twice', () => {
  const brief = (step: Step) => ('offset' in step ? `${step.kind} ${step.offset}` : step.kind)
  const pass = (kind: string) => [0, 16384, 32768].map((offset) => `${kind} ${offset}`)
  expect(run(sequential, 15).sent.map(brief)).toEqual([
    'create',
    ...pass('write'),
    ...pass('write'),
    ...pass('read'),
    ...pass('read'),
    'remove',
    'create',
  ])
})

test('a worker that pauses does so before one in so many requests', () => {
  const workload = { ...sequential, pauses: { everyRequests: 3, pauseMs: 7 } }
  const thinkMs = thinkTimes(workload, seededRandom('seed'))
  expect(Array.from({ length: 7 }, thinkMs)).toEqual([0, 0, 7, 0, 0, 7, 0])
})
