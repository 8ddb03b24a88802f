// npx tsx bench/fold.ts: HDFS writes of 15,386 trace points, folded to 41.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { hdfsTraces } from '../datasets/hdfs-writes/hdfs-traces.ts'
import { buildFlows } from '../src/flows/build-flows.ts'
import { foldFlows, relabeled } from '../src/flows/fold/fold-flows.ts'
import { foldGraph } from '../src/flows/fold/fold-graph.ts'

const WRITES = 1000
const TARGET = { oneMs: 50, seconds: 30, MB: 1000 }

const say = (line = '') => process.stdout.write(`${line}\n`)

interface Elapsed {
  readonly ms: number
  /** Of all threads, compiling and collecting garbage included: says more on a busy machine. */
  readonly coreMs: number
}

function startClock(): () => Elapsed {
  const start = performance.now()
  const used = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(used)
    return { ms: performance.now() - start, coreMs: (user + system) / 1000 }
  }
}

/** How long one flow's structure takes, the median of many. */
function oneStructure(): string {
  const flows = buildFlows(hdfsTraces({ writes: 30, datanodes: 50 }))
  const { labelRank, relabel } = relabeled(flows, false)
  const runs = Array.from({ length: flows.shapes.size }, (_, shape) => {
    const clock = startClock()
    const graph = { from: flows.shapes.from(shape), to: flows.shapes.to(shape) }
    foldGraph({ ...graph, labels: relabel(shape) }, labelRank)
    return clock()
  })
  const first = runs[0] as Elapsed
  const median = runs.sort((a, b) => a.ms - b.ms)[runs.length >> 1] as Elapsed
  return (
    `structure of one: ${first.ms.toFixed(0)} ms the first time (${first.coreMs.toFixed(0)} ms of cores), ` +
    `then ${median.ms.toFixed(1)} ms`
  )
}

/** Many writes: on 10 datanodes some share a shape, on 100 hardly any. */
function manyWrites(datanodes: number): string {
  const flows = buildFlows(hdfsTraces({ writes: WRITES, datanodes }))
  const before = process.resourceUsage().maxRSS / 1000
  const clock = startClock()
  const folded = foldFlows(flows)
  const { ms, coreMs } = clock()
  const MB = process.resourceUsage().maxRSS / 1000
  const nodes = new Set(Array.from(folded.shapeOf, (shape) => folded.shapes.nodeCount(shape)))
  return (
    `${WRITES} writes of ${flows.shapes.size} shapes: ${(ms / 1000).toFixed(1)} s (${(coreMs / 1000).toFixed(1)} s of cores), to ${[...nodes]} nodes; ` +
    `at most ${MB.toFixed(0)} MB, ${before.toFixed(0)} MB of it before, flows included`
  )
}

const RUNS: Record<string, () => string> = {
  one: oneStructure,
  'many, 10 datanodes': () => manyWrites(10),
  'many, 100 datanodes': () => manyWrites(100),
}

const [only] = process.argv.slice(2)
if (only === undefined) {
  for (const name of Object.keys(RUNS)) {
    const args = ['--import', 'tsx', fileURLToPath(import.meta.url), name]
    say(execFileSync(process.execPath, args, { encoding: 'utf8' }).trimEnd())
  }
  say(`targets: ${TARGET.oneMs} ms; ${TARGET.seconds} s, ${TARGET.MB} MB`)
} else say(RUNS[only]?.() ?? `There is no run ${only}; there are ${Object.keys(RUNS).join('; ')}.`)
