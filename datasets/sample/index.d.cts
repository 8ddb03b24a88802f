/**
 * A recorded case: 100 requests of a storage service before and as many after its storage nodes
 * lose a millisecond in every write. For `loadTraces(sample.before)`.
 */
export declare const sample: { readonly before: URL; readonly after: URL }
