import type { Step, Steps } from '../step.ts'
import type { SequentialWorkload } from '../workload.ts'
import { pathOf } from './paths.ts'

/** The requests of one worker: one file after the other. */
export function sequentialSteps(workload: SequentialWorkload, worker: number): Steps {
  const { directories, records, recordBytes: count, strideBytes } = workload

  function* pass(kind: 'read' | 'write', name: string): Generator<Step, void> {
    for (let record = 0; record < records; record++) {
      const offset = record * strideBytes
      yield kind === 'read'
        ? { kind, name, offset, count }
        : { kind, name, offset, count, stable: true }
    }
  }

  function* files(): Generator<Step, never> {
    for (let number = 0; ; number++) {
      const file = `q${worker}-${String(number).padStart(4, '0')}`
      const name = pathOf((worker + number) % directories, file)
      yield { kind: 'create', name }
      for (const kind of ['write', 'write', 'read', 'read'] as const) yield* pass(kind, name)
      yield { kind: 'remove', name }
    }
  }

  const steps = files()
  return {
    *populate() {},
    next: () => steps.next().value,
  }
}
