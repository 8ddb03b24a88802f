import type { SourceBuildWorkload } from '../client/workload.ts'

/** A small source tree, built package by package. */
export const buildWorkload: SourceBuildWorkload = {
  kind: 'source-build',
  workers: 1,
  thinkMs: 2,
  directories: 4,
  headers: 160,
  headerBytes: 6000,
  sourcesPerPackage: 4,
  sourceBytes: { least: 2000, most: 40_000 },
  headersPerSource: 5,
}
