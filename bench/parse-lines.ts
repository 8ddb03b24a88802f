// JSON.parse of each line of files, in a process of its own; prints how long that took, without reading.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

let [ms, objects] = [0, 0]
const parseAll = (lines: readonly string[]) => {
  const start = performance.now()
  for (const line of lines) objects += Object.keys(JSON.parse(line)).length
  ms += performance.now() - start
}
for (const file of process.argv.slice(2)) {
  let lines: string[] = []
  for await (const line of createInterface({ input: createReadStream(file) })) {
    lines.push(line)
    if (lines.length < 1000) continue
    parseAll(lines)
    lines = []
  }
  parseAll(lines)
}
process.stdout.write(JSON.stringify({ seconds: ms / 1e3, objects }))
