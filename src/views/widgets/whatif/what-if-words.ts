import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent } from '../../../core/words.ts'
import type { ProfileFacts } from './what-if-curves.ts'
import type { WhatIfData, WhatIfUnit } from './what-if-data.ts'
import { scenarioOf, type WhatIfChange, type WhatIfPart } from './what-if-state.ts'

export const PART_NAMES: Readonly<Record<WhatIfPart, string>> = {
  server: 'server time',
  network: 'network',
  preprocessing: 'own time',
}

/** What the sliders of a part change, for whoever reads it the first time. */
export const PART_HELP: Readonly<Record<WhatIfPart, string>> = {
  server:
    'Server time is all that calls take in a service, with the calls it makes itself: below a service that is changed, other changes do not count.',
  network: 'Network is what passes between a caller and the service.',
  preprocessing:
    'Own time is what a service does itself: before, between and after the calls it makes.',
}

export const UNIT_NAMES: Readonly<Record<WhatIfUnit, string>> = {
  service: 'services',
  operation: 'operations',
}

/** What is recomputed, of how many, and what is missing. */
export function sampleText(data: WhatIfData, by: WhatIfUnit): string {
  const { sample, rowsInAll, rows, before } = data
  const { shapeOf, ofRequests, tooLarge } = sample
  const size = shapeOf.length
  const parts = [
    size === ofRequests
      ? `Recomputed in this page, over all ${counted(ofRequests, 'request')} before`
      : `Recomputed in this page, over a sample of ${grouped(size)} of ${counted(ofRequests, 'request')} before (of all: p50 ${formatDuration(before.p50Us)}, p99 ${formatDuration(before.p99Us)})`,
    ...(tooLarge > 0 ? [`${counted(tooLarge, 'request')} of very many calls cannot be in it`] : []),
    ...(rows[by].length < rowsInAll[by]
      ? [
          `the ${grouped(rows[by].length)} of ${grouped(rowsInAll[by])} ${UNIT_NAMES[by]} that matter most have sliders`,
        ]
      : []),
  ]
  return `${parts.join('; ')}.`
}

/** What the changes do, in words: `p50 165 ms → 120 ms, p99 1.5 s → 1.2 s`. */
export function effectText(before: ProfileFacts, now: ProfileFacts): string {
  const step = (name: string, from: number, to: number) =>
    `${name} ${formatDuration(from)} → ${formatDuration(to)}`
  return [
    step('p50', before.p50Us, now.p50Us),
    step('p90', before.p90Us, now.p90Us),
    step('p99', before.p99Us, now.p99Us),
  ].join(', ')
}

/** `inventory × 0.5` and so on. */
export function changesText(changes: readonly WhatIfChange[], longest: number): string {
  return shortText(scenarioOf(changes)?.title ?? 'no change', longest)
}

/** By how much the mean changes where something takes half as long: `−12 %`, `−0.21 %`. */
export function halvedText(share: number): string {
  const size = Number(Math.abs(share * 100).toPrecision(2))
  if (size === 0) return '0 %'
  if (size < 0.01) return 'under 0.01 %'
  return `${share < 0 ? '−' : '+'}${size < 1 ? size : Math.round(size)} %`
}

/** How much of the divergence a cause explains. */
export function gainText(gain: number): string {
  return gain < 0 ? 'none' : percent(Math.min(1, gain))
}
