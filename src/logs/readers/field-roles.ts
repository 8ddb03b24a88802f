import type { ReadSettings } from './log-read-options.ts'

export const TIME = 0
export const NAME = 1
export const VALUE = 2
export const INSTANCE = 3
export const NUMBER = 4

/** What a field is for. */
export interface FieldRole {
  readonly role: number
  /** Of several fields of one role the first counts: smaller is earlier. */
  readonly rank: number
  /** Of a name: whether it is free text. */
  readonly isText: boolean
}

/** What the fields of records are for, by their names. */
export function fieldRoles(settings: ReadSettings): ReadonlyMap<string, FieldRole> {
  const { time, name, value, numbers, instance, isText } = settings
  const roles = new Map<string, FieldRole>()
  const add = (role: number, fields: readonly string[]) => {
    for (const [rank, field] of fields.entries()) {
      if (!roles.has(field)) roles.set(field, { role, rank, isText: isText(field) })
    }
  }
  add(INSTANCE, instance === undefined ? [] : [instance])
  add(TIME, time)
  add(NAME, name)
  add(VALUE, value === undefined ? [] : [value])
  add(NUMBER, numbers)
  return roles
}
