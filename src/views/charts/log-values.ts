import { formatDuration } from '../../core/units.ts'
import { percent, shortNumber } from '../../core/words.ts'
import { type Feature, isEventTime } from '../../logs/features/features.ts'

/** What a feature is measured in. */
export type FeatureUnit = 'time' | 'share' | 'number'

export function unitOf(feature: Feature): FeatureUnit {
  if (feature.endsWith('Relative')) return 'share'
  return isEventTime(feature) ? 'time' : 'number'
}

/** A value of a feature as it is said. */
export function valueText(feature: Feature, value: number): string {
  if (Number.isNaN(value)) return 'none'
  const unit = unitOf(feature)
  if (unit === 'time') return formatDuration(value)
  return unit === 'share' ? percent(value) : shortNumber(value).replace('-', '−')
}

/** Welch's t in three digits; two constants that differ are infinitely far apart. */
export function tText(t: number): string {
  const size = Number.isFinite(t) ? String(Number(Math.abs(t).toPrecision(3))) : '∞'
  return `${t < 0 ? '−' : ''}${size}`
}
