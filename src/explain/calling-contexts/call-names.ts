import type { NodeLabel } from '../../flows/node-labels.ts'

/** What a trace point says it is: where something begins, where it ends, or neither. */
export interface PointRole {
  /** The point's name without the word that says which end it is: `NFS3_READ`. */
  readonly name: string
  readonly ends: boolean
}

const OPENING = /(^|_)(CALL|REQUEST|START|BEGIN|ENTER|ENTRY)(_TYPE)?(?=_|$)/i
const CLOSING = /(^|_)(REPLY|RESPONSE|RETURN|END|EXIT|DONE)(_TYPE)?(?=_|$)/i

/**
 * Reads a trace point's name: `NFS3_READ_CALL_TYPE` begins `NFS3_READ`, which
 * `NFS3_READ_REPLY_TYPE` ends. What follows the first line is a semantic label and says neither.
 */
export function pointRole({ operation }: NodeLabel): PointRole {
  const [first = ''] = operation.split(/\n|\\n/)
  const ends = CLOSING.test(first)
  const name = first.replace(ends ? CLOSING : OPENING, '')
  return { name: name === '' ? first : name, ends }
}

/** The machine of a host that names a thread as well: `m1` of `m1__t1`. */
export function machineOf({ host }: NodeLabel): string {
  return host.split('__')[0] as string
}

/** A trace point on one line: its name and its semantic label. */
export function pointName({ operation }: NodeLabel): string {
  return operation.replace(/\n|\\n/g, ' ')
}
