/**
 * The trace context of a request that must not be traced: it says that its root, somewhere else,
 * has already been left out by the sampler, and so every service leaves it out too.
 */
export const UNTRACED: Record<string, string> = {
  traceparent: '00-0000000000000000000000000000ffff-000000000000ffff-00',
}
