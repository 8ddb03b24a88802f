import { percent } from '../../core/words.ts'

/** A share of the variance as it is said; one of less than a half per cent either way is hardly any. */
export function varianceShare(share: number): string {
  if (share >= 0) return percent(share)
  return share > -0.005 ? 'under 1 %' : `−${percent(-share)}`
}
