import type { AttributeEntry } from './json-values.ts'

/**
 * Attributes of a resource, or tags of a process, as attributes of its spans: `resource.<key>`,
 * without those that `columns` already has.
 */
export function resourceAttributes(
  entries: readonly AttributeEntry[],
  columns: readonly (string | undefined)[],
): AttributeEntry[] {
  return entries
    .filter(([key]) => !columns.includes(key))
    .map(([key, value]) => [`resource.${key}`, value])
}
