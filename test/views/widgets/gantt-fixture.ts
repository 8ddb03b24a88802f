import { compare } from '../../../src/compare/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'

const FOLDER = new URL('../../../datasets/storage-service/mds-prefetch/', import.meta.url).pathname

export const comparison = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)

export const { flows } = comparison

/** A request with many calls, by its row. */
export const large = [...flows.shapeOf.keys()].reduce((best, request) =>
  flows.shapes.nodeCount(flows.shapeOf[request] as number) >
  flows.shapes.nodeCount(flows.shapeOf[best] as number)
    ? request
    : best,
)

export const largeId = flows.ids[large] as string
