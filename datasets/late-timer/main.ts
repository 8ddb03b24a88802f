import { setTimeout as wait } from 'node:timers/promises'
import { download, type PeerSetup } from './peer.ts'

// A process of its own for each peer: `record.ts` starts it and takes the log that it sends back.
process.once('message', async (setup: PeerSetup) => {
  // A process that has just started is busy with itself.
  await wait(200)
  const messages = await download(setup)
  process.send?.(messages, () => process.exit())
})
process.send?.('ready')
