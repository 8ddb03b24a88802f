import type { Random } from '../../random.ts'
import type { Steps } from '../step.ts'
import type { Workload } from '../workload.ts'
import { creationSteps } from './creation.ts'
import { listingSteps } from './listing.ts'
import { mixedSteps } from './mixed.ts'
import { at } from './paths.ts'
import { postmarkSteps } from './postmark.ts'
import { sequentialSteps } from './sequential.ts'
import { sourceBuildSteps } from './source-build.ts'
import { tenantsOfWorkers } from './tenants.ts'

/** What one worker of a workload sends. */
export function stepsOf(workload: Workload, worker: number, random: Random): Steps {
  switch (workload.kind) {
    case 'mixed':
      return mixedSteps(workload, worker, random)
    case 'postmark':
      return postmarkSteps(workload, worker, random)
    case 'creation':
      return creationSteps(workload, worker, random)
    case 'source-build':
      return sourceBuildSteps(workload, worker, random)
    case 'sequential':
      return sequentialSteps(workload, worker)
    case 'listing':
      return listingSteps(workload, worker)
    case 'tenants':
      return stepsOf(at(tenantsOfWorkers(workload), worker).workload, worker, random)
  }
}
