import { OptionError } from '../../core/errors.ts'
import { attributeFeature, callsFeature, hostFeature } from './call-features.ts'
import type { Feature } from './feature.ts'
import { concurrencyFeature, loadFeature } from './load-features.ts'

/**
 * What requests are divided by: `'host'` that served them; `'calls'`, what they call in turn; `'load'`,
 * requests in the second before; `'concurrency'`, requests under way; `'attribute:KEY'`, the value of
 * an attribute; or `{ attribute, pattern }`, whether its value fits a pattern.
 */
export type FeatureChoice =
  | 'host'
  | 'calls'
  | 'load'
  | 'concurrency'
  | `attribute:${string}`
  | { readonly attribute: string; readonly pattern: RegExp }

/** Features that all traces have. */
export const BUILT_IN_FEATURES: readonly Feature[] = [
  hostFeature,
  callsFeature,
  loadFeature,
  concurrencyFeature,
]

const PREFIX = 'attribute:'

/** @throws OptionError for what is no feature. */
export function chooseFeature(by: FeatureChoice, option = 'by'): Feature {
  if (typeof by === 'object' && by !== null && by.pattern instanceof RegExp) {
    return attributeFeature(by.attribute, by.pattern)
  }
  if (typeof by === 'string') {
    if (by.startsWith(PREFIX) && by.length > PREFIX.length) {
      return attributeFeature(by.slice(PREFIX.length))
    }
    const builtIn = BUILT_IN_FEATURES.find(({ name }) => name === by)
    if (builtIn !== undefined) return builtIn
  }
  throw new OptionError(
    option,
    by,
    `'host', 'calls', 'load', 'concurrency', 'attribute:KEY' or { attribute, pattern }`,
  )
}
