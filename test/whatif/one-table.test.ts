import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Replay } from '../../src/calls/replay.ts'
import { spanTimes } from '../../src/calls/span-times.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { RequestModel } from '../../src/whatif/recompute/request-model.ts'

const FOLDER = fileURLToPath(new URL('../../datasets/storage-service/', import.meta.url))

/** Times are recorded in µs, and findings keep them in ns. */
const SAME_US = 1e-3

const CASES = [
  { name: 'lost-key', tags: [] },
  { name: 'rare-operation', tags: [] },
  { name: 'mds-config', tags: ['full'] },
  { name: 'mds-prefetch', tags: ['full'] },
  { name: 'rmw', tags: ['full'] },
]

/** One period, as what-if and as findings have it; `rowOf`: by row of a span, its place in the request. */
async function load(name: string) {
  const traces = await loadTraces(`${FOLDER}${name}/before.jsonl.gz`)
  const flows = buildFlows(traces)
  const { spanRows, spanOffsets } = flows
  if (spanRows === undefined || spanOffsets === undefined) throw new Error('no spans')
  const spansOf = (request: number) =>
    spanRows.subarray(spanOffsets[request], spanOffsets[request + 1])
  return { flows, spansOf, model: new RequestModel(learnExecutionModels(traces), 0) }
}

describe.each(CASES)('$name', ({ name, tags }) => {
  test('calls of what-if begin and end when spans of findings do', { tags }, async () => {
    const { flows, spansOf, model } = await load(name)
    const { clientSpan, serverSpan, parent, offsetUs, latencyUs } = model.forest
    const startUs = new Map<number, number>()
    const takesUs = new Map<number, number>()
    for (let request = 0; request < flows.size; request++) {
      const times = spanTimes(flows).of(request)
      spansOf(request).forEach((row, span) => {
        const [start = 0, end = 0] = times.subarray(2 * span)
        startUs.set(row, start / 1e3)
        takesUs.set(row, (end - start) / 1e3)
      })
    }
    const others = [...parent.keys()].filter((call) => {
      const server = serverSpan[call] as number
      const own = (clientSpan[call] as number) < 0 ? server : (clientSpan[call] as number)
      const around = serverSpan[parent[call] as number]
      const fromUs = around === undefined ? startUs.get(own) : startUs.get(around)
      const offset = (startUs.get(own) ?? Number.NaN) - (fromUs ?? Number.NaN)
      const isSame =
        Math.abs(offset - (offsetUs[call] as number)) <= SAME_US &&
        Math.abs((takesUs.get(own) ?? Number.NaN) - (latencyUs[call] as number)) <= SAME_US
      return !isSame
    })
    expect(others).toEqual([])
  })

  test.each([0.5, 2])(
    'findings and what-if recompute the same where steps take × %d',
    {
      tags,
    },
    async (factor) => {
      const { flows, spansOf, model } = await load(name)
      const { childOffsets, clientSpan, serverSpan, serverUs, requestOffsets } = model.forest
      const steps = Uint32Array.from(serverSpan.keys()).filter(
        (call) => childOffsets[call] === childOffsets[call + 1] && (clientSpan[call] as number) < 0,
      )
      const scaled = Float64Array.from(steps, (call) => factor * (serverUs[call] as number))
      const afterUs = model.responseTimes([{ calls: steps, serverUs: scaled }])
      const requestOf = new Map(
        Array.from(afterUs.keys(), (request) => [
          serverSpan[requestOffsets[request] as number] as number,
          request,
        ]),
      )
      const isStep = new Set(Array.from(steps, (call) => serverSpan[call] as number))
      const replay = new Replay(flows)
      const others = Array.from({ length: flows.size }, (_, request) => request).filter(
        (request) => {
          const rows = spansOf(request)
          const keep = Float64Array.from(rows, (row) => (isStep.has(row) ? factor : 1))
          const us =
            replay.durationNs(request, { keep, moreNs: new Float64Array(rows.length) }) / 1e3
          const own = afterUs[requestOf.get(rows[0] as number) as number] as number
          return !(Math.abs(us - own) <= SAME_US)
        },
      )
      expect(others).toEqual([])
    },
  )
})
