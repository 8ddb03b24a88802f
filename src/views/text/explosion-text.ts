import { type PrintedWarning, warningLines } from '../../comparison/fairness/comparison-warning.ts'
import type { OptionAdvice } from '../../core/errors.ts'
import { MAX_WIDTH, tableOf } from '../../core/text-layout.ts'
import { shortNumber } from '../../core/words.ts'
import type {
  CategorySizes,
  ExplosionDiagnosis,
} from '../../explain/explosion/diagnose-explosion.ts'

export interface ExplosionResults extends CategorySizes {
  readonly diagnosis: ExplosionDiagnosis
  readonly warnings: readonly PrintedWarning[]
}

interface TextOptions {
  /** Writes the options of a message as flags. */
  readonly inFlags: (message: string) => string
  /** Writes the options of a remedy as flags; `null` for one without. */
  readonly flagText: (remedy: { readonly options: OptionAdvice | null }) => string | null
  /** Characters of a line. Default: 100. */
  readonly width?: number
}

/** Writes how many categories there are, why, and what each remedy leaves. */
export function explosionText(
  { diagnosis, warnings }: ExplosionResults,
  { inFlags, flagText, width = MAX_WIDTH }: TextOptions,
): string {
  const number = (value: number) => (Number.isFinite(value) ? shortNumber(value) : '–')
  const rows = [{ remedy: 'as it is', options: {}, ...diagnosis.sizes }, ...diagnosis.remedies]
  const table = tableOf(
    rows,
    {
      remedy: ({ remedy }) => remedy,
      categories: ({ categories }) => String(categories),
      'requests each': ({ requestsPerCategory }) => number(requestsPerCategory),
      'testable categories': ({ testable }) => String(testable),
      'C² (median request)': ({ medianC2 }) => number(medianC2),
      flag: (row) => flagText(row) ?? 'in code only',
    },
    { width },
  )
  return [inFlags(diagnosis.text()), ...warningLines(warnings), table].join('\n\n')
}
