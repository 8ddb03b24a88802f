import type { Case } from './case.ts'
import { sfsService } from './sfs-service.ts'
import { sfsWorkload } from './sfs-workload.ts'

const LAYOUT_SPIN_US = 300

/** Room for the attributes of most files, so that few requests have to ask for a layout. */
const service = {
  ...sfsService,
  frontEnd: { ...sfsService.frontEnd, attributeCacheFiles: 76 },
}

export const rareOperation: Case = {
  name: 'rare-operation',
  description:
    'The metadata server takes three times as long to say where a file lies, which few requests ' +
    'have to ask, and those few do many different things besides.',
  before: { service, workload: sfsWorkload },
  after: {
    service: {
      ...service,
      metadataServer: { ...service.metadataServer, layoutSpinUs: LAYOUT_SPIN_US },
    },
    workload: sfsWorkload,
  },
  truth: {
    kind: 'response-time',
    cause: {
      service: 'mds',
      operation: 'MDS GETLAYOUT',
      mechanism: `A spin loop of ${LAYOUT_SPIN_US} µs before the reply of "MDS GETLAYOUT".`,
    },
    affected: { span: { service: 'mds', operation: 'MDS GETLAYOUT' } },
    relevant: {
      kind: 'response-time',
      changedEdge: {
        to: { service: 'mds', operation: 'MDS GETLAYOUT', point: 'reply' },
        direction: 'slower',
      },
    },
  },
  extent: { requests: 1200, blocks: 2, warmUp: 100 },
}
