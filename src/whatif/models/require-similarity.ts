import { OptionError } from '../../core/errors.ts'

/** @throws OptionError for what is no distance at which orders of calls can be told apart. */
export function requireSimilarity(similarity: number): void {
  if (typeof similarity === 'number' && similarity >= 0 && similarity < 1) return
  throw new OptionError('similarity', similarity, 'a distance from 0 up and below 1')
}
