import type { Command } from 'commander'
import { FlowdeltaError } from '../core/errors.ts'
import { shortNumber } from '../core/words.ts'
import type { ExplosionDiagnosis } from '../explain/explosion/diagnose-explosion.ts'
import { diagnoseExplosion } from '../explain/explosion/diagnose-explosion.ts'
import { numbers } from './json-numbers.ts'
import {
  addOnePeriod,
  categorizeFiles,
  type OnePeriodFlags,
  type PeriodWarning,
  warningLines,
} from './one-period.ts'
import { countFrom } from './option-values.ts'
import { textTable } from './text-table.ts'

interface ExplosionFlags extends OnePeriodFlags {
  readonly json: boolean
  readonly hosts?: number
  readonly replicas?: number
}

/** `flowdelta explosion`: are there too many categories to test, why, and what would help. */
export function addExplosionCommand(program: Command): void {
  const command = program
    .command('explosion')
    .description('tell whether there are too many kinds of request to compare, why, and what helps')
  addOnePeriod(command)
    .option('--json', 'print a JSON document instead of text', false)
    .option(
      '--hosts <n>',
      'hosts that each request chooses from, for the number to expect',
      countFrom(1),
    )
    .option('--replicas <n>', 'how many of them it goes to, one after the other', countFrom(1))
    .action(runExplosion)
}

async function runExplosion(files: string[], flags: ExplosionFlags): Promise<void> {
  const { json, hosts, replicas } = flags
  if ((hosts === undefined) !== (replicas === undefined)) {
    throw new FlowdeltaError('--hosts and --replicas belong together. Give both or neither.')
  }
  const { categories, warnings } = await categorizeFiles(files, flags)
  const diagnosis = diagnoseExplosion(
    categories,
    hosts === undefined || replicas === undefined ? {} : { cluster: { hosts, replicas } },
  )
  process.stdout.write(
    json
      ? `${JSON.stringify(explosionDocument(diagnosis, warnings), null, 1)}\n`
      : `${explosionText(diagnosis, warnings)}\n`,
  )
}

/** `flowdelta.explosion/1`: what there is, why, and every remedy, the best first. */
function explosionDocument(diagnosis: ExplosionDiagnosis, warnings: readonly PeriodWarning[]) {
  const { sizes, causes, remedies, leftOut, expected, categories, remaining } = diagnosis
  return {
    schema: 'flowdelta.explosion/1',
    requests: categories.flows.size,
    categories: sizes.categories,
    ...numbers({ requestsPerCategory: sizes.requestsPerCategory }),
    testable: sizes.testable,
    ...numbers({ testableShare: sizes.testableShare, medianC2: sizes.medianC2 }),
    expected: expected === null ? null : numbers({ ...expected }),
    causes: causes.map(({ part, share, detail }) => ({ part, ...numbers({ share }), detail })),
    remaining,
    remedies: remedies.map((each) => ({
      ...{ remedy: each.remedy, code: each.code, flag: each.flag },
      ...{ categories: each.categories },
      ...{ testable: each.testable },
      ...numbers({
        requestsPerCategory: each.requestsPerCategory,
        testableShare: each.testableShare,
        medianC2: each.medianC2,
      }),
    })),
    leftOut,
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  }
}

function explosionText(diagnosis: ExplosionDiagnosis, warnings: readonly PeriodWarning[]): string {
  const number = (value: number) => (Number.isFinite(value) ? shortNumber(value) : '–')
  const rows = [{ remedy: 'as it is', flag: '', ...diagnosis.sizes }, ...diagnosis.remedies]
  const table = textTable(
    ['remedy', 'categories', 'requests each', 'testable categories', 'C² (median request)', 'flag'],
    rows.map(({ remedy, flag, categories, requestsPerCategory, testable, medianC2 }) => [
      ...[remedy, String(categories), number(requestsPerCategory), String(testable)],
      ...[number(medianC2), flag ?? 'in code only'],
    ]),
  )
  return [diagnosis.text(), ...warningLines(warnings), table].join('\n\n')
}
