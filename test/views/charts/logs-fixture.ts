import { compareLogs, type LogComparison } from '../../../src/logs/compare-logs.ts'
import { LogBuilder } from '../../../src/logs/features/log-builder.ts'
import { randomSource } from '../../../src/stats/random.ts'

export interface ChainNames {
  readonly flush?: string
  readonly write?: string
  readonly finish?: string
  readonly cache?: string
}

/**
 * 40 before and 40 after instances: a small cache makes flushes late, these writes late, and these the
 * end. `announce` differs as well and has no effect; `heap` neither differs nor has one.
 */
export function compareChainedLogs({
  flush = 'flush',
  write = 'write',
  finish = 'finish',
  cache = 'cache_kb',
}: ChainNames = {}): LogComparison {
  const random = randomSource(5)
  const builder = new LogBuilder()
  for (let i = 0; i < 80; i++) {
    const isBad = i >= 40
    const cacheKb = (isBad ? 50 : 500) * (1 + random.next())
    const flushUs = 1e6 / cacheKb + 500 * random.next()
    const writeUs = flushUs + 3_000 + 500 * random.next()
    builder.setInstance(isBad ? 'after' : 'before', `node ${i}`)
    builder.logEvent(0, 'start')
    builder.logState(10, cache, cacheKb)
    builder.logState(20, 'heap', 100 + random.next())
    builder.logEvent((isBad ? 900 : 300) + 100 * random.next(), 'announce')
    builder.logEvent(flushUs, flush)
    builder.logEvent(writeUs, write)
    builder.logEvent(writeUs + 2_000 + 500 * random.next(), finish)
  }
  return compareLogs(builder.build(), { metric: finish })
}
