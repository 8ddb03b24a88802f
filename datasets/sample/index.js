/** A recorded case: a storage service before and after its storage nodes became slower. */
export const sample = Object.freeze({
  before: new URL('before.jsonl.gz', import.meta.url),
  after: new URL('after.jsonl.gz', import.meta.url),
})
