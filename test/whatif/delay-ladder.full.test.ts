import { expect, test } from 'vitest'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { LatencyProfile } from '../../src/whatif/recompute/latency-profile.ts'
import { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { describeWithShared } from '../shared.ts'
import { loadSystem } from './real-systems.ts'

/** HDFS sends a block of 64 MB in packets of 64 KB, and each waits for the network. */
const PACKETS_PER_BLOCK = 1024
/** The namenode's answer to these comes in two round trips. */
const TWO_ROUND_TRIPS = ['addBlock', 'complete']
/** Files of n and n + 1 blocks are one class of request, for n = 1, 3, 5, … */
const BLOCKS_PER_CLASS = 2

async function modelOf(run: string): Promise<RequestModel> {
  return new RequestModel(learnExecutionModels(await loadSystem(`tracebench-hdfs/${run}`)), 0)
}

function operationOf({ forest, models }: RequestModel, call: number): string {
  return models.paths.operation(forest.path[call] as number)
}

/** Response times if every round trip between two hosts took `delayUs` longer. */
function delayed(model: RequestModel, delayUs: number): Float64Array {
  const { clientSpan, latencyUs, serverUs, path } = model.forest
  const calls = path.map((_, call) => call).filter((call) => (clientSpan[call] as number) >= 0)
  const networkUs = Float64Array.from(calls, (call) => {
    const nowUs = (latencyUs[call] as number) - (serverUs[call] as number)
    const operation = operationOf(model, call)
    if (operation === 'receiveBlock') return nowUs + delayUs * PACKETS_PER_BLOCK
    return nowUs + delayUs * (TWO_ROUND_TRIPS.includes(operation) ? 2 : 1)
  })
  return model.responseTimes([{ calls, networkUs }])
}

/** By request: the class of its number of blocks. */
function blockClasses(model: RequestModel): number[] {
  const { requestOffsets, childOffsets, children, requestTrace } = model.forest
  return Array.from(requestTrace, (_, request) => {
    const root = requestOffsets[request] as number
    const own = children.subarray(childOffsets[root], childOffsets[root + 1])
    const blocks = own.filter((call) => operationOf(model, call) === 'receiveBlock').length
    return Math.ceil(blocks / BLOCKS_PER_CLASS)
  })
}

/** Weights that give `model` as many requests of each class as `target` has. */
function weightsOf(model: RequestModel, target: RequestModel): number[] {
  const [own, wanted] = [model, target].map(blockClasses) as [number[], number[]]
  const count = (classes: readonly number[], one: number) =>
    classes.filter((other) => other === one).length
  return own.map((one) => count(wanted, one) / count(own, one))
}

describeWithShared('delays of the whole network, predicted from a run without', () => {
  test.each([
    ['w_normal_a', 'w_netdelay_all_10ms', 10_000],
    ['w_normal_a', 'w_netdelay_all_20ms', 20_000],
    ['w_normal_b', 'w_netdelay_all_10ms', 10_000],
    ['w_normal_b', 'w_netdelay_all_20ms', 20_000],
  ])('%s predicts the median write of %s within 15 %%', async (before, after, delayUs) => {
    const [model, target] = [await modelOf(before), await modelOf(after)]
    // Runs write files of other sizes: only alike shares of them can have alike medians.
    const predicted = LatencyProfile.ofRequests(delayed(model, delayUs), weightsOf(model, target))
    const recorded = LatencyProfile.ofRequests(target.responseTimes([]))
    const ratio = predicted.quantile(0.5) / recorded.quantile(0.5)
    expect(Math.abs(ratio - 1)).toBeLessThan(0.15)
    const asItWas = LatencyProfile.ofRequests(model.responseTimes([]))
    expect(asItWas.quantile(0.5) / recorded.quantile(0.5)).toBeLessThan(0.4)
  })

  test('rpc_normal predicts each of eight commands at 500 ms a round trip within 1 %', async () => {
    const [model, target] = [await modelOf('rpc_normal'), await modelOf('rpc_netdelay_0500ms')]
    const medians = (of: RequestModel, timesUs: Float64Array) => {
      const known = new Map<string, number[]>()
      timesUs.forEach((us, request) => {
        const command = operationOf(of, of.forest.requestOffsets[request] as number)
        known.set(command, [...(known.get(command) ?? []), us])
      })
      return new Map(
        [...known].map(([name, all]) => [name, LatencyProfile.ofRequests(all).quantile(0.5)]),
      )
    }
    const predicted = medians(model, delayed(model, 500_000))
    const recorded = medians(target, target.responseTimes([]))
    expect(recorded.size).toBe(8)
    for (const [command, us] of recorded) {
      expect(Math.abs((predicted.get(command) as number) / us - 1), command).toBeLessThan(0.01)
    }
  })
})
