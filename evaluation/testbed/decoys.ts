import type { LogNormal } from './log-normal.ts'
import {
  type CallChain,
  calleesOf,
  isSameOperation,
  type SimulatedCall,
  type SimulatedSystem,
} from './simulated-system.ts'

/** Decoys among what one service calls, at most. */
const DECOYS = 3
/** By how much the times of a decoy spread more: factor on the standard deviation of their logarithm. */
const WIDER = 2

/**
 * The system with decoys: of what services along a chain of calls call beside it, up to three each, all
 * own times spread twice as far around the same mean. The KS test sees siblings of the cause that
 * changed as surely as it did; response times hardly notice, as they take the same time on average.
 */
export function withDecoys(system: SimulatedSystem, chain: CallChain): SimulatedSystem {
  const decoyed = (call: SimulatedCall, [, next, ...rest]: CallChain): SimulatedCall => {
    if (next === undefined) return call
    const siblings = calleesOf(call).filter((callee) => !isSameOperation(callee, next))
    // Those that call nothing are nothing but their own times.
    const leaves = siblings.filter((callee) => calleesOf(callee).length === 0)
    const decoys = new Set([...leaves, ...siblings].slice(0, DECOYS))
    const made = new Map(
      calleesOf(call).map((callee) => [
        callee,
        isSameOperation(callee, next)
          ? decoyed(callee, [next, ...rest])
          : decoys.has(callee)
            ? wider(callee)
            : callee,
      ]),
    )
    return {
      ...call,
      flows: call.flows.map((flow) => ({
        ...flow,
        steps: flow.steps.map((step) => ({ ...step, call: made.get(step.call) ?? step.call })),
      })),
    }
  }
  return { roots: system.roots.map((root) => ({ ...root, call: decoyed(root.call, chain) })) }
}

function wider(call: SimulatedCall): SimulatedCall {
  const spread = ({ mu, sigma }: LogNormal): LogNormal => {
    const more = WIDER * sigma
    // The mean, e to the power of mu + sigma² / 2, stays.
    return { mu: mu + (sigma ** 2 - more ** 2) / 2, sigma: more }
  }
  return {
    ...call,
    flows: call.flows.map(({ steps, replyUs, ...flow }) => ({
      ...flow,
      replyUs: spread(replyUs),
      steps: steps.map((step) => ({ ...step, preprocessingUs: spread(step.preprocessingUs) })),
    })),
  }
}
