// Reads the same bytes without looking at them, in a process of its own; prints MB/s.
import { createReadStream } from 'node:fs'

let bytes = 0
const start = performance.now()
for (const file of process.argv.slice(2)) {
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    bytes += (chunk as Uint8Array).length
  }
}
process.stdout.write(JSON.stringify({ MBps: bytes / 1e3 / (performance.now() - start) }))
