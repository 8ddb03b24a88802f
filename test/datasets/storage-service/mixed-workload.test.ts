import { describe, expect, test } from 'vitest'
import { sfsWorkload } from '../../../datasets/storage-service/cases/sfs-workload.ts'
import { ExpectedFiles } from '../../../datasets/storage-service/client/expected-files.ts'
import type { Step } from '../../../datasets/storage-service/client/step.ts'
import type { MixedWorkload } from '../../../datasets/storage-service/client/workload.ts'
import { mixedSteps } from '../../../datasets/storage-service/client/workloads/mixed.ts'
import { seededRandom } from '../../../datasets/storage-service/random.ts'
import { shares } from '../../../datasets/storage-service/recording/shares.ts'

const withIoBytes = (ioBytes: number): MixedWorkload => ({
  ...sfsWorkload,
  readBytes: [ioBytes],
  writeBytes: [ioBytes],
})

function firstSteps(workload: MixedWorkload, count: number, seed = 'seed'): Step[] {
  const steps = mixedSteps(workload, 0, seededRandom(seed))
  return Array.from({ length: count }, () => steps.next())
}

describe('the mixed workload', () => {
  test('sends the same requests for the same seed, others for another', () => {
    const usual = firstSteps(sfsWorkload, 200)
    expect(firstSteps(sfsWorkload, 200)).toEqual(usual)
    expect(firstSteps(sfsWorkload, 200, 'other')).not.toEqual(usual)
  })

  test('differs between two I/O sizes in nothing but places within a block', () => {
    const blockOf = (step: Step) =>
      'count' in step && !step.name.includes('/n')
        ? { ...step, count: 'any', offset: Math.floor(step.offset / 16384) }
        : { kind: step.kind, name: step.name }
    const before = firstSteps(withIoBytes(16384), 2000)
    const after = firstSteps(withIoBytes(4096), 2000)
    expect(after.map(blockOf)).toEqual(before.map(blockOf))
    const sizes = (steps: Step[]) => new Set(steps.flatMap((s) => ('count' in s ? s.count : [])))
    expect(sizes(before)).toEqual(new Set([16384]))
    expect(sizes(after)).toEqual(new Set([4096]))
  })

  test('keeps READs and WRITEs inside the files there are', () => {
    const steps = mixedSteps({ ...withIoBytes(4096), appendShare: 0 }, 0, seededRandom('x'))
    const ends = new Map<string, number>()
    for (const step of steps.populate()) {
      if (step.kind === 'write') ends.set(step.name, step.offset + step.count)
    }
    for (let i = 0; i < 2000; i++) {
      const step = steps.next()
      if (step.kind !== 'read' && step.kind !== 'write') continue
      expect(step.offset + step.count).toBeLessThanOrEqual(ends.get(step.name) ?? 0)
    }
  })
})

describe('the client', () => {
  test('notices a READ that gives what was there before', () => {
    const files = new ExpectedFiles()
    files.create('d/f')
    const old = files.write('d/f', 0, 64)
    const recent = files.write('d/f', 32, 32)
    files.check('d/f', { offset: 32, count: 32, bytes: recent })
    expect(() => files.check('d/f', { offset: 0, count: 64, bytes: old })).toThrow(
      /READ of d\/f at 0 gave 64 bytes for 64, wrong from byte \d+/,
    )
  })

  test('notices a READ that is cut short', () => {
    const files = new ExpectedFiles()
    files.create('d/f')
    const bytes = files.write('d/f', 0, 64).subarray(0, 63)
    expect(() => files.check('d/f', { offset: 0, count: 64, bytes })).toThrow(
      'gave 63 bytes for 64',
    )
  })
})

test('a recording shares its requests out evenly among its blocks', () => {
  expect(shares(10, 3)).toEqual([4, 3, 3])
})
