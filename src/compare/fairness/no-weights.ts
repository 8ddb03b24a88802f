import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Whether requests are to be weighted though no trace says how. */
export function noWeights({ flows, options }: ComparedPeriods): ComparisonWarning[] {
  if (options.counts !== 'weighted' || flows.weight !== undefined) return []
  return [
    warning('no-weights', {
      finding: 'Counts are to be weighted, but no trace says how it was sampled.',
      effect: 'Every request counts once.',
      answer: "Record the sampling probability with the traces, or use `counts: 'raw'`.",
    }),
  ]
}
