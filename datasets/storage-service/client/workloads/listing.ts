import type { Step, Steps } from '../step.ts'
import type { ListingWorkload } from '../workload.ts'
import { directoryName, pathOf } from './paths.ts'

/** The requests of one worker: directory after directory is listed. */
export function listingSteps(workload: ListingWorkload, worker: number): Steps {
  const { directories, firstDirectory, files } = workload
  const listed = Array.from({ length: directories - firstDirectory }, (_, i) => firstDirectory + i)

  function* again(): Generator<Step, never> {
    for (;;) for (const one of listed) yield { kind: 'list', name: directoryName(one) }
  }

  const steps = again()
  return {
    *populate() {
      for (const directory of listed) {
        for (let i = 0; i < files; i++) {
          yield {
            kind: 'create',
            name: pathOf(directory, `l${worker}-${String(i).padStart(4, '0')}`),
          }
        }
      }
    },
    next: () => steps.next().value,
  }
}
