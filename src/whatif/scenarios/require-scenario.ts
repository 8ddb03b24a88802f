import { OptionError } from '../../core/errors.ts'
import { parseScenario } from './parse-scenario.ts'
import type { Scenario } from './scenario.ts'

/**
 * A scenario, or one as it is written on the command line.
 *
 * @throws OptionError for what is neither, FlowdeltaError for text of no known form
 */
export function requireScenario(scenario: Scenario | string, option: string): Scenario {
  if (typeof scenario === 'string') return parseScenario(scenario)
  if (typeof scenario?.apply === 'function') return scenario
  throw new OptionError(option, scenario, "a scenario, or one as text: 'inventory*0.5'")
}
