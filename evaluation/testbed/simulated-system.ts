import type { LogNormal } from './log-normal.ts'

/** What is called: an operation of a service, and what it does when it is called. */
export interface SimulatedCall {
  readonly service: string
  readonly operation: string
  /** One of them is followed by each call, at random. */
  readonly flows: readonly SimulatedFlow[]
}

/** One way to serve a call: an execution model that can be run. */
export interface SimulatedFlow {
  /** Share of calls that follow it. */
  readonly probability: number
  /** The calls it makes. */
  readonly steps: readonly SimulatedStep[]
  /** The steps that the reply waits for directly. */
  readonly replyAfter: readonly number[]
  /** From the end of the last of these, or the start of the call, to its reply. */
  readonly replyUs: LogNormal
}

/** One call that a flow makes. */
export interface SimulatedStep {
  readonly call: SimulatedCall
  /** The steps of the flow that it waits for directly. */
  readonly after: readonly number[]
  /** From the end of the last of these, or the start of the caller, to its own start. */
  readonly preprocessingUs: LogNormal
  /** Both ways together; null where the call is within one process and has no client span. */
  readonly networkUs: LogNormal | null
}

/** Services that call each other, ready to be run. */
export interface SimulatedSystem {
  readonly roots: readonly SimulatedRoot[]
}

/** What requests come to. */
export interface SimulatedRoot {
  readonly call: SimulatedCall
  /** Share of the requests. */
  readonly probability: number
}

/** A chain of calls, from the root on. */
export type CallChain = readonly SimulatedCall[]

/** Every chain of calls that can occur, callers before what they call. */
export function callChains({ roots }: SimulatedSystem): CallChain[] {
  const chains: CallChain[] = roots.map(({ call }) => [call])
  // Grows while it is walked.
  for (const chain of chains) {
    for (const callee of calleesOf(chain[chain.length - 1] as SimulatedCall)) {
      chains.push([...chain, callee])
    }
  }
  return chains
}

/** What a call may call, each once. */
export function calleesOf({ flows }: SimulatedCall): SimulatedCall[] {
  return [...new Set(flows.flatMap(({ steps }) => steps.map(({ call }) => call)))]
}

/** Whether two calls are of the same operation of the same service. */
export function isSameOperation(a: SimulatedCall, b: SimulatedCall): boolean {
  return a.service === b.service && a.operation === b.operation
}

/** How large a system is. */
export interface SystemSize {
  readonly services: number
  /** Chains of calls. */
  readonly paths: number
  /** Execution models: flows of the distinct calls. */
  readonly models: number
  /** Nodes of these: the calls they make, and their replies. */
  readonly nodes: number
}

export function systemSize(system: SimulatedSystem): SystemSize {
  const chains = callChains(system)
  const calls = new Set(chains.flat())
  const flows = [...calls].flatMap((call) => call.flows)
  return {
    services: new Set([...calls].map(({ service }) => service)).size,
    paths: chains.length,
    models: flows.length,
    nodes: flows.reduce((sum, { steps }) => sum + steps.length + 1, 0),
  }
}
