import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../src/compare/findings/finding.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { FlowdeltaError } from '../../src/core/errors.ts'
import { loadTraces } from '../../src/logs/traced/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { type CheckedSentence, checkSentences } from './check-sentences.ts'
import { rowsInTime } from './null-suite.ts'
import { type ServiceBaselines, serviceBaselines } from './service-baselines.ts'
import { type Accuracy, accuracy, rankOf, servicesNamed } from './service-ranks.ts'
import { type Half, halfOf } from './shared-data.ts'
import { standsApart } from './stretches-apart.ts'

/** A row of `nezha-faults/cases.json`. */
interface NezhaCase {
  readonly id: string
  /** OnlineBoutique or TrainTicket. */
  readonly system: 'OB' | 'TT'
  /** Kind of the injected fault, or `null` as a word. */
  readonly type: string
  readonly service: string | null
  readonly requests: readonly [before: number, after: number]
}

/** Ways of ranking services, flowdelta's first. */
export const METHODS = ['flowdelta', 'p95Tripled', 'ownTimeRise', 'ksStatistic'] as const
export type Method = (typeof METHODS)[number]

/** One case of Nezha's benchmark, compared. */
export interface NezhaResult extends NezhaCase {
  /** Place of the injected service by each method; `null` where it is not named, or there is none. */
  readonly ranks: Readonly<Record<Method, number | null>>
  /** Services that the findings name, in order of first mention. */
  readonly services: readonly string[]
  /** Titles of the findings, without those of consequences. */
  readonly titles: readonly string[]
  /** Of each, whether the level really moved; see `standsApart`. */
  readonly apart: readonly boolean[]
  /** With logs: statements of the injected service that findings name. */
  readonly statements?: readonly string[]
  /** Only if they were to be checked. */
  readonly sentences?: readonly CheckedSentence[]
  readonly seconds: number
}

/** AS@1, 3 and 5 over some faults, by each method. */
export interface AccuracyRow {
  readonly system: string
  /** Type of the faults; `all` for every type. */
  readonly type: string
  readonly faults: number
  readonly accuracy: Readonly<Record<Method, Accuracy>>
}

/** What is evaluated, and who hears how far it is. */
export interface NezhaOptions {
  /** Ids of the cases; all if empty. */
  readonly names?: readonly string[]
  readonly half?: Half
  readonly checksSentences?: boolean
  /** Whether logs of cases that have some are read too. Default: false. */
  readonly logs?: boolean
  /** Part of after in which the fault has not yet begun: requests of before. Default: 0. */
  readonly late?: number
  readonly progress?: (done: number, all: number, result: NezhaResult) => void
}

const NO_FAULT = 'null'

/** Compares before and after of each case with default options and ranks the injected service. */
export async function evaluateNezha(
  folder: string,
  {
    names = [],
    half = null,
    checksSentences = false,
    logs = false,
    late = 0,
    progress,
  }: NezhaOptions = {},
): Promise<NezhaResult[]> {
  const cases = selectCases(folder, names, half)
  const results: NezhaResult[] = []
  for (const one of cases) {
    const result = await evaluateFault(folder, one, { checksSentences, logs, late })
    results.push(result)
    progress?.(results.length, cases.length, result)
  }
  return results
}

function selectCases(folder: string, names: readonly string[], half: Half): NezhaCase[] {
  const all = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as NezhaCase[]
  const unknown = names.filter((name) => !all.some(({ id }) => id === name))
  if (unknown.length > 0) {
    throw new FlowdeltaError(
      `${folder} has no case ${unknown.join(', ')}. There are: ${all.map(({ id }) => id).join(', ')}.`,
    )
  }
  const chosen = all.filter(({ id }) => names.length === 0 || names.includes(id))
  return halfOf(chosen, half, ({ system, type }) => `${system} ${type}`)
}

async function evaluateFault(
  folder: string,
  one: NezhaCase,
  {
    checksSentences,
    logs,
    late,
  }: Required<Pick<NezhaOptions, 'checksSentences' | 'logs' | 'late'>>,
): Promise<NezhaResult> {
  const start = performance.now()
  const load = async (periods: readonly string[]) => {
    const files = (name: string) =>
      periods.map((period) => join(folder, one.id, `${period}${name}`))
    const ofLogs = logs ? files('-logs.csv.gz').filter((file) => existsSync(file)) : []
    const traces = await loadTraces(files('.csv.gz'), { logs: ofLogs })
    if (traces.kind === 'spans') return traces
    throw new FlowdeltaError(`Case ${one.id} of ${folder} holds no spans.`)
  }
  const [before, after] =
    late === 0
      ? [await load(['before']), await load(['after'])]
      : lateFault(await load(['before', 'after']), (await load(['after'])).ids, late)
  const comparison = compare(before, after)
  const { findings } = comparison.findings
  const services = servicesNamed(findings)
  const seconds = (performance.now() - start) / 1000
  const rankings: ServiceBaselines & { flowdelta: readonly string[] } = {
    flowdelta: services,
    ...serviceBaselines(before, after),
  }
  const rank = (method: Method) =>
    one.service === null ? null : rankOf(one.service, rankings[method])
  return {
    ...one,
    ranks: byMethod(rank),
    services,
    titles: findings.map(({ title }) => title),
    apart: findings.map((finding) => standsApart(finding, comparison)),
    ...(before.logs && { statements: statementsOf(findings, one.service) }),
    ...(checksSentences && { sentences: checkSentences(comparison) }),
    seconds,
  }
}

/** Moves the last requests of before, at most half of them, to the beginning of after. */
function lateFault(both: SpanTraces, idsAfter: readonly string[], late: number) {
  const after = new Set(idsAfter)
  const rows = rowsInTime(both)
  const [old, faulty] = [false, true].map((isAfter) =>
    rows.filter((row) => after.has(both.ids[row] as string) === isAfter),
  ) as [number[], number[]]
  const moved = Math.round(Math.min(old.length / 2, (faulty.length * late) / (1 - late)))
  const kept = old.length - moved
  return [both.pick(old.slice(0, kept)), both.pick([...old.slice(kept), ...faulty])] as const
}

/** Statements of a service that findings, or what follows from them, rest on. */
function statementsOf(findings: readonly Finding[], service: string | null): string[] {
  const all = [...findings, ...findings.flatMap(({ consequences }) => consequences)]
  const calls = all.flatMap((finding) => finding.calls)
  const logged = calls.filter(({ kind, of }) => kind.startsWith('logs') && of.service === service)
  const statements = logged.flatMap(({ previous, call }) => [previous, call])
  return [...new Set(statements.flatMap((statement) => statement?.operation ?? []))].sort()
}

function byMethod<Value>(value: (method: Method) => Value): Record<Method, Value> {
  return Object.fromEntries(METHODS.map((method) => [method, value(method)])) as Record<
    Method,
    Value
  >
}

/** Returns the cases with a fault, and those without. */
export function splitCases(results: readonly NezhaResult[]) {
  return {
    faults: results.filter(({ type }) => type !== NO_FAULT),
    nulls: results.filter(({ type }) => type === NO_FAULT),
  }
}

/** Returns AS@k by system, then by system and type of fault. */
export function accuracyRows(results: readonly NezhaResult[]): AccuracyRow[] {
  const { faults } = splitCases(results)
  const systems = [...new Set(faults.map(({ system }) => system))]
  return systems.flatMap((system) => {
    const ofSystem = faults.filter((fault) => fault.system === system)
    const types = [...new Set(ofSystem.map(({ type }) => type))].sort()
    const row = (type: string, some: readonly NezhaResult[]): AccuracyRow => ({
      system,
      type,
      faults: some.length,
      accuracy: byMethod((method) => accuracy(some.map(({ ranks }) => ranks[method]))),
    })
    return [
      row('all', ofSystem),
      ...types.map((type) =>
        row(
          type,
          ofSystem.filter((fault) => fault.type === type),
        ),
      ),
    ]
  })
}
