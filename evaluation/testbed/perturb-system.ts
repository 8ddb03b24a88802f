import { FlowdeltaError } from '../../src/core/errors.ts'
import { logNormalWithCv } from './log-normal.ts'
import {
  type CallChain,
  calleesOf,
  isSameOperation,
  type SimulatedCall,
  type SimulatedSystem,
} from './simulated-system.ts'

/** What a service that returns at once still takes. */
const AT_ONCE = logNormalWithCv(10, 0.3)

/**
 * The system with the last call of a chain made terminal: it returns at once and calls nothing. Calls
 * to the same service by others stay as they are.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §5.
 *
 * @example
 * const system = generateSystem({ services: 12 })
 * const chain = callChains(system)[1]
 * callChains(makeTerminal(system, chain)).length <= callChains(system).length // true
 */
export function makeTerminal(system: SimulatedSystem, chain: CallChain): SimulatedSystem {
  return withCall(system, chain, ({ service, operation }) => ({
    service,
    operation,
    flows: [{ probability: 1, steps: [], replyAfter: [], replyUs: AT_ONCE }],
  }))
}

/**
 * The system with the last call of a chain, and all that it calls, as they are in `other`: the same
 * application elsewhere. Calls to the same services by others stay as they are.
 *
 * @throws FlowdeltaError where `other` has no such chain
 *
 * Source: Ostrowski, Mann and Sandler 2011, §5.
 *
 * @example
 * const system = generateSystem({ services: 12 })
 * const other = generateSystem({ services: 12, variant: 1 })
 * systemSize(substituteCall(system, callChains(system)[1], other)).services // 12
 */
export function substituteCall(
  system: SimulatedSystem,
  chain: CallChain,
  other: SimulatedSystem,
): SimulatedSystem {
  const counterpart = findChain(other, chain)
  if (counterpart === undefined) {
    const text = chain.map(({ service, operation }) => `${service} ${operation}`).join(' › ')
    throw new FlowdeltaError(
      `The other system has no calls along ${text}. Substitute calls that both systems make.`,
    )
  }
  return withCall(system, chain, () => counterpart)
}

/** What stands at the end of the chain with the same names, if there is any. */
export function findChain(system: SimulatedSystem, chain: CallChain): SimulatedCall | undefined {
  let among = system.roots.map(({ call }) => call)
  let found: SimulatedCall | undefined
  for (const wanted of chain) {
    found = among.find((call) => isSameOperation(call, wanted))
    if (found === undefined) return undefined
    among = calleesOf(found)
  }
  return found
}

function withCall(
  { roots }: SimulatedSystem,
  [root, ...chain]: CallChain,
  change: (call: SimulatedCall) => SimulatedCall,
): SimulatedSystem {
  return {
    roots: roots.map((each) =>
      each.call === root ? { ...each, call: changedCall(root, chain, change) } : each,
    ),
  }
}

/** Only the calls on the chain are other objects; what several share stays shared. */
function changedCall(
  call: SimulatedCall,
  [next, ...chain]: CallChain,
  change: (call: SimulatedCall) => SimulatedCall,
): SimulatedCall {
  if (next === undefined) return change(call)
  const changed = changedCall(next, chain, change)
  return {
    ...call,
    flows: call.flows.map((flow) => ({
      ...flow,
      steps: flow.steps.map((step) => (step.call === next ? { ...step, call: changed } : step)),
    })),
  }
}
