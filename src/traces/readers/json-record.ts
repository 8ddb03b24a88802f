/** Whether a byte can be the first of a line of JSON lines. */
export function startsRecord(byte: number): boolean {
  return byte === 123 || byte === 91 || byte === 10 || byte === 13
}

/** Whether a line is JSON lines' kind of line: one whole value. */
export function isRecord(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
