// Runs once a request: the loops index with `!`.
import { sum } from 'd3-array'
import { hasTimes, type Role, roleMeans, type Wanted } from '../calls/roles.ts'
import type { Quantity } from '../core/quantity.ts'
import { own, rowTable, Stage, type StageTable } from '../core/stage.ts'
import { AFTER, BEFORE, type FlowSet } from '../flows/flow-set.ts'
import { recordedFlows } from '../flows/fold/folded-flows.ts'
import { kindsOfRequests } from './fairness/request-types.ts'
import type { Findings } from './words/findings.ts'

/** Mean time of a request in one role, in µs; means of all roles add up to that of the period. */
export interface AccountStep extends Omit<Role, 'kind'> {
  /** Kind of the role; `'other'` for several small ones together. */
  readonly kind: Role['kind'] | 'other'
  readonly beforeUs: number
  readonly afterUs: number
}

/** A step with its mean start, counted from the start of the request. */
export interface TimedStep extends AccountStep {
  readonly startUs: number
}

/** Mean time that a finding adds to a request after, including its consequences. */
export interface AccountFinding {
  readonly id: string
  readonly us: number
}

/** Parts of an account. */
export interface AccountParts {
  readonly totalUs: number
  readonly mixUs: number
  readonly steps: readonly TimedStep[]
}

/**
 * Account of a mean request’s time, before and after. All numbers add up: steps to the mean of each
 * period; findings, `mixUs` and `restUs` to the change between them.
 */
export class Account extends Stage {
  static readonly madeBy: string = 'an account: comparison.account'
  /** Change of the mean response time, in µs. */
  readonly totalUs: number
  /** Part of it due to the changed request mix, with each type at its speed of before. */
  readonly mixUs: number
  /** Steps on the path of requests, the largest change first. */
  readonly steps: readonly TimedStep[]
  /** Findings with the time they add; empty until `withFindings` is called. */
  readonly findings: readonly AccountFinding[]
  /** Quantity of its numbers: time, unless something else is compared. */
  readonly quantity: Quantity

  /** Use `comparison.account` instead. */
  constructor(
    { totalUs, mixUs, steps }: AccountParts,
    quantity: Quantity,
    findings: readonly AccountFinding[] = [],
  ) {
    super()
    this.findings = findings
    this.totalUs = totalUs
    this.mixUs = mixUs
    this.steps = steps
    this.quantity = quantity
  }

  /** Everything in it, as a page carries it. */
  get parts(): AccountParts {
    const { totalUs, mixUs, steps } = this
    return { totalUs, mixUs, steps }
  }

  /** Part of the change that neither the mix nor a finding explains, in µs. */
  get restUs(): number {
    return this.totalUs - this.mixUs - sum(this.findings, ({ us }) => us)
  }

  /** Returns this account with the time that each finding adds. */
  withFindings({ findings, flows }: Pick<Findings, 'findings' | 'flows'>): Account {
    const requests = flows.countedIn(AFTER)
    const added = findings.map(({ id, contributionUs }) => ({ id, us: contributionUs / requests }))
    return new Account(this.parts, this.quantity, added)
  }

  /** Returns one row per step: its mean time before and after, the change, and its share of the whole change. */
  table(): StageTable {
    const rows = this.steps.map((step) => {
      const changeUs = step.afterUs - step.beforeUs
      return { ...step, changeUs, share: this.totalUs === 0 ? 0 : changeUs / this.totalUs }
    })
    const columns = own('kind service caller operation beforeUs afterUs changeUs share')
    return rowTable(rows, columns, this.quantity)
  }
}

/** Returns at most this many steps: the first ones, and the others as one. */
export function withoutSmall(steps: readonly AccountStep[], most: number): readonly AccountStep[] {
  if (steps.length <= most) return steps
  const small = steps.slice(most - 1)
  const other: AccountStep = {
    kind: 'other',
    service: '',
    caller: null,
    operation: '',
    beforeUs: sum(small, ({ beforeUs }) => beforeUs),
    afterUs: sum(small, ({ afterUs }) => afterUs),
  }
  return [...steps.slice(0, most - 1), other]
}

interface AccountSource {
  readonly flows: FlowSet
  readonly options: { readonly omitHosts: boolean }
}

/**
 * Accounts for the time of all requests along their paths, or of the wanted ones.
 *
 * The change of the mean is the change within kinds of requests, each as often as after, and the mix
 * (Kitagawa 1955, "Components of a difference between two rates").
 */
export function accountOf({ flows: given, options }: AccountSource, isWanted?: Wanted): Account {
  const flows = recordedFlows(given)
  const { roles, beforeUs, afterUs, startUs } = roleMeans(flows, options, isWanted)
  const steps = roles
    .map((role, i) => ({
      ...role,
      ...{ beforeUs: beforeUs[i]!, afterUs: afterUs[i]!, startUs: startUs[i]! },
    }))
    .sort((a, b) => Math.abs(b.afterUs - b.beforeUs) - Math.abs(a.afterUs - a.beforeUs))
  return new Account({ ...changeAndMix(flows, isWanted), steps }, given.quantity)
}

function changeAndMix(
  flows: FlowSet,
  isWanted: Wanted = () => true,
): Pick<AccountParts, 'totalUs' | 'mixUs'> {
  const kinds = kindsOfRequests(flows)
  const [before, after] = [BEFORE, AFTER].map(() => ({
    us: new Float64Array(kinds.count),
    requests: new Float64Array(kinds.count),
  })) as [KindSums, KindSums]
  for (let request = 0; request < flows.size; request++) {
    if (flows.isPart(request) || !hasTimes(flows, request) || !isWanted(request)) continue
    const { us, requests } = flows.period[request] === BEFORE ? before : after
    const [kind, weight] = [kinds.of[request]!, flows.countOf(request)]
    us[kind]! += weight * flows.responseTimeUs[request]!
    requests[kind]! += weight
  }
  const meanUs = ({ us, requests }: KindSums) => sum(us) / Math.max(1, sum(requests))
  const usualUs = meanUs(before)
  const mixed = sum(after.requests, (requests, kind) => {
    if (requests === 0) return 0
    // A request that ends before it shows its kind is not part of the mix.
    if (kinds.unknown.has(kind)) return requests * usualUs
    const own = before.requests[kind]! > 0 ? before : after
    return (requests * own.us[kind]!) / own.requests[kind]!
  })
  const isCompared = sum(before.requests) > 0 && sum(after.requests) > 0
  const mixUs = isCompared ? mixed / sum(after.requests) - usualUs : 0
  return { totalUs: meanUs(after) - usualUs, mixUs }
}

interface KindSums {
  readonly us: Float64Array
  readonly requests: Float64Array
}
