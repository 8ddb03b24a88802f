import { OptionError } from '../../errors.ts'
import type { Scenario } from './scenario.ts'

/**
 * Several scenarios at once. Where two give the same time of the same call, the later one counts;
 * weights multiply.
 *
 * @throws OptionError for none.
 *
 * @example
 * combineScenarios(
 *   scaleCalls({ service: 'cart', factor: 0.5 }),
 *   scaleCalls({ service: 'price', addUs: 1000 }),
 * ).title // 'cart × 0.5, and price +1 ms'
 */
export function combineScenarios(...scenarios: readonly Scenario[]): Scenario {
  const [first] = scenarios
  if (first === undefined) throw new OptionError('scenarios', 'none', 'at least one')
  return {
    kind: 'combined',
    title: scenarios.map(({ title }) => title).join(', and '),
    service: scenarios.every(({ service }) => service === first.service) ? first.service : '',
    operation: scenarios.every(({ operation }) => operation === first.operation)
      ? first.operation
      : '',
    path: null,
    apply(base, target) {
      const effects = scenarios.map((scenario) => scenario.apply(base, target))
      const weights = effects.flatMap(({ weight }) => (weight === null ? [] : [weight]))
      return {
        changes: effects.flatMap(({ changes }) => changes),
        weight: weights.length === 0 ? null : weights.reduce(product(base.forest.weight)),
      }
    },
  }
}

/** Weights are those recorded times a share each: the recorded ones must count once. */
function product(recorded: Float64Array) {
  return (a: Float64Array, b: Float64Array) =>
    a.map((weight, i) => (weight * (b[i] as number)) / (recorded[i] as number))
}
