import { InvalidArgumentError } from 'commander'
import type { LogFields } from '../logs/readers/log-read-options.ts'

const ROLES: readonly string[] = ['time', 'name', 'value', 'instance']

/** Reads `time=ts,name=msg,value=latency,value=bytes`: which fields of records hold what. */
export function logFields(text: string): LogFields {
  const given = new Map<string, string[]>()
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    const [role, field] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()]
    if (!ROLES.includes(role) || field === '') {
      throw new InvalidArgumentError(
        `${JSON.stringify(pair)} is none of time=FIELD, name=FIELD, value=FIELD, instance=FIELD.`,
      )
    }
    const fields = given.get(role) ?? []
    if (fields.length > 0 && role !== 'value') {
      throw new InvalidArgumentError(`Give ${role}=… once.`)
    }
    given.set(role, [...fields, field])
  }
  const values = given.get('value')
  const one = (role: 'time' | 'name' | 'instance') => {
    const [field] = given.get(role) ?? []
    return field === undefined ? {} : { [role]: field }
  }
  return {
    ...{ ...one('time'), ...one('name'), ...one('instance') },
    ...(values !== undefined && { value: values.length === 1 ? (values[0] as string) : values }),
  }
}
