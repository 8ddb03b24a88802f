import type { Case } from './case.ts'
import { sfsService } from './sfs-service.ts'
import { sfsWorkload } from './sfs-workload.ts'

export const control: Case = {
  name: 'control',
  description: 'Two runs of the same service with the same requests: nothing changes.',
  before: { service: sfsService, workload: sfsWorkload },
  after: { service: sfsService, workload: sfsWorkload },
  truth: { kind: 'none', cause: null, affected: null, relevant: { none: true } },
  extent: { requests: 10_000, blocks: 10, warmUp: 100 },
}
