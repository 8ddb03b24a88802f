// Over all attributes of a period: the loops index with `!`.
import type { CallForest } from '../calls/call-forest.ts'
import { attributeFeature } from './call-features.ts'
import type { Feature } from './feature.ts'

/** An attribute with more values than this is an id or a measurement, not a kind of request. */
const MOST_VALUES = 16
/** Attributes that are looked at. */
const MOST_KEYS = 24

/**
 * The attributes by which the requests of a period can be divided: those with at least two and at
 * most 16 values that `least` requests or more have each. At most 24, those that most requests have.
 */
export function attributeFeatures(forest: CallForest, least: number): Feature[] {
  const counted = new Map<string, Map<string, number>>()
  const { requestOffsets } = forest
  for (let request = 0; request + 1 < requestOffsets.length; request++) {
    countValues(forest, request, counted)
  }
  return Array.from(counted, ([key, values]) => ({ key, sizes: [...values.values()] }))
    .filter(({ sizes }) => sizes.length <= MOST_VALUES)
    .filter(({ sizes }) => sizes.filter((size) => size >= least).length > 1)
    .map(({ key, sizes }) => ({ key, requests: sizes.reduce((sum, size) => sum + size, 0) }))
    .sort((a, b) => b.requests - a.requests || (a.key < b.key ? -1 : 1))
    .slice(0, MOST_KEYS)
    .map(({ key }) => attributeFeature(key))
}

function countValues(
  forest: CallForest,
  request: number,
  counted: Map<string, Map<string, number>>,
): void {
  const { requestOffsets, serverSpan, clientSpan, traces } = forest
  const seen = new Set<string>()
  const end = requestOffsets[request + 1]!
  for (let call = requestOffsets[request]!; call < end; call++) {
    for (const span of [serverSpan[call]!, clientSpan[call]!]) {
      if (span < 0) continue
      if (traces.attributes.offsets[span] === traces.attributes.offsets[span + 1]) continue
      for (const [key, value] of traces.attributes.entries(span)) {
        // The first of a request's calls that has it counts, as in the feature itself.
        if (seen.has(key)) continue
        seen.add(key)
        let values = counted.get(key)
        if (values === undefined) {
          values = new Map()
          counted.set(key, values)
        }
        if (values.size <= MOST_VALUES) {
          const text = String(value)
          values.set(text, (values.get(text) ?? 0) + 1)
        }
      }
    }
  }
}
