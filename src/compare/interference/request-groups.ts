// Runs once a request and column: the loops index with `!`.

import { isOfPlace } from '../../calls/attribute-columns.ts'
import { printable } from '../../core/words.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { isNameLike, isNumberText } from '../../traces/attribute-names.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import type { RequestColumn } from '../segments/read-columns.ts'
import type { RequestColumns } from '../segments/request-columns.ts'

/** Fewest requests of a group. */
const MIN_OTHERS = 5
/** Most groups; single names come before pairs. */
const MAX_GROUPS = 300

export type Division = ReturnType<typeof groupsOf>[number]

export interface Group {
  operation: string | null
  attribute: string | null
  value: string | null
  /** Whether others are of the same operation. */
  readonly isPart: boolean
}

/** Divides all requests by operation, by names in attributes of roots and of a service, and by both. */
export function groupsOf(
  flows: FlowSet,
  {
    columns,
    chosen,
    service,
  }: { readonly columns: RequestColumns; readonly chosen: Uint8Array; readonly service: string },
) {
  const { shapes, shapeOf, labels, period, size } = flows
  const requests: number[] = []
  chosen.forEach((is, request) => {
    if (is > 0) requests.push(request)
  })
  const names = new Dictionary()
  const operations = requests.map((request) =>
    names.code(labels.get(shapes.labels(shapeOf[request]!)[0]!).operation),
  )
  const roots = columns.of(null).columns
  const isNew = ({ attribute, codes, values }: RequestColumn) => {
    const root = roots.find((one) => one.attribute === attribute)
    return requests.some(
      (one) => codes[one]! > 0 && values[codes[one]!] !== root?.values[root.codes[one]!],
    )
  }
  const byName = [...roots, ...columns.of(service).columns.filter(isNew)].filter(isNamed)
  const known = new Map<string, Group>()
  const byOperation = divide(operations, names.size, (code) => ({
    operation: names.value(code),
    attribute: null,
    value: null,
    isPart: false,
  }))
  const named = ({ attribute, values, service: of }: RequestColumn, code: number) =>
    values[code] === ''
      ? null
      : { attribute: of === null ? attribute : `${of} ${attribute}`, value: values[code]! }
  const single = byName.map((column) =>
    divide(codesOf(column), column.values.length, (code) => {
      const name = named(column, code)
      return name && { operation: null, isPart: true, ...name }
    }),
  )
  const both = byName.map((column) => {
    const pairs = codesOf(column).map((code, i) => code * names.size + operations[i]!)
    return divide(pairs, column.values.length * names.size, (pair) => {
      const name = named(column, Math.floor(pair / names.size))
      return name && { operation: names.value(pair % names.size), isPart: true, ...name }
    })
  })
  let room = MAX_GROUPS
  return [byOperation, ...single, ...(names.size > 1 ? both : [])].filter(({ groups }) => {
    const fits = groups.length <= room
    if (fits) room -= groups.length
    return fits
  })

  function codesOf({ codes }: RequestColumn): number[] {
    return requests.map((request) => codes[request]!)
  }

  function divide(codes: readonly number[], count: number, nameOf: (code: number) => Group | null) {
    const counts = new Uint32Array(count)
    codes.forEach((code, i) => {
      if (period[requests[i]!] === AFTER) counts[code]!++
    })
    const hashes = new Uint32Array(count)
    codes.forEach((code, i) => {
      hashes[code] = Math.imul(hashes[code]!, 31) + requests[i]!
    })
    const groups: Group[] = []
    const numberOf = Array.from(counts, (some, code) => {
      const name = some < MIN_OTHERS ? null : nameOf(code)
      if (name === null) return -1
      // The same requests are one group, named by all that they have in common.
      const key = `${some} ${hashes[code]}`
      const same = known.get(key)
      if (same === undefined) {
        known.set(key, name)
        return groups.push(name) - 1
      }
      same.operation ??= name.operation
      if (same.attribute === null)
        Object.assign(same, { attribute: name.attribute, value: name.value })
      return -1
    })
    const groupOf = new Int32Array(size).fill(-1)
    codes.forEach((code, i) => {
      groupOf[requests[i]!] = numberOf[code]!
    })
    return { groupOf, groups }
  }
}

/** Whether the values of a column are names, which tell whom requests are from and not where they begin. */
function isNamed({ kind, attribute, values }: RequestColumn): boolean {
  const known = values.filter((value) => value !== '')
  if (kind !== 'values' || isOfPlace(attribute)) return false
  return isNameLike(attribute) || !known.every(isNumberText)
}

export function textOf({ operation, attribute, value }: Omit<Group, 'isPart'>): string {
  const which = attribute === null ? '' : `${printable(attribute)} = ${printable(value ?? '')}`
  if (operation === null) return `requests of ${which}`
  const name = operationName({ operation })
  return which === '' ? name : `${name} of ${which}`
}
