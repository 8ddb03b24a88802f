import type { Random } from '../../random.ts'
import type { Steps } from '../step.ts'
import type { CreationWorkload } from '../workload.ts'
import { pathOf } from './paths.ts'

const NAMES = 0x1000000

/** The requests of one worker: names that come in no order, so that every page may be the next. */
export function creationSteps(workload: CreationWorkload, worker: number, random: Random): Steps {
  const used = new Set<number>()
  return {
    *populate() {},
    next() {
      let number = random.below(NAMES)
      while (used.has(number)) number = random.below(NAMES)
      used.add(number)
      const file = `${number.toString(16).padStart(6, '0')}-${worker}`
      return { kind: 'create', name: pathOf(random.below(workload.directories), file) }
    },
  }
}
