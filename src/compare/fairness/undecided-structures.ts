import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Whether some structures could not be told apart or found equal. */
export function undecidedStructures({ categories }: ComparedPeriods): ComparisonWarning[] {
  const { undecided } = categories
  if (undecided === 0) return []
  return [
    warning('undecided-structures', {
      finding: `${undecided} pair(s) of flows are too symmetric to compare within the step budget.`,
      effect: 'They count as different structures, so one category may appear as several.',
      answer: 'Give their nodes more telling labels with `label`.',
    }),
  ]
}
