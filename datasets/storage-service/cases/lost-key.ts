import type { Case, Side } from './case.ts'
import type { MetadataServerConfiguration } from './configuration.ts'
import { sfsService } from './sfs-service.ts'
import { sfsWorkload } from './sfs-workload.ts'

function side(checksums: MetadataServerConfiguration['checksums'] & string): Side {
  const metadataServer = { ...sfsService.metadataServer, checksums }
  return { service: { ...sfsService, metadataServer }, workload: sfsWorkload }
}

export const lostKey: Case = {
  name: 'lost-key',
  description:
    'The metadata server lost the key that checksums are made with: it no longer verifies the ' +
    'records that it finds, and takes them as they are. No span says so; its log does.',
  before: side('verified'),
  after: side('no key'),
  // Of what is compared without logs, nothing changed.
  truth: {
    kind: 'none',
    cause: null,
    affected: null,
    relevant: { none: true },
    logged: {
      service: 'mds',
      after: 'found record',
      noLonger: 'checksum <hex> holds',
      now: 'WARN Records: no key for checksums',
    },
  },
  logs: true,
  extent: { requests: 1200, blocks: 2, warmUp: 100 },
}
