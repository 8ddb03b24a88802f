import { expect } from 'vitest'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { RequestModel } from '../../src/whatif/recompute/request-model.ts'

/** Recomputes every call from its own recorded parts; whatever differs in the last bit is found. */
export function expectIdentity(traces: SpanTraces): void {
  const model = new RequestModel(learnExecutionModels(traces), 0)
  const { forest, preprocessingUs, replyUs } = model
  const calls = forest.path.map((_, call) => call)
  const networkUs = forest.latencyUs.map((us, call) => us - (forest.serverUs[call] as number))
  const same = { calls, preprocessingUs, replyUs, networkUs }
  const roots = calls.filter((call) => forest.parent[call] === -1)
  const recordedUs = Float64Array.from(
    roots,
    (call) => traces.spans.durationUs[rootSpan(forest, call)] as number,
  )
  expect(roots.length).toBeGreaterThan(0)
  expect(model.responseTimes([])).toEqual(recordedUs)
  expect(model.responseTimes([same])).toEqual(recordedUs)
}

/** The span that a caller would have seen. */
function rootSpan({ clientSpan, serverSpan }: RequestModel['forest'], call: number): number {
  const client = clientSpan[call] as number
  return client < 0 ? (serverSpan[call] as number) : client
}
