import type { SourceBuildWorkload } from '../client/workload.ts'
import { buildWorkload } from './build-workload.ts'
import type { Case } from './case.ts'
import { usualService } from './configuration.ts'

const patient: SourceBuildWorkload = { ...buildWorkload, thinkMs: 4 }

export const periodicSpikes: Case = {
  name: 'periodic-spikes',
  description:
    'The build takes longer, but not because of the service: its client, busy with something ' +
    'else, stops for a fifth of a second before one in 75 requests (thesis 3.3.6).',
  before: { service: usualService, workload: patient },
  after: {
    service: usualService,
    workload: { ...patient, pauses: { everyRequests: 75, pauseMs: 200 } },
  },
  truth: { kind: 'none', cause: null, affected: null, relevant: { none: true } },
  order: 'together',
  extent: { requests: 4000, blocks: 8, warmUp: 75 },
}
