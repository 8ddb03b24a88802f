import { type ServiceConfiguration, usualService } from './configuration.ts'

/** The service as it should run under the SFS-like workload: caches that hold a part of its files. */
export const sfsService: ServiceConfiguration = {
  ...usualService,
  storageNodes: { ...usualService.storageNodes, cacheBlocks: 200 },
  metadataServer: { ...usualService.metadataServer, pageCachePages: 10 },
  frontEnd: { ...usualService.frontEnd, cacheBlocks: 240, attributeCacheFiles: 70 },
}
