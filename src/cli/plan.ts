import type { Command } from 'commander'
import { greatest } from 'd3-array'
import { defineOptions } from '../core/options.ts'
import { counted, formatDuration, grouped, shortNumber } from '../core/words.ts'
import { PLAN_OPTIONS, planSampling, type SamplingPlan } from '../explain/plan-sampling.ts'
import { COUNT, document, listOf, MEASURED, record, TEXT } from './document.ts'
import { addOptions, type Flags, type FlagsOf, optionsFrom } from './flags.ts'
import { LOAD_FLAGS, loadPeriod } from './load-period.ts'
import { JSON_FLAG, printJson, printText, textTable } from './printing.ts'

/** Most steps that are listed; more are only counted. */
const MAX_ROWS = 15

const PLAN_FLAGS = defineOptions({ json: JSON_FLAG })

export function addPlan(command: Command): void {
  addOptions(
    command.argument('<file...>', 'Traces of one recording'),
    PLAN_OPTIONS,
    PLAN_FLAGS,
    LOAD_FLAGS,
  ).action(runPlan)
}

async function runPlan(files: string[], flags: FlagsOf<typeof PLAN_FLAGS> & Flags): Promise<void> {
  const plan = planSampling(
    await loadPeriod(undefined, files, flags),
    optionsFrom(PLAN_OPTIONS, flags),
  )
  if (flags.json) printJson(PLAN_DOCUMENT.write(plan))
  else printText(planText(plan))
}

type Row = SamplingPlan['steps'][number] & { readonly rate: number }

function rowsOf(plan: SamplingPlan): readonly Row[] {
  return plan.steps.map((step, i) => ({ ...step, rate: plan.rate(i) }))
}

export const PLAN_DOCUMENT = document<SamplingPlan>(
  'plan',
  'What `flowdelta plan --json` prints.',
  {
    shiftUs: MEASURED.about('How much longer each call of a step takes.'),
    periodUs: MEASURED.about('How long each of the two periods is.'),
    allRequests: COUNT.about('Requests of a period, if all are kept.'),
    steps: listOf(
      record<Row>({
        step: TEXT,
        service: TEXT,
        operation: TEXT,
        meanUs: MEASURED.about('Mean time of a call.'),
        leastUs: MEASURED.about('A shift below this is too small to matter.'),
        requests: COUNT.about('Requests of a period that have the step, if all are kept.'),
        needed: MEASURED.about('Requests with the step that find it; null where none do.'),
        rate: MEASURED.about('Share of requests to keep; above 1 where all are too few.'),
      }),
    ).from(rowsOf, 'Steps, those that most requests have first.'),
  },
)

function planText(plan: SamplingPlan): string {
  const { shiftUs, periodUs, allRequests } = plan
  const rows = rowsOf(plan)
  const table = textTable(
    ['step', 'mean', 'requests', 'needed', 'keep'],
    rows
      .slice(0, MAX_ROWS)
      .map((row) => [
        row.step,
        formatDuration(row.meanUs),
        grouped(row.requests),
        Number.isFinite(row.needed) ? grouped(row.needed) : '–',
        answerOf(row, shiftUs),
      ]),
  )
  const enough = greatest(
    rows.filter(({ rate }) => rate <= 1),
    ({ rate }) => rate,
  )
  return [
    `To find that a call takes ${formatDuration(shiftUs)} longer, compare two periods of ${formatDuration(periodUs)} (${counted(allRequests, 'request')} each if all are kept).`,
    rows.length > MAX_ROWS
      ? `${table}\n${counted(rows.length - MAX_ROWS, 'more step')}: --service or --json.`
      : table,
    ...(enough === undefined ? [] : [enoughText(plan, enough)]),
    ...noteLines(rows, plan),
  ].join('\n\n')
}

function enoughText({ allRequests }: SamplingPlan, { step, rate, needed }: Row): string {
  const traces = counted(Math.ceil(rate * allRequests), 'trace')
  return `${step} needs the most: a head sampler that keeps ${shortNumber(100 * rate)} % of all requests (${traces}), or a tail sampler that keeps ${counted(needed, 'request')} that have the step. Four of five comparisons then find it.`
}

function noteLines(rows: readonly Row[], { shiftUs, periodUs }: SamplingPlan): string[] {
  const longest = greatest(
    rows.filter((row) => answerOf(row, shiftUs) === 'too few'),
    ({ rate }) => rate,
  )
  const [small, wandering] = (['too small', 'wanders'] as const).map((answer) =>
    rows.find((row) => answerOf(row, shiftUs) === answer),
  )
  return [
    longest &&
      `too few: ${longest.step} needs periods of ${formatDuration(longest.rate * periodUs)}.`,
    small &&
      `too small: findings skip changes that hardly affect response times. ${small.step} matters from ${formatDuration(small.leastUs)} on.`,
    wandering &&
      `wanders: ${wandering.step} varies by that much within the recording; more requests do not help.`,
  ].flatMap((line) => line ?? [])
}

function answerOf({ rate, leastUs }: Row, shiftUs: number): string {
  if (rate <= 1) return `${shortNumber(100 * rate)} %`
  if (Number.isFinite(rate)) return 'too few'
  return shiftUs <= leastUs ? 'too small' : 'wanders'
}
