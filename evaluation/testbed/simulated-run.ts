import { InternalError } from '../../src/core/errors.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import type { Dictionary } from '../../src/traces/dictionary.ts'
import type { LogNormal } from './log-normal.ts'
import type { SimulatedCall, SimulatedFlow, SimulatedSystem } from './simulated-system.ts'

/** A call as one run makes it: names as codes, times with the run's drift. */
export interface RunCall {
  readonly service: number
  readonly operation: number
  readonly flows: readonly RunFlow[]
}

export interface RunFlow {
  /** Share of calls that follow this flow or one before it. */
  readonly upTo: number
  /** Such that each step comes after those it waits for. */
  readonly steps: readonly RunStep[]
  readonly replyAfter: readonly number[]
  readonly replyUs: LogNormal
}

export interface RunStep {
  /** Its number in the flow. */
  readonly number: number
  readonly call: RunCall
  readonly after: readonly number[]
  readonly preprocessingUs: LogNormal
  readonly networkUs: LogNormal | null
}

export interface RunNames {
  readonly services: Dictionary
  readonly operations: Dictionary
}

/** Readies a system for one run: what each service spends, and the way to it, drift by a factor. */
export function prepareRun(
  { roots }: SimulatedSystem,
  names: RunNames,
  { drift, seed }: { readonly drift: number; readonly seed: number },
): readonly { readonly upTo: number; readonly call: RunCall }[] {
  const drifts = new Drifts(drift, seed)
  const made = new Map<SimulatedCall, RunCall>()
  const runCall = (call: SimulatedCall): RunCall => {
    const known = made.get(call)
    if (known !== undefined) return known
    const { service, operation, flows } = call
    const shifted = (time: LogNormal) => drifts.shifted(time, `own ${service}`)
    const shares = cumulated(flows.map(({ probability }) => probability))
    const run: RunCall = {
      service: names.services.code(service),
      operation: names.operations.code(operation),
      flows: flows.map((flow, i) => ({
        upTo: shares[i] as number,
        steps: stepOrder(flow).map((number) => {
          const step = flow.steps[number] as SimulatedFlow['steps'][number]
          const { after, preprocessingUs, networkUs } = step
          return {
            number,
            call: runCall(step.call),
            after,
            preprocessingUs: shifted(preprocessingUs),
            networkUs: networkUs && drifts.shifted(networkUs, `network ${step.call.service}`),
          }
        }),
        replyAfter: flow.replyAfter,
        replyUs: shifted(flow.replyUs),
      })),
    }
    made.set(call, run)
    return run
  }
  const shares = cumulated(roots.map(({ probability }) => probability))
  return roots.map(({ call }, i) => ({ upTo: shares[i] as number, call: runCall(call) }))
}

/** One factor for each thing that drifts, the same wherever it is used. */
class Drifts {
  readonly #drift: number
  readonly #random: RandomSource
  readonly #shifts = new Map<string, number>()

  constructor(drift: number, seed: number) {
    this.#drift = drift
    this.#random = randomSource(seed)
  }

  shifted({ mu, sigma }: LogNormal, what: string): LogNormal {
    let shift = this.#shifts.get(what)
    if (shift === undefined) {
      shift = this.#drift * this.#random.normal()
      this.#shifts.set(what, shift)
    }
    return { mu: mu + shift, sigma }
  }
}

function cumulated(shares: readonly number[]): number[] {
  const total = shares.reduce((sum, share) => sum + share, 0)
  let sum = 0
  return shares.map((share) => {
    sum += share
    return sum / total
  })
}

function stepOrder({ steps }: SimulatedFlow): number[] {
  const order: number[] = []
  const placed = new Set<number>()
  while (order.length < steps.length) {
    const before = order.length
    steps.forEach(({ after }, number) => {
      if (placed.has(number) || !after.every((other) => placed.has(other))) return
      placed.add(number)
      order.push(number)
    })
    if (order.length === before) {
      throw new InternalError('the steps of a simulated flow wait for each other in a circle')
    }
  }
  return order
}
