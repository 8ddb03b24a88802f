/** 0 for the before period, 1 for the after period. */
export type Period = 0 | 1
export const BEFORE: Period = 0
export const AFTER: Period = 1
