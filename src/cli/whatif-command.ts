import { type Command, Option } from 'commander'
import { FlowdeltaError } from '../core/errors.ts'
import { grouped } from '../core/words.ts'
import { type LoadOptions, loadTraces } from '../traces/load-traces.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import { diagnoseLatencyStepwise } from '../whatif/diagnosis/diagnose-latency.ts'
import type { DiagnosisOptions } from '../whatif/diagnosis/diagnosis-options.ts'
import type { LatencyTarget } from '../whatif/diagnosis/diagnosis-subject.ts'
import type { LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import type { WishTarget } from '../whatif/diagnosis/latency-target.ts'
import { DIVERGENCES } from '../whatif/diagnosis/target-divergence.ts'
import { formatOption, requireRequests } from './comparison-flags.ts'
import { warningLines } from './one-period.ts'
import { countFrom, numberBetween } from './option-values.ts'
import { predictionDocument, whatifDocument } from './whatif-document.ts'
import { predictScenarios } from './whatif-predictions.ts'
import { wishOption } from './whatif-target.ts'
import { predictionText, whatifText } from './whatif-text.ts'
import { whatifWarnings } from './whatif-warnings.ts'

interface WhatifFlags extends Pick<DiagnosisOptions, 'divergence' | 'beam'> {
  readonly before: string[]
  readonly after?: string[]
  readonly target?: WishTarget
  readonly apply?: string[]
  readonly depth?: number
  readonly sample: number
  readonly seed: number
  readonly similarity: number
  readonly format: NonNullable<LoadOptions['format']>
  readonly strict: boolean
  readonly json: boolean
  readonly limit?: number
}

/** `flowdelta whatif`: which single change explains a change of latency, or what one would do. */
export function addWhatifCommand(program: Command): void {
  program
    .command('whatif')
    .description(
      'find the single change that best explains a change of latency, or predict what one would do',
    )
    .requiredOption('--before <file...>', 'traces of the good period')
    .option('--after <file...>', 'traces of the bad period: what is to be explained')
    .addOption(
      new Option('--target <wish>', "a wish instead of traces: 'p99<300ms'")
        .argParser(wishOption)
        .conflicts(['after', 'apply']),
    )
    .option(
      '--apply <scenario...>',
      "predict instead: 'inventory*0.5', 'network:inventory+10ms', 'attribute:cache.hit=true:90%'; names with signs of these forms between double quotes; of several, also all together",
    )
    .option('--depth <n>', 'levels of the tree of causes (default: 5, or 3 of many)', countFrom(1))
    .option('--beam <n>', 'causes of a level that are taken further', countFrom(1), 5)
    .addOption(
      new Option('--divergence <name>', 'how far profiles are apart')
        .choices([...DIVERGENCES])
        .default('kl'),
    )
    .option('--sample <n>', 'traces of each period that are diagnosed', countFrom(1), 5000)
    .addOption(
      new Option(
        '--similarity <distance>',
        'from which distance on orders of calls are different flows',
      )
        .argParser(numberBetween(0, 1))
        .default(0.3),
    )
    .option('--seed <n>', 'of samples', countFrom(0), 1)
    .addOption(formatOption())
    .option('--strict', 'stop at the first trace that cannot be used', false)
    .option('--json', 'print a JSON document instead of text', false)
    .option('--limit <n>', 'list at most this many causes', countFrom(1))
    .action(runWhatif)
}

/** Listed unless asked otherwise. */
const MAX_IN_TEXT = 12
const MAX_IN_JSON = 1000

async function runWhatif(flags: WhatifFlags): Promise<void> {
  const { json, limit, apply, after, target, similarity } = flags
  if (after === undefined && target === undefined && apply === undefined) {
    throw new FlowdeltaError(
      'There is nothing to explain. Give --after with traces, --target with a wish, or --apply with a scenario.',
    )
  }
  const before = await loadSpans('before', flags.before, flags)
  const later = after === undefined ? null : await loadSpans('after', after, flags)
  const warnings = whatifWarnings(later === null ? [before] : [before, later])
  if (apply !== undefined) {
    const predictions = predictScenarios(before, later, { texts: apply, similarity })
    print(
      json,
      () => predictionDocument(predictions, warnings),
      () => withWarnings(predictionText(predictions), warnings),
    )
    return
  }
  // One of the two is there: see above.
  const diagnosis = await diagnose(before, later ?? (target as WishTarget), flags)
  print(
    json,
    () => whatifDocument(diagnosis, { limit: limit ?? MAX_IN_JSON, warnings }),
    () => withWarnings(whatifText(diagnosis, limit ?? MAX_IN_TEXT, target), warnings),
  )
}

function print(json: boolean, document: () => unknown, text: () => string): void {
  process.stdout.write(json ? `${JSON.stringify(document(), null, 1)}\n` : `${text()}\n`)
}

/** Warnings after what was found, as `compare` has them. */
function withWarnings(text: string, warnings: ReturnType<typeof whatifWarnings>): string {
  return [text, warningLines(warnings).join('\n')].filter((part) => part !== '').join('\n\n')
}

async function loadSpans(
  name: string,
  files: readonly string[],
  { format, strict }: WhatifFlags,
): Promise<SpanTraces> {
  const traces = await loadTraces(files, { name, format, strict })
  requireRequests(traces)
  if (traces.kind === 'spans') return traces
  throw new FlowdeltaError(
    `The traces of the ${name} period are graphs of trace points, which do not say who calls whom. Give traces of spans.`,
  )
}

/** Diagnoses, saying on a terminal how far it has come; Ctrl-C gives what was found so far. */
async function diagnose(
  before: SpanTraces,
  target: LatencyTarget,
  { divergence, beam, depth, sample, seed, similarity }: WhatifFlags,
): Promise<LatencyDiagnosis> {
  const stop = new AbortController()
  const onInterrupt = () => stop.abort()
  process.once('SIGINT', onInterrupt)
  try {
    const steps = diagnoseLatencyStepwise(before, target, {
      ...{ divergence, beam, seed, similarity, sampleSize: sample, signal: stop.signal },
      ...(depth !== undefined && { depth }),
    })
    for (;;) {
      const step = await steps.next()
      if (step.done === true) return step.value
      showProgress(step.value)
    }
  } finally {
    process.off('SIGINT', onInterrupt)
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE)
  }
}

const CLEAR_LINE = '\r\u001b[K'

function showProgress({ tried, planned }: { readonly tried: number; readonly planned: number }) {
  if (!process.stderr.isTTY) return
  process.stderr.write(
    `${CLEAR_LINE}${grouped(tried)} of ${grouped(planned)} scenarios tried; Ctrl-C shows what was found so far`,
  )
}
