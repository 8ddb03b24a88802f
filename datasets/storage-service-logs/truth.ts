/** What was planted, for a diagnosis to be judged by; `truth.json` is this and how to record. */
export const truth = {
  name: 'storage-service-logs',
  description: 'Storage nodes that receive, sort and write blocks; one instance a node.',
  metric: 'finish',
  cause:
    'The write cache of the bad nodes is all but off, as with a disconnected battery: it holds 16 to 160 KB, not 192 to 2,048, so most writes are forced to disk before the next.',
  /** A graph names the cause if it shows any of these. */
  planted: { events: ['flush'], states: ['dirty_kb', 'write_us', 'lock_wait_us'] },
  chain: [
    { name: 'dirty_kb', kind: 'state', feature: 'maximum', effect: 'the cache holds fewer bytes' },
    { name: 'flush', kind: 'event', feature: 'count', effect: 'so it is flushed more often' },
    { name: 'write_us', kind: 'state', feature: 'mean', effect: 'so a write takes longer' },
    { name: 'lock_wait_us', kind: 'state', feature: 'mean', effect: 'and the other writer waits' },
    {
      name: 'queue_wait_us',
      kind: 'state',
      feature: 'mean',
      effect: 'so blocks wait in the queue',
    },
    { name: 'write', kind: 'event', feature: 'medianAbsolute', effect: 'and are written later' },
    { name: 'finish', kind: 'event', feature: 'lastAbsolute', effect: 'and the run ends late' },
  ],
  /** These follow from the end of the run, or from a longer queue, and say no more than it does. */
  trivial: { events: ['writer 1 finish', 'writer 2 finish'], states: ['write_queue'] },
  /** These differ between the classes and have no effect on anything. */
  distractors: {
    events: [{ name: 'announce', why: 'a timer that is set to another period in the bad nodes' }],
    states: [{ name: 'index_entries', why: 'counted from another number in the bad nodes' }],
  },
  /** Ordinary variables, some of which are drawn along a little. */
  background: {
    events: ['start', 'receive', 'receive end', 'sort'],
    states: ['heap_kb', 'sort_us', 'written_mb'],
  },
  /** Nodes that the first graph of each kind must show, and must not. */
  expectedFirstGraph: {
    event: { anyOf: ['flush'], noneOf: ['announce'] },
    state: { anyOf: ['dirty_kb', 'write_us', 'lock_wait_us'], noneOf: ['index_entries'] },
  },
} as const
