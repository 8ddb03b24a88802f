import { batchJob, innocentBatchJob } from './batch-job.ts'
import { brokenReplica } from './broken-replica.ts'
import type { Case } from './case.ts'
import { control } from './control.ts'
import { createBehaviour } from './create-behaviour.ts'
import { delay1ms } from './delay-1ms.ts'
import { delay100us } from './delay-100us.ts'
import { delay500us } from './delay-500us.ts'
import { loads } from './load.ts'
import { lostKey } from './lost-key.ts'
import { mdsConfig } from './mds-config.ts'
import { mdsPrefetch } from './mds-prefetch.ts'
import { periodicSpikes } from './periodic-spikes.ts'
import { rareOperation } from './rare-operation.ts'
import { rmw } from './rmw.ts'

/** Every case that can be recorded. */
export const cases: readonly Case[] = [
  batchJob,
  brokenReplica,
  control,
  createBehaviour,
  delay100us,
  delay1ms,
  delay500us,
  innocentBatchJob,
  ...loads,
  lostKey,
  mdsConfig,
  mdsPrefetch,
  periodicSpikes,
  rareOperation,
  rmw,
]
