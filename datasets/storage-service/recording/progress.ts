import { stderr } from 'node:process'
import type { Progress } from './record-case.ts'

/** Says how far a recording has come: on a terminal on one line, elsewhere once per block. */
export function showProgress({ block, blocks, requests, of }: Progress): void {
  const where = block === undefined ? 'warming up' : `block ${block} of ${blocks}`
  const line = `${where}: ${requests} of ${of} requests`
  if (stderr.isTTY) stderr.write(`\r\u001b[K${line}`)
  else if (requests === 0) stderr.write(`${line}\n`)
}
