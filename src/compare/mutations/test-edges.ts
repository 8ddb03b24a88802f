import { moments } from '../../stats/moments.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeSample } from '../categories/edge-samples.ts'
import type { EdgeComparison, ResponseTimeOptions } from './response-time-mutations.ts'
import { testFamily } from './test-family.ts'

/** Edges are tested when they are on the critical path in this share of either period's requests. */
const OFTEN_CRITICAL = 0.5

/** Compares the edge classes of one category; those on the critical path are tested. */
export function testEdges(
  categories: Categories,
  category: number,
  options: ResponseTimeOptions,
): EdgeComparison[] {
  const { edgeClasses } = categories.structure(category)
  const samples = categories.edgeSamples(category)
  const critical = samples.map(
    ({ before, after }) => Math.max(before.onCriticalPath, after.onCriticalPath) >= OFTEN_CRITICAL,
  )
  const tests = testFamily(
    samples
      .filter((_, number) => critical[number])
      .map(({ before, after }) => ({ before: before.latencyUs, after: after.latencyUs })),
    options,
  )
  let next = 0
  return samples.map(({ before, after }, number) => ({
    edge: edgeClasses[number] as EdgeComparison['edge'],
    number,
    onCriticalPath: critical[number] as boolean,
    ...spread('before', before),
    ...spread('after', after),
    test: critical[number] ? (tests[next++] as EdgeComparison['test']) : null,
  })) as EdgeComparison[]
}

function spread(period: 'before' | 'after', { latencyUs }: EdgeSample) {
  const { mean, sd } = moments(latencyUs)
  return { [`${period}MeanUs`]: mean, [`${period}SdUs`]: sd }
}
