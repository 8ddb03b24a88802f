import type { Random } from '../../random.ts'
import type { Step, Steps } from '../step.ts'
import type { SourceBuildWorkload } from '../workload.ts'
import { at, pathOf } from './paths.ts'
import { append, type OwnFile, readWhole, sizeBetween, writeNew } from './whole-file.ts'

/** The requests of one worker. */
export function sourceBuildSteps(
  workload: SourceBuildWorkload,
  worker: number,
  random: Random,
): Steps {
  const { directories, sourcesPerPackage, sourceBytes, headersPerSource, headerBytes } = workload
  const headers = Array.from({ length: Math.floor(workload.headers / workload.workers) }, (_, i) =>
    newFile(i % directories, `h${worker}-${String(i).padStart(4, '0')}.h`),
  )

  function* compile(source: OwnFile, object: OwnFile): Generator<Step, void> {
    yield { kind: 'getattr', name: source.name }
    yield* readWhole(source)
    for (let i = 0; i < headersPerSource; i++) {
      const header = at(headers, Math.floor(random.next() ** 2 * headers.length))
      yield { kind: 'getattr', name: header.name }
      yield* readWhole(header)
    }
    yield* writeNew(object, sizeBetween(sourceBytes, random))
  }

  function* packages(): Generator<Step, never> {
    for (let number = 0; ; number++) {
      const directory = random.below(directories)
      const sources = Array.from({ length: sourcesPerPackage }, (_, i) =>
        newFile(directory, `s${worker}-${String(number).padStart(3, '0')}-${i}.c`),
      )
      for (const source of sources) yield* writeNew(source, sizeBetween(sourceBytes, random))
      for (const source of sources) {
        const object = { name: source.name.replace(/c$/, 'o'), sizeBytes: 0 }
        yield* compile(source, object)
      }
    }
  }

  const steps = packages()
  return {
    *populate() {
      for (const header of headers) {
        yield { kind: 'create', name: header.name }
        yield* append(header, headerBytes, true)
      }
    },
    next: () => steps.next().value,
  }
}

const newFile = (directory: number, file: string): OwnFile => ({
  name: pathOf(directory, file),
  sizeBytes: 0,
})
