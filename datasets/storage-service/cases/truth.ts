import type { Truth as RecordedTruth } from '../../../evaluation/truth.ts'

/**
 * What a case plants, and how to tell that it was found. Written before any result was seen; the
 * recorder adds name and description.
 */
export type Truth = Omit<RecordedTruth, 'name' | 'description'>
