import { OptionError, rejectUnknownOptions } from '../../src/core/errors.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import { requireCount } from '../../src/stats/require-option.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import type { LogNormal } from './log-normal.ts'
import { prepareRun, type RunCall, type RunFlow } from './simulated-run.ts'
import { SimulatedSpans } from './simulated-spans.ts'
import type { SimulatedSystem } from './simulated-system.ts'

/** How a system is run. */
export interface SimulationOptions {
  /** How many requests. Default 1,000. */
  readonly requests?: number
  /**
   * By how much runs of the same system differ: standard deviation of the logarithm of a factor on what
   * each service spends, and of one on the network to it. Default 0.03, which is 3 %.
   */
  readonly drift?: number
  /** Of the drift and of all times. Default 1. */
  readonly seed?: number
  /** Of the traces. Default `'simulated'`. */
  readonly name?: string
  /** Between requests on average, µs; they do not wait for each other. Default 20,000. */
  readonly betweenUs?: number
}

const OPTIONS = ['requests', 'drift', 'seed', 'name', 'betweenUs']

/**
 * Runs a system and records it: one trace a request, and of each call a client and a server span, or
 * one span where it has no network. Every call follows one of its flows, at random by their
 * probabilities. All clocks are the same.
 *
 * @param system of `generateSystem`, `learnSystem`, or changed by `makeTerminal` or `substituteCall`
 * @param options see {@link SimulationOptions}
 * @throws FlowdeltaError for an unknown option, OptionError for one out of range
 *
 * Source: Ostrowski, Mann and Sandler 2011, §5, where services on a real network were run.
 *
 * @example
 * const traces = simulateSystem(generateSystem({ services: 12 }), { requests: 50 })
 * traces.size // 50
 */
export function simulateSystem(
  system: SimulatedSystem,
  options: SimulationOptions = {},
): SpanTraces {
  rejectUnknownOptions(options, OPTIONS)
  const { requests = 1000, drift = 0.03, seed = 1, name = 'simulated' } = options
  const { betweenUs = 20_000 } = options
  requireCount('requests', requests)
  requireDrift(drift)
  if (!(betweenUs > 0 && betweenUs < Number.POSITIVE_INFINITY)) {
    throw new OptionError('betweenUs', betweenUs, 'a number of µs above 0')
  }
  const spans = new SimulatedSpans()
  // How a run drifts has its own stream: as long as services stay, they drift alike in other systems.
  const roots = prepareRun(system, spans, { drift, seed: ~seed })
  const run = new Run(spans, randomSource(seed))
  let atUs = 0
  for (let request = 0; request < requests; request++) {
    atUs -= betweenUs * Math.log(1 - run.random.next())
    spans.beginTrace(`${name}-${request}`)
    run.serve(oneOf(roots, run.random).call, atUs, -1)
  }
  return spans.finish(name)
}

/** @throws OptionError for what is no drift. */
export function requireDrift(drift: number): void {
  if (drift >= 0 && drift < 1) return
  throw new OptionError('drift', drift, 'a share from 0 up and below 1')
}

class Run {
  readonly random: RandomSource
  readonly #spans: SimulatedSpans

  constructor(spans: SimulatedSpans, random: RandomSource) {
    this.#spans = spans
    this.random = random
  }

  /** Serves a call that arrives at `startUs`; gives when it is over. */
  serve(call: RunCall, startUs: number, parent: number): number {
    const spans = this.#spans
    const span = spans.open(call, 'server', { parent, startUs })
    const flow = oneOf(call.flows, this.random)
    const ends = this.#follow(call, flow, { span, startUs })
    const endUs = lastOf(ends, flow.replyAfter, startUs) + this.#time(flow.replyUs)
    spans.close(span, endUs)
    return endUs
  }

  #follow(
    caller: RunCall,
    { steps }: RunFlow,
    { span, startUs }: { readonly span: number; readonly startUs: number },
  ): Float64Array {
    const ends = new Float64Array(steps.length)
    for (const { number, call, after, preprocessingUs, networkUs } of steps) {
      const sentUs = lastOf(ends, after, startUs) + this.#time(preprocessingUs)
      ends[number] =
        networkUs === null
          ? this.serve(call, sentUs, span)
          : this.#send(caller, call, { span, sentUs, onWayUs: this.#time(networkUs) / 2 })
    }
    return ends
  }

  #send(
    { service }: RunCall,
    call: RunCall,
    sent: { readonly span: number; readonly sentUs: number; readonly onWayUs: number },
  ): number {
    const { span: parent, sentUs: startUs, onWayUs } = sent
    const client = { service, operation: call.operation }
    const span = this.#spans.open(client, 'client', { parent, startUs })
    const endUs = this.serve(call, startUs + onWayUs, span) + onWayUs
    this.#spans.close(span, endUs)
    return endUs
  }

  #time({ mu, sigma }: LogNormal): number {
    return this.random.logNormal(mu, sigma)
  }
}

function lastOf(ends: Float64Array, steps: readonly number[], startUs: number): number {
  let last = startUs
  for (const step of steps) last = Math.max(last, ends[step] as number)
  return last
}

/** One of several, as likely as its share. */
function oneOf<T extends { readonly upTo: number }>(all: readonly T[], random: RandomSource): T {
  if (all.length === 1) return all[0] as T
  const at = random.next()
  return (all.find(({ upTo }) => at < upTo) ?? all[all.length - 1]) as T
}
