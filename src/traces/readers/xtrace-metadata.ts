/** Bytes of a task id by the two lowest bits of the flags. */
const TASK_ID_BYTES = [4, 8, 12, 20] as const
const OPTIONS = 4
const LONG_OPERATION_ID = 8
const NEWEST_VERSION = 1

/** The two ids in X-Trace metadata, in capital hexadecimal digits. */
export interface XtraceMetadata {
  readonly task: string
  readonly operation: string
}

/**
 * Takes X-Trace metadata apart: flags, task id, operation id, then options, which are passed over
 * (Fonseca & Porter, X-Trace Metadata Format 2.1.1, §2 and §3).
 *
 * @returns what is wrong with it, as text, where it cannot be used
 */
export function parseXtraceMetadata(text: string): XtraceMetadata | string {
  const hex = text.toUpperCase()
  if (!/^([0-9A-F]{2})+$/.test(hex)) return 'it is not hexadecimal bytes'
  const flags = Number.parseInt(hex.slice(0, 2), 16)
  const version = flags >> 4
  if (version > NEWEST_VERSION) return `its version is ${version}`
  if (version === 0 && flags & LONG_OPERATION_ID) return 'version 0 has no long operation ids'
  const taskEnd = 2 + 2 * (TASK_ID_BYTES[(flags & 3) as 0 | 1 | 2 | 3] as number)
  const operationEnd = taskEnd + (flags & LONG_OPERATION_ID ? 16 : 8)
  const optionBytes =
    flags & OPTIONS ? Number.parseInt(hex.slice(operationEnd, operationEnd + 2), 16) : -1
  const bytes = (operationEnd >> 1) + 1 + optionBytes
  if (hex.length / 2 !== bytes)
    return `it has ${hex.length / 2} bytes and not the ${bytes} its flags say`
  const task = hex.slice(2, taskEnd)
  if (isZeros(task)) return 'its task id is zero'
  return { task, operation: hex.slice(taskEnd, operationEnd) }
}

/** An id of zeros is none. */
export function isZeros(id: string): boolean {
  return /^0*$/.test(id)
}
