import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare } from '../../src/comparison/comparison.ts'
import { quantile } from '../../src/stats/quantile.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { NO_PARENT, SPAN_STATUSES } from '../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { compareOperations, TRIPLED } from '../operation-baselines.ts'
import { sharedData } from './shared-data.ts'

/** What `npm run evaluate -- --suite hdx` can be asked. */
export interface HdxFlags {
  readonly json: boolean
  readonly cases: boolean
}

/** Incidents, and within how many entries their cause must be named; 0 where there is none. */
const INCIDENTS: Readonly<Record<string, number>> = {
  'latency-spike-42': 2,
  'segmented-regression-42': 2,
  'deploy-regression-7': 3,
  'quiet-11': 0,
}
/** Names in `truth.json` that an answer must hold, and what it may not name of its distractors. */
const NEEDED = [
  'affectedService',
  'affectedOperation',
  'slowChildService',
  'segmentAttribute',
] as const
const NEEDED_MORE = ['segmentAttributeA', 'segmentAttributeB', 'segmentValue'] as const
/** Shown of what each way of comparing finds. */
const MAX_SHOWN = 3

/** What one way of comparing says of one incident. */
interface Answer {
  readonly way: string
  readonly titles: readonly string[]
  /** Names of the cause that are missing among the first. */
  readonly missing: readonly string[]
  /** Decoys among the first three. */
  readonly decoys: readonly string[]
}

interface Truth {
  readonly expected: Readonly<Record<string, unknown>>
  readonly distractors: readonly { readonly marker?: string; readonly service?: string }[]
}

/** Compares the incidents of HyperDX's agent evaluation, and prints whose answers name the cause. */
export async function runHdxSuite({ json, cases }: HdxFlags): Promise<void> {
  const folder = sharedData('data/hdx-eval')
  if (folder === null) {
    process.stdout.write('Skipped: needs ../shared (or the folder FLOWDELTA_SHARED).\n')
    return
  }
  const judged: { incident: string; answers: Answer[] }[] = []
  for (const [incident, within] of Object.entries(INCIDENTS)) {
    const [before, after] = await Promise.all(
      ['before', 'after'].map((period) =>
        loadTraces([join(folder, incident, `${period}.jsonl.gz`)]),
      ),
    )
    const { findings } = compare(before as SpanTraces, after as SpanTraces).findings
    const spans = [before, after] as [SpanTraces, SpanTraces]
    const truth = within === 0 ? null : readTruth(join(folder, incident, 'truth.json'))
    const ways = {
      flowdelta: findings.map(({ title }) => title),
      'P95 > 3×': tripledOperations(...spans),
      'value shares alone': valueShares(...spans),
    }
    const answers = Object.entries(ways).map(([way, titles]) => judge(way, titles, truth, within))
    judged.push({ incident, answers })
  }
  process.stdout.write(json ? `${JSON.stringify(judged, null, 1)}\n` : tableText(judged, cases))
}

function readTruth(path: string): Truth {
  return JSON.parse(readFileSync(path, 'utf8')) as Truth
}

function judge(
  way: string,
  titles: readonly string[],
  truth: Truth | null,
  within: number,
): Answer {
  if (truth === null) return { way, titles, missing: [], decoys: titles.slice(0, MAX_SHOWN) }
  const { expected, distractors } = truth
  const needed = [...NEEDED, ...NEEDED_MORE].flatMap((name) => String(expected[name] ?? []))
  const first = titles.slice(0, within).join('\n')
  const named = titles.slice(0, MAX_SHOWN).join('\n').replaceAll(' = ', '=')
  const markers = distractors.flatMap(({ marker, service }) => marker ?? service ?? [])
  return {
    way,
    titles,
    missing: needed.filter((name) => name !== '' && !first.includes(name)),
    // A hot shard is a cause of its own beside the planted one.
    decoys: markers.filter(
      (name) => !needed.includes(name) && !name.includes('shard') && named.includes(name),
    ),
  }
}

/** Operations whose 95th percentile at least tripled, the largest ratio first. */
function tripledOperations(before: SpanTraces, after: SpanTraces): string[] {
  return compareOperations(before, after)
    .filter(({ p95Ratio }) => p95Ratio >= TRIPLED)
    .sort((a, b) => b.p95Ratio - a.p95Ratio)
    .map(({ service, operation }) => `${service} ${operation}`)
}

/**
 * Values that failed or slow requests after have more often than others, the largest difference of
 * shares first, as event deltas do; slow is beyond the 99th percentile before.
 */
function valueShares(before: SpanTraces, after: SpanTraces): string[] {
  const limit = quantile(
    before.spans.durationUs.filter((_, row) => before.spans.parent[row] === NO_PARENT).sort(),
    0.99,
  )
  const error = SPAN_STATUSES.indexOf('error')
  const counts = new Map<string, [others: number, slow: number]>()
  const all: [number, number] = [0, 0]
  after.spans.parent.forEach((parent, row) => {
    if (parent !== NO_PARENT) return
    const isSlow = (after.spans.durationUs[row] as number) > limit
    const side = isSlow || after.spans.status[row] === error ? 1 : 0
    all[side]++
    const operation = after.operations.value(after.spans.operation[row] as number)
    const service = after.services.value(after.spans.service[row] as number)
    const values = [['operation', `${service} ${operation}`], ...after.attributes.entries(row)]
    for (const [key, value] of values) {
      const text = `${key} = ${value}`
      const own = counts.get(text) ?? [0, 0]
      counts.set(text, own)
      own[side as 0 | 1]++
    }
  })
  return [...counts]
    .map(([text, [others, slow]]) => ({ text, difference: slow / all[1] - others / all[0] }))
    .filter(({ difference }) => difference > 0.05)
    .sort((a, b) => b.difference - a.difference)
    .map(({ text }) => text)
}

function tableText(
  judged: readonly { incident: string; answers: readonly Answer[] }[],
  cases: boolean,
): string {
  const rows = judged.flatMap(({ incident, answers }) =>
    answers.flatMap(({ way, titles, missing, decoys }) => {
      const isQuiet = INCIDENTS[incident] === 0
      const verdict = isQuiet
        ? titles.length === 0
          ? 'silent'
          : `${titles.length} false`
        : missing.length === 0
          ? 'named'
          : `missing ${missing.join(', ')}`
      const accused = isQuiet || decoys.length === 0 ? '' : `; decoys: ${decoys.join(', ')}`
      const shown = cases ? titles.slice(0, MAX_SHOWN).map((title) => `      ${title}`) : []
      return [`${incident.padEnd(25)}${way.padEnd(20)}${verdict}${accused}`, ...shown]
    }),
  )
  return `Incidents of HyperDX's agent evaluation: is the cause among the first findings?\n${rows.join('\n')}\n`
}
