import { describe, expect, test } from 'vitest'
import { download, startSeeder } from '../../../datasets/late-timer/peer.ts'
import { truth } from '../../../datasets/late-timer/truth.ts'
import { describeLogDataset } from '../storage-service-logs/describe-log-dataset.ts'

describe('late-timer', () => {
  describeLogDataset(new URL('../../../datasets/late-timer/', import.meta.url), truth, 36)
})

test('a peer tells interest once a piece, and never before its timer fires', async () => {
  const seeder = await startSeeder()
  const { port } = seeder.address() as { port: number }
  const setup = { seed: 'a', port, pieces: 3, portMappedMs: 5, tableNodes: 40 }
  const messages = await download({ ...setup, timerMs: 30 })
  seeder.close()
  const times = (wanted: string) =>
    messages.filter(({ name }) => name === wanted).map(({ time }) => time)
  expect(times('sent_interested').length).toBe(3)
  expect(times('recv_piece').length).toBe(3)
  const [heard = [], told = []] = ['recv_have', 'sent_interested'].map(times)
  expect(told.every((time, i) => time > Number(heard[i]))).toBe(true)
})
