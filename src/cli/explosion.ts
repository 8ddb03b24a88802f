import type { Command } from 'commander'
import { COMPARISON_OPTIONS } from '../comparison/comparison-options.ts'
import { FlowdeltaError, type OptionAdvice } from '../core/errors.ts'
import {
  COUNT,
  document,
  type Each,
  listOf,
  MEASURED,
  orNull,
  record,
  TEXT,
} from '../core/json-parts.ts'
import { defineOptions, optionalCount } from '../core/options.ts'
import {
  diagnoseExplosion,
  type ExplosionDiagnosis,
} from '../explain/explosion/diagnose-explosion.ts'
import { type ExplosionResults, explosionText } from '../views/text/explosion-text.ts'
import { addOptions, adviceFlags, type Flags, type FlagsOf, flagsOf, inFlags } from './flags.ts'
import { addOnePeriod, categorizeFiles } from './load-period.ts'
import { JSON_FLAG, printResults, WARNINGS } from './printing.ts'

const EXPLOSION_FLAGS = defineOptions({
  json: JSON_FLAG,
  hosts: optionalCount(
    'Number of hosts, to compute how many categories to expect; needs --replicas',
  ),
  replicas: optionalCount('Number of these hosts that each request visits in turn; needs --hosts'),
})

export function addExplosion(command: Command): void {
  addOptions(addOnePeriod(command), EXPLOSION_FLAGS).action(runExplosion)
}

async function runExplosion(
  files: string[],
  flags: FlagsOf<typeof EXPLOSION_FLAGS> & Flags,
): Promise<void> {
  const { json, hosts, replicas } = flags
  if ((hosts === undefined) !== (replicas === undefined)) {
    throw new FlowdeltaError('--hosts and --replicas belong together. Give both or neither.')
  }
  const { categories, warnings } = await categorizeFiles(files, flags)
  const cluster = hosts === undefined || replicas === undefined ? null : { hosts, replicas }
  const diagnosis = diagnoseExplosion(categories, { cluster })
  const results = { ...diagnosis.sizes, diagnosis, warnings }
  const known = flagsOf(COMPARISON_OPTIONS)
  printResults(results, {
    json,
    document: EXPLOSION_DOCUMENT,
    text: (of, width) =>
      explosionText(of, { inFlags: (message) => inFlags(known, message), flagText, ...width }),
  })
}

function flagText({ options }: { readonly options: OptionAdvice | null }): string | null {
  return options === null ? null : adviceFlags(flagsOf(COMPARISON_OPTIONS), options).join(' ')
}

const SIZES = {
  categories: COUNT,
  requestsPerCategory: MEASURED,
  testable: COUNT.about('Categories that can be tested.'),
  testableShare: MEASURED.about('Share of requests in testable categories.'),
  medianC2: MEASURED.about('C² of the category of the median request.'),
}

const REMEDY = record<Each<ExplosionDiagnosis['remedies']>>({
  remedy: TEXT,
  code: orNull(TEXT).about('Options of `compare`.'),
  flag: orNull(TEXT).from(flagText, 'The same on the command line.'),
  ...SIZES,
})

export const EXPLOSION_DOCUMENT = document<ExplosionResults>(
  'explosion',
  'What `flowdelta explosion --json` prints.',
  {
    requests: COUNT.from(({ diagnosis }) => diagnosis.categories.flows.size),
    ...SIZES,
    expected: orNull(record({ expected: MEASURED, sd: MEASURED, possible: MEASURED })).from(
      ({ diagnosis }) => diagnosis.expected,
      'With --hosts and --replicas: how many categories to expect.',
    ),
    causes: listOf(TEXT).from(
      ({ diagnosis }) => diagnosis.causes,
      'Differences that put requests with the same work into several categories.',
    ),
    remedies: listOf(REMEDY).from(({ diagnosis }) => diagnosis.remedies, 'Best first.'),
    leftOut: listOf(record({ remedy: TEXT, reason: TEXT })).from(
      ({ diagnosis }) => diagnosis.leftOut,
      'Remedies that were not tried, and why.',
    ),
    warnings: WARNINGS,
  },
)
