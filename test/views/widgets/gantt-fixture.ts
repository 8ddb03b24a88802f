import { recordedCase } from '../../recorded.ts'

export const comparison = await recordedCase('mds-prefetch')

export const { flows } = comparison

/** A request with many calls, by its row. */
export const large = [...flows.shapeOf.keys()].reduce((best, request) =>
  flows.shapes.nodeCount(flows.shapeOf[request] as number) >
  flows.shapes.nodeCount(flows.shapeOf[best] as number)
    ? request
    : best,
)

export const largeId = flows.ids[large] as string
