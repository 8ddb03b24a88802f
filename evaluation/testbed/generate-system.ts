import { OptionError, rejectUnknownOptions } from '../../src/core/errors.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import { requireCount, requireOneOf } from '../../src/stats/require-option.ts'
import { logNormalWithCv } from './log-normal.ts'
import { type ServiceTree, serviceTree } from './service-tree.ts'
import type {
  SimulatedCall,
  SimulatedFlow,
  SimulatedStep,
  SimulatedSystem,
} from './simulated-system.ts'

/** What a generated system is like. */
export interface GeneratedSystemOptions {
  /** How many services. Default 90. */
  readonly services?: number
  /** Decides who calls whom, and how long each service takes about. Default 1. */
  readonly seed?: number
  /**
   * Systems of one seed are the same application in other places: the same services call each other,
   * by other flows, and each is faster or slower. Default 0.
   */
  readonly variant?: number
  /**
   * `'paper'`: 90 services have about 2,700 execution models of 52,000 nodes, as in the paper: more
   * flows a service, which call those that call nothing up to 38 times each. Default `'small'`: half
   * of the models, a tenth of the nodes.
   */
  readonly size?: 'small' | 'paper'
}

/** Flows of a service that calls others: from so many to so many; calls at most to one that calls nothing. */
const SIZES = {
  small: { flows: [10, 60], leafCalls: null },
  paper: { flows: [20, 108], leafCalls: 38 },
} as const
/** A service calls another in at least this share of its flows, at most in all. */
const RAREST = 0.1
/** Chance that another call to the same service follows. */
const REPEATED = 0.25
/** Chance that a call does not wait for the one before it. */
const PARALLEL = 0.45
/** How far single times are from what their service takes: standard deviation of the logarithm. */
const SPREAD = 0.35
/** How much faster or slower a service is in another place, likewise. */
const ELSEWHERE = 0.4
/** Coefficients of variation of what services spend: from, to. */
const CV = [0.2, 0.7] as const
const NETWORK = { lowUs: 100, highUs: 300, cv: 0.4 }

/**
 * A system of services that call each other, at random: about the size of the one that Ostrowski et
 * al. tested with by default. Every service has several flows with probabilities; what it spends before
 * each call and before its reply is log-normal, with a mean and a variance of its own, and so is the
 * time on the network.
 *
 * @param options see {@link GeneratedSystemOptions}
 * @throws FlowdeltaError for an unknown option, OptionError for fewer than 3 services and for seeds
 *   that are no integers
 *
 * Source: Ostrowski, Mann and Sandler 2011, §5, for what a testbed has; the numbers are choices of ours.
 *
 * @example
 * systemSize(generateSystem({ services: 12 })).services // 12
 */
export function generateSystem(options: GeneratedSystemOptions = {}): SimulatedSystem {
  rejectUnknownOptions(options, ['services', 'seed', 'variant', 'size'])
  const { services = 90, seed = 1, variant = 0, size = 'small' } = options
  requireCount('services', services)
  if (services < 3) throw new OptionError('services', services, 'a count from 3 up')
  if (!Number.isSafeInteger(variant)) throw new OptionError('variant', variant, 'an integer')
  requireOneOf('size', size, Object.keys(SIZES))
  const tree = serviceTree(services, randomSource(seed))
  const random = randomSource(Math.imul(seed, 0x9e3779b1) ^ Math.imul(variant + 1, 0x85ebca6b))
  const calls: SimulatedCall[] = []
  // Callees come after their callers.
  for (let service = services - 1; service >= 0; service--) {
    calls[service] = {
      service: service === 0 ? 'front' : `service-${String(service).padStart(2, '0')}`,
      operation: 'serve',
      flows: flowsOf(service, {
        tree,
        calls,
        random,
        elsewhere: variant === 0 ? 0 : ELSEWHERE,
        size: SIZES[size],
      }),
    }
  }
  return { roots: [{ call: calls[0] as SimulatedCall, probability: 1 }] }
}

interface Making {
  readonly tree: ServiceTree
  readonly calls: readonly SimulatedCall[]
  readonly random: RandomSource
  /** How far a service's speed is from that of variant 0: standard deviation of the logarithm. */
  readonly elsewhere: number
  readonly size: (typeof SIZES)[keyof typeof SIZES]
}

function flowsOf(service: number, making: Making): SimulatedFlow[] {
  const { tree, random, elsewhere, size } = making
  const [fewest, most] = size.flows
  const callees = tree.callees[service] as readonly number[]
  const ownUs = (tree.ownUs[service] as number) * random.logNormal(0, elsewhere)
  const timeOf = timesOf(ownUs, random)
  if (callees.length === 0) {
    return [{ probability: 1, steps: [], replyAfter: [], replyUs: timeOf() }]
  }
  const count = fewest + random.integer(most - fewest + 1)
  const shares = Array.from({ length: count }, () => 0.1 + random.next())
  const total = shares.reduce((sum, share) => sum + share, 0)
  const rates = callees.map(() => RAREST + (1 - RAREST) * random.next())
  return shares.map((share, flow) => {
    const made = callees.flatMap((callee, i) => {
      // Every callee is called by one flow for certain, and no flow calls nothing.
      const always = flow % callees.length === i
      if (!always && random.next() >= (rates[i] as number)) return []
      const isLeaf = tree.callees[callee]?.length === 0
      if (size.leafCalls !== null && isLeaf)
        return Array.from({ length: 1 + random.integer(size.leafCalls) }, () => callee)
      return random.next() < REPEATED ? [callee, callee] : [callee]
    })
    const called = random.shuffle(made)
    return { probability: share / total, ...orderedSteps(called, timeOf, making) }
  })
}

/** Calls in stages: those of a stage at the same time, after all of the stage before it. */
function orderedSteps(
  called: readonly number[],
  timeOf: () => ReturnType<typeof logNormalWithCv>,
  { calls, random }: Making,
): Omit<SimulatedFlow, 'probability'> {
  const steps: SimulatedStep[] = []
  let after: number[] = []
  let stage: number[] = []
  for (const callee of called) {
    if (random.next() >= PARALLEL) {
      after = stage.length > 0 ? stage : after
      stage = []
    }
    const { lowUs, highUs, cv } = NETWORK
    stage.push(steps.length)
    steps.push({
      call: calls[callee] as SimulatedCall,
      after,
      preprocessingUs: timeOf(),
      networkUs: logNormalWithCv(lowUs + (highUs - lowUs) * random.next(), cv),
    })
  }
  return { steps, replyAfter: stage, replyUs: timeOf() }
}

function timesOf(ownUs: number, random: RandomSource) {
  return () =>
    logNormalWithCv(ownUs * random.logNormal(0, SPREAD), CV[0] + (CV[1] - CV[0]) * random.next())
}
