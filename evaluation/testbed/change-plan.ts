import { FlowdeltaError } from '../../src/core/errors.ts'
import type { RandomSource } from '../../src/stats/random.ts'
import { findChain } from './perturb-system.ts'
import { type CallChain, callChains, type SimulatedSystem } from './simulated-system.ts'

/** `'terminal'` returns at once and calls nothing (T); `'substitute'` is as in another system (S). */
export type ChangeKind = 'terminal' | 'substitute'

/** One change to a system; what it is of is the genuine cause of all that follows. */
export interface PlannedChange {
  readonly kind: ChangeKind
  /** From the root to what changes. */
  readonly chain: CallChain
}

export interface PlanOptions {
  readonly changes: number
  readonly requests: number
  readonly random: RandomSource
}

/** Fewer calls than this in a run, and what changes cannot be told from what did not. */
const MIN_CALLS = 5

/**
 * Changes, alternately of both kinds: each chain of calls once in random order, then each once more
 * with the other kind, and so on. Only services that another one calls are changed: not what requests
 * come to, not a service's own steps, and not what is hardly called.
 *
 * @throws FlowdeltaError where nothing is called that both systems have
 */
export function planChanges(
  system: SimulatedSystem,
  counterpart: SimulatedSystem,
  { changes, requests, random }: PlanOptions,
): PlannedChange[] {
  const chains = callChains(system).filter(
    (chain) =>
      isCallToService(chain) &&
      expectedCalls(system, chain) * requests >= MIN_CALLS &&
      findChain(counterpart, chain) !== undefined,
  )
  if (chains.length === 0) {
    throw new FlowdeltaError(
      `There is nothing to change: the system makes no calls, fewer than ${MIN_CALLS} in ${requests} requests, or none that its counterpart makes. Give systems of one application, or more requests.`,
    )
  }
  const order = random.shuffle(chains)
  return Array.from({ length: changes }, (_, i) => {
    const round = Math.floor(i / order.length)
    return {
      kind: (i + round * (1 + (order.length % 2))) % 2 === 0 ? 'terminal' : 'substitute',
      chain: order[i % order.length] as CallChain,
    }
  })
}

function isCallToService(chain: CallChain): boolean {
  const caller = chain[chain.length - 2]
  return caller !== undefined && caller.service !== chain[chain.length - 1]?.service
}

/** How many calls along a chain a request makes on average. */
export function expectedCalls({ roots }: SimulatedSystem, chain: CallChain): number {
  const [root] = chain
  let calls = roots.find(({ call }) => call === root)?.probability ?? 0
  for (let at = 1; at < chain.length; at++) {
    calls *= (chain[at - 1] as CallChain[number]).flows.reduce(
      (sum, { probability, steps }) =>
        sum + probability * steps.filter(({ call }) => call === chain[at]).length,
      0,
    )
  }
  return calls
}
