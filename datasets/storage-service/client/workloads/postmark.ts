import type { Random } from '../../random.ts'
import type { Step, Steps } from '../step.ts'
import type { PostmarkWorkload } from '../workload.ts'
import { at, pathOf } from './paths.ts'
import { append, type OwnFile, readWhole, sizeBetween, writeNew } from './whole-file.ts'

/** The requests of one worker. */
export function postmarkSteps(workload: PostmarkWorkload, worker: number, random: Random): Steps {
  const pool: OwnFile[] = []
  const { directories, files, workers, fileBytes } = workload
  let creations = 0

  const newFile = (): OwnFile => {
    const file = `p${worker}-${String(creations++).padStart(6, '0')}`
    const made = { name: pathOf(random.below(directories), file), sizeBytes: 0 }
    pool.push(made)
    return made
  }

  function* appendTo(file: OwnFile): Generator<Step, void> {
    yield { kind: 'lookup', name: file.name }
    yield* append(file, sizeBetween(fileBytes, random), false)
    yield { kind: 'commit', name: file.name }
  }

  function* transactions(): Generator<Step, never> {
    for (;;) {
      const file = random.pick(pool)
      yield* random.next() < 0.5 ? readWhole(file) : appendTo(file)
      if (random.next() < 0.5 || pool.length < 2) {
        yield* writeNew(newFile(), sizeBetween(fileBytes, random))
      } else {
        const gone = random.below(pool.length)
        yield { kind: 'remove', name: at(pool, gone).name }
        pool.splice(gone, 1)
      }
    }
  }

  const steps = transactions()
  return {
    *populate() {
      for (let i = 0; i < Math.floor(files / workers); i++) {
        const file = newFile()
        yield { kind: 'create', name: file.name }
        yield* append(file, sizeBetween(fileBytes, random), true)
      }
    },
    next: () => steps.next().value,
  }
}
