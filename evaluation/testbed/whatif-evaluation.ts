import { Stage, type StageTable, stageTable } from '../../src/core/stage.ts'
import type { DiagnosisOptions } from '../../src/whatif/diagnosis/latency-diagnosis.ts'
import type { CauseRanks, EvaluatedChange } from './evaluate-change.ts'
import type { SystemSize } from './simulated-system.ts'

/** The ways causes are ranked, in words. */
export const RANKINGS: Readonly<Record<keyof CauseRanks, string>> = {
  diagnosis: 'diagnosis',
  diagnosisOfCalls: 'diagnosis, calls only',
  divergenceOfCalls: 'divergence alone, calls only',
  ksOfServices: 'KS, all services',
  ksOfServicesByLevel: 'KS by level, all services',
  ksOfServicesAhead: 'KS looking ahead, all services',
  ksOfCalls: 'KS, calls of the same caller',
  ksOfCallsAhead: 'KS looking ahead, calls of the same caller',
}

const WAYS = Object.keys(RANKINGS) as (keyof CauseRanks)[]

/** Calls to a service per request: up to these numbers, and more. */
const CALLS_UP_TO = [0.1, 0.3, 1, 3]

/** Cause at depth n, or the one at depth k that it lies within. */
interface Placed {
  readonly change: EvaluatedChange
  readonly k: number
  readonly n: number
  readonly ranks: CauseRanks
}

/** How well genuine causes were found and ranked. */
export class WhatIfEvaluation extends Stage {
  readonly changes: readonly EvaluatedChange[]
  readonly options: {
    readonly requests: number
    readonly drift: number
    readonly decoys: boolean
    readonly seed: number
    readonly diagnosis: DiagnosisOptions
    /** Of the system that was changed. */
    readonly size: SystemSize
  }

  constructor(changes: readonly EvaluatedChange[], options: WhatIfEvaluation['options']) {
    super()
    this.changes = changes
    this.options = options
  }

  /** One row a change: what it was, whether it was detected, and the scores of its cause. */
  table(): StageTable {
    const { changes } = this
    const last = changes.map(({ ranks }) => ranks[ranks.length - 1] as CauseRanks)
    return stageTable({
      change: changes.map((_, i) => i + 1),
      kind: changes.map(({ kind }) => kind),
      path: changes.map(({ path }) => path),
      depth: changes.map(({ depth }) => depth),
      callsPerRequest: changes.map(({ callsPerRequest }) => callsPerRequest),
      endToEndP: changes.map(({ endToEndP }) => endToEndP),
      significant: changes.map(({ significant }) => significant),
      detected: changes.map(({ detected }) => detected),
      labelled: changes.map(({ labelled }) => labelled),
      ...scoreColumns(last.map((ranks) => [ranks])),
    })
  }

  /**
   * Mean scores of genuine causes, 0 the best: of all, by depth, and by whether response times changed
   * significantly (KS test).
   */
  summaryTable(): StageTable {
    const { changes } = this
    const depths = [...new Set(changes.map(({ depth }) => depth))].sort((a, b) => a - b)
    const groups: (readonly [string, (change: EvaluatedChange) => boolean])[] = [
      ['all', () => true],
      ['response times changed', ({ significant }) => significant],
      ['response times did not', ({ significant }) => !significant],
      ...depths.map((n) => [`depth ${n}`, ({ depth }: EvaluatedChange) => depth === n] as const),
    ]
    const members = groups.map(([, holds]) => changes.filter(holds))
    const count = (holds: (change: EvaluatedChange) => boolean) =>
      members.map((group) => group.filter(holds).length)
    return stageTable({
      causes: groups.map(([name]) => name),
      changes: count(() => true),
      detected: count(({ detected }) => detected),
      labelled: count(({ labelled }) => labelled),
      ...scoreColumns(
        members.map((group) => group.map(({ ranks }) => ranks[ranks.length - 1] as CauseRanks)),
      ),
    })
  }

  /** Mean scores over all causes and those they lie within, at every depth (all k/n of Figure 3). */
  meanTable(): StageTable {
    const placed = this.#placed()
    const first = placed.filter(({ k }) => k === 1)
    return stageTable({
      causes: ['all k/n', 'directly below the top'],
      changes: [placed.length, first.length],
      ...scoreColumns([placed, first].map((group) => group.map(({ ranks }) => ranks))),
    })
  }

  /** Detected and missed by kind and depth of the service that changed (Figure 2, left). */
  depthTable(): StageTable {
    return this.#detection('depth', ({ depth }) => depth)
  }

  /** Detected and missed by kind and calls per request, as the upper end of a range (Figure 2, right). */
  callsTable(): StageTable {
    return this.#detection(
      'callsUpTo',
      ({ callsPerRequest }) =>
        CALLS_UP_TO.find((end) => callsPerRequest <= end) ?? Number.POSITIVE_INFINITY,
    )
  }

  /** Mean scores by kind t, depth n of the cause, and depth k of itself or an ancestor (Figure 3). */
  scoreTable(): StageTable {
    const groups = grouped(this.#placed(), ({ change, k, n }) => `${letter(change)}-${k}/${n}`)
    return stageTable({
      label: groups.map(([label]) => label),
      kind: groups.map(([, [first]]) => first.change.kind),
      k: groups.map(([, [first]]) => first.k),
      n: groups.map(([, [first]]) => first.n),
      changes: groups.map(([, members]) => members.length),
      ...scoreColumns(groups.map(([, members]) => members.map(({ ranks }) => ranks))),
    })
  }

  /** For each k/n and way to rank: the share of causes with a score up to each (Figure 4). */
  distributionTable(): StageTable {
    const rows = grouped(this.#placed(), ({ k, n }) => `${k}/${n}`).flatMap(([label, members]) =>
      WAYS.flatMap((way) => {
        const scores = members.map(({ ranks }) => ranks[way]).sort((a, b) => a - b)
        return [...new Set(scores)].map((score) => ({
          label,
          k: members[0].k,
          n: members[0].n,
          ranking: RANKINGS[way],
          score,
          share: (scores.lastIndexOf(score) + 1) / scores.length,
        }))
      }),
    )
    return stageTable({
      label: rows.map(({ label }) => label),
      k: rows.map(({ k }) => k),
      n: rows.map(({ n }) => n),
      ranking: rows.map(({ ranking }) => ranking),
      score: rows.map(({ score }) => score),
      share: rows.map(({ share }) => share),
    })
  }

  #placed(): Placed[] {
    const placed = this.changes.flatMap((change) =>
      change.ranks.map((ranks, i) => ({ change, k: i + 1, n: change.depth, ranks })),
    )
    return placed.sort((a, b) => a.n - b.n || a.k - b.k || order(a.change) - order(b.change))
  }

  #detection(name: string, key: (change: EvaluatedChange) => number): StageTable {
    const sorted = [...this.changes].sort((a, b) => key(a) - key(b) || order(a) - order(b))
    const groups = grouped(sorted, (change) => `${key(change)} ${change.kind}`)
    const detected = groups.map(([, members]) => members.filter((each) => each.detected).length)
    return stageTable({
      [name]: groups.map(([, [first]]) => key(first)),
      kind: groups.map(([, [first]]) => first.kind),
      detected,
      missed: groups.map(([, members], i) => members.length - (detected[i] as number)),
    })
  }
}

/** Terminal before substitute. */
function order({ kind }: EvaluatedChange): number {
  return kind === 'terminal' ? 0 : 1
}

function letter({ kind }: EvaluatedChange): string {
  return kind === 'terminal' ? 'T' : 'S'
}

type Group<T> = readonly [label: string, members: readonly [T, ...T[]]]

function grouped<T>(all: readonly T[], key: (one: T) => string): Group<T>[] {
  const groups = new Map<string, [T, ...T[]]>()
  for (const one of all) {
    const group = groups.get(key(one))
    if (group === undefined) groups.set(key(one), [one])
    else group.push(one)
  }
  return [...groups]
}

/** The mean of each group, one column for every way to rank; NaN for a group of none. */
function scoreColumns(groups: readonly (readonly CauseRanks[])[]) {
  const mean = (group: readonly CauseRanks[], way: keyof CauseRanks) =>
    group.reduce((sum, ranks) => sum + ranks[way], 0) / group.length
  return Object.fromEntries(WAYS.map((way) => [way, groups.map((group) => mean(group, way))]))
}
