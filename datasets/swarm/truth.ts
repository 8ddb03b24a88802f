/** What was planted, for a diagnosis to be judged by; `truth.json` is this and how to record. */
export const truth = {
  name: 'swarm',
  description: 'Peers of small swarms that download a file from each other; one instance a peer.',
  metric: 'finish',
  cause:
    'The peer set of the bad peers compares addresses and ignores ports, so that peers behind one address are taken for one and fewer connect, as in Transmission 2.03.',
  /** A graph names the cause if it shows any of these. */
  planted: { events: ['connect', 'handshake'], states: ['peers_connected'] },
  chain: [
    { name: 'connect', kind: 'event', feature: 'count', effect: 'fewer peers are connected to' },
    { name: 'handshake', kind: 'event', feature: 'count', effect: 'and stay connected' },
    {
      name: 'peers_connected',
      kind: 'state',
      feature: 'mean',
      effect: 'so there are fewer to ask',
    },
    {
      name: 'download_speed',
      kind: 'state',
      feature: 'mean',
      effect: 'so pieces come more slowly',
    },
    { name: 'recv_piece', kind: 'event', feature: 'medianAbsolute', effect: 'and later' },
    {
      name: 'finish',
      kind: 'event',
      feature: 'lastAbsolute',
      effect: 'and the download ends late',
    },
  ],
  /** True, and of little use: pieces received are pieces had and announced; who gets, gives. */
  trivial: {
    events: ['recv_piece', 'sent_have'],
    states: ['pieces_have', 'download_speed', 'upload_speed'],
  },
  /** These differ between the classes and have no effect on anything. */
  distractors: {
    events: [
      { name: 'port_mapped', why: 'a timer that is set to another period in the bad peers' },
    ],
    states: [{ name: 'table_nodes', why: 'counted from another number in the bad peers' }],
  },
  background: { events: ['start'], states: ['heap_kb'] },
  /** Nodes that the first graph of each kind must show, and must not. */
  expectedFirstGraph: {
    event: { anyOf: ['connect', 'handshake'], noneOf: ['port_mapped'] },
    state: { anyOf: ['peers_connected'], noneOf: ['table_nodes'] },
  },
} as const
