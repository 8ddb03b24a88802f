import { formatDuration } from '../../core/units.ts'
import { signedDuration } from '../../core/words.ts'

/** What stands where there is nothing to say. */
export const NOTHING = '–'

/** A duration, or a dash. */
export function durationText(us: number): string {
  return Number.isNaN(us) ? NOTHING : formatDuration(us).replace('-', '−')
}

/** A difference, or a dash. */
export function differenceText(us: number): string {
  return Number.isNaN(us) ? NOTHING : signedDuration(us)
}

/** Two differences, from one to the other; around their middle where they look the same. */
export function intervalText([lowUs, highUs]: readonly [low: number, high: number]): string {
  if (Number.isNaN(lowUs) || Number.isNaN(highUs)) return NOTHING
  const [low, high] = [signedDuration(lowUs), signedDuration(highUs)]
  if (low !== high) return `${low} to ${high}`
  return highUs > lowUs ? `${low} ± ${formatDuration((highUs - lowUs) / 2)}` : low
}

/** A share of a change in whole per cent, with its sign where it goes the other way. */
export function shareText(share: number): string {
  if (!Number.isFinite(share)) return NOTHING
  const percent = Math.round(Math.abs(share) * 100)
  if (percent === 0 && share !== 0) return 'under 1 %'
  return `${share < 0 && percent > 0 ? '−' : ''}${percent} %`
}

/** A corrected p, without its name. */
export function chanceText(q: number): string {
  if (Number.isNaN(q)) return NOTHING
  if (q < 0.001) return 'under 0.001'
  return String(Number(q.toPrecision(2)))
}
