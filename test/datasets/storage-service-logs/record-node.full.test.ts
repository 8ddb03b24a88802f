import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planNodes } from '../../../datasets/storage-service-logs/node-plan.ts'
import { recordNode } from '../../../datasets/storage-service-logs/record-node.ts'

test('a node flushes when its cache is full, logs it all, and leaves no file', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'storage-service-logs-test-'))
  try {
    const [plan] = planNodes({ seed: 1, perClass: 1, blocks: 24 })
    const blockBytes = Array.from({ length: 24 }, () => 65_536)
    const node = { ...plan, blockBytes, cacheBytes: 4 * 65_536 } as NonNullable<typeof plan>
    const { log } = await recordNode(node, scratch)
    const count = (name: string) => log.messages.filter((of) => of.name === name).length
    expect(count('flush')).toBe(6)
    expect(count('write')).toBe(2)
    expect(log.messages.findLast(({ name }) => name === 'written_mb')?.value).toBe(2)
    expect(log.messages.at(-1)?.name).toBe('finish')
    expect(await readdir(scratch)).toEqual([])
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
})
