import type { Feature } from './feature-types.ts'

const TEXTS: Readonly<Record<Feature, string>> = {
  firstAbsolute: 'first time',
  medianAbsolute: 'median time',
  lastAbsolute: 'last time',
  firstRelative: 'first time, as a share of the run',
  medianRelative: 'median time, as a share of the run',
  lastRelative: 'last time, as a share of the run',
  count: 'number',
  minimum: 'least value',
  mean: 'mean value',
  maximum: 'greatest value',
  final: 'final value',
  quarterAbsolute: 'value at ¼ of the run',
  halfAbsolute: 'value at ½ of the run',
  threeQuartersAbsolute: 'value at ¾ of the run',
  quarterRelative: 'value at ¼ of the run, from least to greatest',
  halfRelative: 'value at ½ of the run, from least to greatest',
  threeQuartersRelative: 'value at ¾ of the run, from least to greatest',
}

/**
 * A feature in words.
 *
 * @example
 * featureText('lastAbsolute') // 'last time'
 */
export function featureText(feature: Feature): string {
  return TEXTS[feature]
}
