import type { Period } from '../volumes/period.ts'

/** Empties a process's volume of one period and sets it up. */
export interface Setup<Configuration> {
  readonly period: Period
  readonly configuration: Configuration
}
