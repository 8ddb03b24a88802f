import { describe, expect, test } from 'vitest'
import { Replay } from '../../src/calls/replay.ts'
import { spanTimes } from '../../src/calls/span-times.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import type { FlowSet } from '../../src/flows/flow-set.ts'
import { spanTree } from '../../src/flows/span-tree.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { recordedCase } from '../recorded.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

function unchanged(flows: FlowSet, request: number) {
  const { size } = spanTree(flows, flows.shapeOf[request] as number)
  return { keep: new Float64Array(size).fill(1), moreNs: new Float64Array(size) }
}

type Sketch = readonly (readonly [string, string | null, number, number])[]

/**
 * A request of spans `[id, parent, startMs, endMs]`; returns how long it takes, in ms, if spans differ.
 * Other requests wait for each of its calls alone, but for those that nobody waits for.
 */
function request(sketch: Sketch, unawaited: readonly string[] = []) {
  const spansOf = (trace: string, some: Sketch) =>
    some.map(([id, parent, start, end]): SpanSketch => {
      return {
        ...{ trace, id: `${trace} ${id}`, service: id, startUs: 1000 * start, endUs: 1000 * end },
        parent: parent && `${trace} ${parent}`,
      }
    })
  const [root, ...calls] = sketch
  const others = calls
    .filter(([id]) => !unawaited.includes(id))
    .flatMap((call) => spansOf(`with ${call[0]}`, [root!, call]))
  const spans = [...spansOf('all', sketch), ...others]
  const flows = buildFlows(makeSpans(spans), { concurrency: 'observed' })
  const shape = flows.shapeOf[0] as number
  const labels = flows.shapes.labels(shape)
  const { size } = spanTree(flows, shape)
  const names = Array.from(
    { length: size },
    (_, span) => flows.labels.get(labels[2 * span] as number).service,
  )
  return (changes: Readonly<Record<string, { keep?: number; moreMs?: number }>>) => {
    const { keep, moreNs } = unchanged(flows, 0)
    for (const [name, change] of Object.entries(changes)) {
      keep[names.indexOf(name)] = change.keep ?? 1
      moreNs[names.indexOf(name)] = 1e6 * (change.moreMs ?? 0)
    }
    return new Replay(flows).durationNs(0, { keep, moreNs }) / 1e6
  }
}

describe('a request as it would have been', () => {
  const inTurn = request([
    ['root', null, 0, 100],
    ['a', 'root', 10, 40],
    ['b', 'root', 50, 90],
  ])
  const atOnce = request([
    ['root', null, 0, 100],
    ['a', 'root', 10, 40],
    ['b', 'root', 12, 90],
    ['c', 'root', 92, 98],
  ])

  test.each([
    ['takes as long where nothing changed', {}, 100],
    ['without a call takes less by what that took', { a: { keep: 0 } }, 70],
    ['has later calls wait for a longer one', { a: { moreMs: 5 } }, 105],
    ['takes longer by what its root does', { root: { moreMs: 7 } }, 107],
    ['never takes less than nothing', { root: { moreMs: -300 } }, 0],
  ])('%s, calls in turn', (_, changes, expected) => {
    expect(inTurn(changes)).toBeCloseTo(expected, 9)
  })

  const handled = request(
    [
      ['root', null, 0, 100],
      ['handle', 'root', 2, 98],
      ['call', 'root', 4, 99],
    ],
    ['handle'],
  )

  test('is not held back by what nobody ever waits for', () => {
    expect(handled({ call: { moreMs: -40 } })).toBeCloseTo(60, 9)
  })

  test.each([
    ['takes as long without the shorter one', { a: { keep: 0 } }, 100],
    ['waits for the other one where the longer one is gone', { b: { keep: 0 } }, 50],
    ['takes as long where the shorter one stays the shorter', { a: { moreMs: 49 } }, 100],
    ['waits for what is now the longer one', { a: { moreMs: 60 } }, 110],
  ])('%s, calls at the same time', (_, changes, expected) => {
    expect(atOnce(changes)).toBeCloseTo(expected, 9)
  })
})

test.each(['control', 'batch-job', 'lost-key'])(
  'requests of %s that are unchanged take as long',
  async (name) => {
    expectUnchanged((await recordedCase(name)).flows)
  },
)

describeWithShared('public traces', () => {
  test.each([
    'data/shapleyiq/siq-order500/before.json.gz',
    'data/traceweaver-jaeger/tw2_media_load25_vs_150/faulty.json.gz',
  ])('requests of %s that are unchanged take as long', async (name) => {
    expectUnchanged(buildFlows(await loadTraces(sharedFile(name) as string)))
  })
})

function expectUnchanged(flows: FlowSet) {
  const replay = new Replay(flows)
  let compared = 0
  for (let one = 0; one < flows.size; one++) {
    const times = spanTimes(flows).of(one)
    if (times.length === 0) continue
    compared++
    const tookNs = (times[1] as number) - (times[0] as number)
    expect(replay.durationNs(one, unchanged(flows, one))).toBeCloseTo(tookNs, 3)
  }
  expect(compared).toBeGreaterThan(0)
}
