import { formatDuration, grouped, percent, pValue } from '../../core/words.ts'
import type { AttentionEdge } from '../../logs/attention/focus-attention.ts'
import type { FeatureTest } from '../../logs/divergence/find-divergence.ts'
import {
  type Feature,
  isEventTime,
  LOG_CLASSES,
  type LogClass,
} from '../../logs/features/log-set.ts'
import { quantityText, type Unit } from '../../logs/features/units.ts'

export type FeatureUnit = 'time' | 'share' | 'number'

export function unitOf(feature: Feature): FeatureUnit {
  if (feature.endsWith('Relative')) return 'share'
  return isEventTime(feature) ? 'time' : 'number'
}

export function valueText(feature: Feature, value: number, quantity?: Unit | undefined): string {
  if (Number.isNaN(value)) return 'none'
  const unit = unitOf(feature)
  if (unit === 'time') return formatDuration(value)
  return unit === 'share' ? percent(value) : quantityText(value, quantity).replace('-', '−')
}

/** Returns Welch's t in three digits; two constants that differ are infinitely far apart. */
export function tText(t: number): string {
  const size = Number.isFinite(t) ? String(Number(Math.abs(t).toPrecision(3))) : '∞'
  return `${t < 0 ? '−' : ''}${size}`
}

export function testSize({ tested, t }: Pick<FeatureTest, 'tested' | 't'>): number {
  return tested ? Math.abs(t) : -1
}

export function testText({ tested, t, p, significant }: FeatureTest): string {
  if (!tested) return 'too few instances to test'
  return `t = ${tText(t)}, ${pValue(p)}${significant ? '' : ', not significant'}`
}

/** Returns the number of instances without a feature, class by class: `3 of 40 after have none`. */
export function missingText(
  { beforeCount, afterCount }: Pick<FeatureTest, 'beforeCount' | 'afterCount'>,
  totals: Readonly<Record<LogClass, number>>,
): string {
  const found = { before: beforeCount, after: afterCount }
  return LOG_CLASSES.flatMap((each) => {
    const missing = totals[each] - found[each]
    if (missing <= 0) return []
    const have = missing === 1 ? 'has' : 'have'
    return [`${grouped(missing)} of ${grouped(totals[each])} ${each} ${have} none`]
  }).join(', ')
}

/** Whether a variable always comes before the other one of an edge, or after it: `, always after it`. */
export function orderText(name: string, { from, directed }: AttentionEdge): string {
  if (!directed) return ''
  return from === name ? ', always before it' : ', always after it'
}
