import type { CreationWorkload } from '../client/workload.ts'
import type { Case } from './case.ts'
import { usualService } from './configuration.ts'

const creation: CreationWorkload = { kind: 'creation', workers: 1, thinkMs: 1, directories: 1 }

export const createBehaviour: Case = {
  name: 'create-behaviour',
  description:
    'The first 1,000 CREATEs of a run, and the last 1,000 of its 10,000: the directory grows, ' +
    'and with it the work of adding a file to its index (thesis 3.3.4).',
  before: { service: usualService, workload: creation },
  after: { service: usualService, workload: creation },
  truth: {
    kind: 'structural',
    cause: {
      service: 'mds',
      operation: ['index get', 'index put'],
      mechanism:
        'The index of a directory is a B+ tree of small pages. The more files, the deeper it is ' +
        'and the fewer of its pages are in memory: the metadata server goes back and forth ' +
        'between itself and its storage node, to read a page per level and to write those that ' +
        'recursive splits change.',
    },
    affected: null,
    relevant: {
      kind: 'structural',
      moreOf: { service: 'mds', operation: ['SN READ', 'SN WRITE'] },
    },
    smPThresholds: [10],
  },
  extent: { requests: 1000, blocks: 1, warmUp: 0 },
  requestsBetween: 8000,
}
