// One process that opens files again and again; prints the seconds of the first time and of a usual one.
import { loadTraces } from '../src/traces/load-traces.ts'

const seconds: number[] = []
for (let run = 0; run < 12; run++) {
  const start = performance.now()
  await loadTraces(process.argv.slice(2))
  seconds.push((performance.now() - start) / 1000)
}
const [cold = 0, ...others] = seconds
const warm = others.sort((a, b) => a - b)[others.length >> 1] ?? 0
process.stdout.write(JSON.stringify({ cold, warm }))
