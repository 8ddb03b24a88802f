import { OptionError } from '../../core/errors.ts'
import { requireScenario } from './require-scenario.ts'
import type { Scenario } from './scenario.ts'

/**
 * Several scenarios at once. Those of `scaleCalls` build on each other: what a service takes is
 * scaled together with what changed below it, and `+5 ms` twice is 10 ms. Of others that give the same
 * time of the same call, the later one counts; weights multiply.
 *
 * @param given scenarios, or some as `parseScenario` reads them
 * @throws OptionError for none, and for what is no scenario.
 *
 * @example
 * combineScenarios(
 *   scaleCalls({ service: 'cart', factor: 0.5 }),
 *   scaleCalls({ service: 'price', addUs: 1000 }),
 * ).title // 'cart × 0.5, and price +1 ms'
 */
export function combineScenarios(...given: readonly (Scenario | string)[]): Scenario {
  const scenarios = given.map((each, i) => requireScenario(each, `scenarios[${i}]`))
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
