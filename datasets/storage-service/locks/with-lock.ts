import { inSpan, inStep } from '../telemetry/span.ts'
import type { LockTable } from './lock-table.ts'

const NS_PER_US = 1000

/**
 * Runs `work` while holding the named lock; acquiring and releasing it are steps of their own in
 * the trace, both with the lock's kind and name.
 */
export async function withLock<T>(
  locks: LockTable,
  { name, kind }: { name: string; kind: string },
  work: () => Promise<T>,
): Promise<T> {
  const release = await inSpan('lock acquire', async (span) => {
    const askedNs = process.hrtime.bigint()
    const lock = locks.lockOf(name)
    span.setAttributes({
      'lock.kind': kind,
      'lock.name': name,
      'queue.length': lock.queueLength + Number(lock.held),
    })
    const granted = await locks.acquire(name)
    span.setAttribute('lock.wait_us', Number(process.hrtime.bigint() - askedNs) / NS_PER_US)
    return granted
  })
  try {
    return await work()
  } finally {
    inStep('lock release', (span) => {
      span.setAttribute('lock.name', name)
      release()
    })
  }
}
