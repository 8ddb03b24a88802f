import { describe, expect, test } from 'vitest'
import { recordSwarm } from '../../../datasets/swarm/record-swarm.ts'
import { planSwarms } from '../../../datasets/swarm/swarm-plan.ts'

// Elsewhere, 127.0.0.1 is the only address of a machine's own that is there without further ado.
describe.skipIf(process.platform !== 'linux')('a swarm of processes', () => {
  const download = { pieces: 6, pieceBytes: 512, bytesPerSecond: 100_000 }

  test.each(['good', 'bad'] as const)('downloads every piece once: %s', async (logClass) => {
    const [plan] = planSwarms({ seed: 1, perClass: 1, downloaders: 3 })
    const logs = await recordSwarm({ logClass, peers: plan?.peers ?? [] }, download)
    expect(logs.map(({ instance }) => instance)).toEqual(['peer001', 'peer002', 'peer003'])
    for (const { messages } of logs) {
      const count = (name: string) => messages.filter((message) => message.name === name).length
      expect(count('recv_piece')).toBe(6)
      expect(count('sent_have')).toBe(6)
      expect(count('handshake')).toBe(count('connect'))
      expect(messages.at(-1)?.name).toBe('finish')
    }
  })
})
