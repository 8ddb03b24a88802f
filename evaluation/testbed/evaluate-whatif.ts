import { OptionError, rejectUnknownOptions } from '../../src/core/errors.ts'
import { randomSource } from '../../src/stats/random.ts'
import { requireCount } from '../../src/stats/require-option.ts'
import {
  type DiagnosisOptions,
  diagnosisOptions,
} from '../../src/whatif/diagnosis/latency-diagnosis.ts'
import { planChanges } from './change-plan.ts'
import { withDecoys } from './decoys.ts'
import { type EvaluatedChange, evaluateChange } from './evaluate-change.ts'
import { generateSystem } from './generate-system.ts'
import { makeTerminal, substituteCall } from './perturb-system.ts'
import { requireDrift, simulateSystem } from './simulate-system.ts'
import { type SimulatedSystem, systemSize } from './simulated-system.ts'
import { WhatIfEvaluation } from './whatif-evaluation.ts'

/** What is evaluated, and how. */
export interface WhatIfEvaluationOptions {
  /** How many changes, alternately terminal and substitute. Default 100. */
  readonly changes?: number
  /** Services of the generated system. Default 90. */
  readonly services?: number
  /** Requests of each run. Default 1,000. */
  readonly requests?: number
  /** By how much two runs of the same system differ; see `simulateSystem`. Default 0.03. */
  readonly drift?: number
  /** Whether siblings of the cause change too, without effect on response times; see `withDecoys`. Default false. */
  readonly decoys?: boolean
  /** Of the system, the changes and all runs. Default 1. */
  readonly seed?: number
  /** A system to change, instead of a generated one; its `counterpart` gives the substitutes. */
  readonly system?: SimulatedSystem
  /** The same application elsewhere, as `system`. */
  readonly counterpart?: SimulatedSystem
  /**
   * Options of the diagnosis. Default `{ depth: 5, services: false }`: the tree from the top down,
   * without whole services among its first scenarios, as these would stand in it at every depth.
   */
  readonly diagnosis?: Partial<DiagnosisOptions>
  /** The first changes, of an interrupted run with the same options: they are not evaluated again. */
  readonly known?: readonly EvaluatedChange[]
  /** Is told of each change when it was evaluated: how many are done, of how many. */
  readonly progress?: (done: number, changes: number, change: EvaluatedChange) => void
}

const OPTIONS = [
  'changes',
  'services',
  'requests',
  'drift',
  'decoys',
  'seed',
  'system',
  'counterpart',
  'diagnosis',
  'known',
  'progress',
]

/**
 * How well does `diagnoseLatency` find what really changed? Changes one service of a simulated system
 * at a time, records a run without and one with the change, of their own drift and chance, diagnoses,
 * and looks up how the genuine cause and all that it lies within are scored; beside them the KS test
 * as a baseline, among all services and among the calls of the same caller.
 *
 * A hundred changes of 90 services take some minutes.
 *
 * @param options see {@link WhatIfEvaluationOptions}
 * @throws FlowdeltaError for an unknown option, a system without its counterpart, and systems that
 *   have no calls in common; OptionError for an option out of range
 *
 * Source: Ostrowski, Mann and Sandler 2011, §5.
 *
 * @example
 * const evaluation = evaluateWhatIf({ changes: 2, services: 6, requests: 100 })
 * evaluation.table().numRows() // 2
 */
export function evaluateWhatIf(options: WhatIfEvaluationOptions = {}): WhatIfEvaluation {
  rejectUnknownOptions(options, OPTIONS)
  const {
    changes = 100,
    services = 90,
    requests = 1000,
    drift = 0.03,
    seed = 1,
    decoys = false,
    known = [],
  } = options
  requireCount('changes', changes)
  requireCount('requests', requests)
  requireDrift(drift)
  const { system, counterpart } = systemsOf(options, { services, seed })
  const diagnosis = diagnosisOptions({ depth: 5, services: false, ...options.diagnosis })
  const random = randomSource(seed)
  const evaluated: EvaluatedChange[] = []
  for (const change of planChanges(system, counterpart, { changes, requests, random })) {
    const [seedBefore, seedAfter] = [random.integer(2 ** 31), random.integer(2 ** 31)]
    const old = known[evaluated.length]
    if (old !== undefined) {
      evaluated.push(old)
      continue
    }
    const changed =
      change.kind === 'terminal'
        ? makeTerminal(system, change.chain)
        : substituteCall(system, change.chain, counterpart)
    const target = decoys ? withDecoys(changed, change.chain) : changed
    const runs = {
      before: simulateSystem(system, { requests, drift, name: 'before', seed: seedBefore }),
      after: simulateSystem(target, { requests, drift, name: 'after', seed: seedAfter }),
    }
    const result = evaluateChange(change, runs, diagnosis)
    evaluated.push(result)
    options.progress?.(evaluated.length, changes, result)
  }
  return new WhatIfEvaluation(evaluated, {
    requests,
    drift,
    decoys,
    seed,
    size: systemSize(system),
    diagnosis,
  })
}

function systemsOf(
  { system, counterpart }: WhatIfEvaluationOptions,
  generated: { readonly services: number; readonly seed: number },
) {
  if (system !== undefined && counterpart !== undefined) return { system, counterpart }
  if (system === undefined && counterpart === undefined) {
    return {
      system: generateSystem(generated),
      counterpart: generateSystem({ ...generated, variant: 1 }),
    }
  }
  const missing = system === undefined ? 'system' : 'counterpart'
  throw new OptionError(missing, undefined, 'both system and counterpart, or neither')
}
