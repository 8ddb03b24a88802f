import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { ModeratedShift } from '../../stats/moderated-shifts.ts'
import type { EdgeOptions } from '../edges/find-edge-changes.ts'
import type { Unchanged } from '../mutations/unchanged.ts'
import type { Arrivals } from './arrivals.ts'
import type { CallCounts, CallRepeats } from './call-counts.ts'
import type { CallSites, Operation } from './call-order.ts'
import type { CountsTest } from './compare-counts.ts'
import type { ErrorChange } from './compare-errors.ts'
import type { LogChange } from './compare-log-counts.ts'
import type { StepStratum } from './step-strata.ts'
import { type Step, type StepTimes, stepKey, strataOfStep } from './step-times.ts'
import type { Minority } from './tail-counts.ts'

/** Change of one operation of a step. */
export interface OperationChange extends Pick<ModeratedShift, 'probabilitySlower' | 'p'> {
  readonly operation: string
  /** Requests that have it. */
  readonly beforeRequests: number
  readonly afterRequests: number
  /** Calls per request after. */
  readonly callsEach: number
  /** Shift of a call in µs, positive if slower; 0 unless significant. */
  readonly shiftUs: number
  /** Changed part of the calls, which `shiftUs` then describes; `null` if the typical call changed. */
  readonly minority: Minority | null
  /** 95 % confidence interval of `shiftUs`. */
  readonly interval: readonly [low: number, high: number]
  /** Shift of a request's time on it, as a share of the mean response time of these requests. */
  readonly effect: number
  /** Contribution to the sum of all response times after, in µs, and its standard error. */
  readonly contributionUs: number
  readonly contributionError: number
  /** Significant among the operations of its step, and large enough to matter. */
  readonly changed: boolean
  /** Why it does not count as changed; `null` if it does. */
  readonly why: Unchanged | null
}

/** One step, compared between the periods. */
export interface StepChange
  extends Step,
    Omit<OperationChange, 'operation'>,
    Pick<ModeratedShift, 'rankDf' | 'logDf'> {
  /** p corrected over all steps and calls together; `NaN` where it could not be tested. */
  readonly q: number
  /** Factor by which the variance of its shift exceeds that of independent times. */
  readonly designEffect: number
  /**
   * Excess of the changed calls' time after over the mean before, in µs, without the slowest hundredth; and its
   * standard error.
   */
  readonly observedUs: number
  readonly observedError: number
  /** Operations of the step, the largest contribution first. */
  readonly operations: readonly OperationChange[]
  /** Requests of both periods with the changed step, by row. */
  readonly requests: readonly number[]
}

/** Different behavior of an operation, compared between the periods. */
export interface CallChange extends CallCounts, CountsTest {
  readonly q: number
  /** Whether the change is significant among the operation's calls, and large enough to matter. */
  readonly changed: boolean
  /** Why it does not count as changed; `null` if it does. */
  readonly why: Unchanged | null
}

/** Change in how often an operation repeats a call, compared between the periods. */
export interface RepeatChange extends Omit<CallRepeats, 'strata'>, ModeratedShift {
  /** Mean times a visit makes the call, of those that make it. */
  readonly beforeTimes: number
  readonly afterTimes: number
  readonly q: number
  readonly changed: boolean
}

/** Changes of arrivals, with p corrected over all tests of steps and calls. */
export interface ArrivalChanges extends Arrivals {
  readonly rateQ: number
  readonly pausesQ: number
}

interface StepChangeColumns {
  readonly flows: FlowSet
  readonly options: EdgeOptions
  /** Orders in which requests make calls; `null` for flows that are not from spans. */
  readonly sites: CallSites | null
  /** All times that steps were compared by. */
  readonly times: readonly StepTimes[]
  /** Own times of each service, and the part that no span within covers, if there are any. */
  readonly ownTimes: readonly StepTimes[]
  /** The work of services, the ways to them, and whole requests, the largest contribution first. */
  readonly steps: readonly StepChange[]
  /** Changes in calls of operations and in their order in time. */
  readonly calls: readonly CallChange[]
  /** Changes in how many times operations repeat a call. */
  readonly repeats: readonly RepeatChange[]
  /** Changes in how requests arrive. */
  readonly arrivals: ArrivalChanges
  /** Services that fail though none of their calls did. */
  readonly errors: readonly ErrorChange[]
  /** Changes in logs of spans, if logs of both periods were loaded. */
  readonly logs: readonly LogChange[]
  /** Number of tests that p of each is corrected for. */
  readonly tested: number
}

/** Every step and every call, compared between the periods; of flows from spans. */
export class StepChanges extends columnarStage<StepChangeColumns>() {
  static readonly madeBy: string = 'what findStepChanges returns, or comparison.steps'

  /** Steps whose times changed, the largest contribution first. */
  get changes(): StepChange[] {
    return this.steps.filter(({ changed }) => changed)
  }

  /** Returns one row per step, changed ones first; `why` says why others do not count. */
  table(): StageTable {
    return rowTable(
      this.steps.toSorted((a, b) => Number(b.changed) - Number(a.changed)),
      {
        kind: ({ kind, part }) => (part === undefined ? kind : `${kind} ${part}`),
        ...own('service caller changed why shiftUs'),
        lowUs: ({ interval }) => interval[0],
        highUs: ({ interval }) => interval[1],
        probabilitySlower: 'probabilitySlower',
        before: 'beforeRequests',
        after: 'afterRequests',
        ...own('p q contributionUs'),
      },
      this.flows.quantity,
    )
  }

  /** Returns one row per service that fails, or calls to which fail, changed ones first. */
  errorTable(): StageTable {
    return rowTable(this.errors.toSorted(changedFirst), {
      ...own('kind service'),
      operation: ({ operations }) => operations[0] ?? '',
      message: ({ said, messages }) => said ?? messages[0]?.text ?? '',
      ...own('changed why'),
      before: ({ made }) => made[BEFORE],
      callsBefore: ({ chances }) => chances[BEFORE],
      after: ({ made }) => made[AFTER],
      callsAfter: ({ chances }) => chances[AFTER],
      ...own('difference p q'),
      failedBefore: ({ failed }) => failed[BEFORE],
      failedAfter: ({ failed }) => failed[AFTER],
    })
  }

  /** Returns one row per thing that an operation may do with calls, or log, changed ones first. */
  callTable(): StageTable {
    const name = (one: Operation | null) => one && `${one.service} ${one.operation}`
    const rows: readonly (CallChange | LogChange)[] = [...this.calls, ...this.logs]
    return rowTable(rows.toSorted(changedFirst), {
      service: ({ of }) => of.service,
      operation: ({ of }) => of.operation,
      kind: 'kind',
      previous: ({ previous }) => name(previous),
      call: ({ call }) => name(call),
      ...own('changed why'),
      before: ({ made }) => made[BEFORE],
      chancesBefore: ({ chances }) => chances[BEFORE],
      after: ({ made }) => made[AFTER],
      chancesAfter: ({ chances }) => chances[AFTER],
      ...own('difference p q'),
    })
  }
}

/** Returns the change of a step; `undefined` if it is not compared. */
export function changeOfStep({ steps }: StepChanges, step: Step): StepChange | undefined {
  return steps.find((one) => stepKey(one) === stepKey(step))
}

/** Returns the strata of a step's change: of its changed operations, or of all. */
export function changedStrata(
  times: readonly StepTimes[],
  { operations = [], ...step }: Step & Partial<Pick<StepChange, 'operations'>>,
): StepStratum[] {
  const names = new Set(operations.flatMap((one) => (one.changed ? one.operation : [])))
  return strataOfStep(times, { ...step, operation: '' }).filter(
    ({ operation }) => names.size === 0 || names.has(operation),
  )
}

function changedFirst<Change extends { readonly changed: boolean; readonly p: number }>(
  a: Change,
  b: Change,
): number {
  return Number(b.changed) - Number(a.changed) || a.p - b.p
}
