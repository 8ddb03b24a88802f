/** What was planted, for a diagnosis to be judged by; `truth.json` is this and how to record. */
export const truth = {
  name: 'late-timer',
  description: 'Peers that download a file from a seeder; one instance a peer.',
  metric: 'finish',
  cause:
    'A peer tells its neighbour that it is interested in a new piece when a timer fires, and not when it hears of the piece; the timer of the bad peers fires later, as that of Transmission 2.03.',
  /** A graph names the cause if it shows any of these. */
  planted: { events: ['sent_interested'], states: ['interest_wait_us'] },
  chain: [
    {
      name: 'interest_wait_us',
      kind: 'state',
      feature: 'mean',
      effect: 'what a piece that the neighbour has waits for until the timer fires',
    },
    {
      name: 'sent_interested',
      kind: 'event',
      feature: 'medianAbsolute',
      effect: 'so interest is told later',
    },
    {
      name: 'recv_piece',
      kind: 'event',
      feature: 'medianAbsolute',
      effect: 'and pieces come later',
    },
    {
      name: 'finish',
      kind: 'event',
      feature: 'lastAbsolute',
      effect: 'and the download ends late',
    },
  ],
  /** True, and of little use: each follows the one before it. */
  trivial: { events: ['recv_have', 'recv_unchoke', 'recv_piece'], states: [] },
  /** These differ between the classes and have no effect on anything. */
  distractors: {
    events: [{ name: 'port_mapped', why: 'a timer that is set to another time in the bad peers' }],
    states: [{ name: 'table_nodes', why: 'counted from another number in the bad peers' }],
  },
  background: { events: ['start', 'connect'], states: [] },
  /** Nodes that the first graph of each kind must show, and must not. */
  expectedFirstGraph: {
    event: { anyOf: ['sent_interested'], noneOf: ['port_mapped'] },
    state: { anyOf: ['interest_wait_us'], noneOf: ['table_nodes'] },
  },
} as const
