// npm run bench:calls [-- FOLDER of before.jsonl.gz and after.jsonl.gz, default: a recorded case]: bytes
// that the table of calls takes beside the flows: columns for every span, structure once a shape.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spanTimes } from '../src/calls/span-times.ts'
import { allVisits } from '../src/calls/visits.ts'
import { buildFlows } from '../src/flows/build-flows.ts'
import { loadTraces } from '../src/traces/load-traces.ts'

const MOST = 60
const RECORDED = fileURLToPath(new URL('../datasets/storage-service/mds-prefetch', import.meta.url))

function bytesUsed(): number {
  // Once is not enough: what held others alive goes first.
  for (let i = 0; i < 4; i++) globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const folder = process.argv[2] ?? RECORDED
const load = (period: string) => loadTraces(join(folder, `${period}.jsonl.gz`))
const flows = buildFlows([await load('before'), await load('after')])
const start = bytesUsed()
const visits = allVisits(flows)
const structured = bytesUsed()
const times = spanTimes(flows)
const columns = bytesUsed() - structured
let [spans, ofShapes] = [0, 0]
for (let request = 0; request < flows.size; request++) spans += times.of(request).length / 2
for (const { tree } of visits.values()) ofShapes += tree.size
const [each, ofShape] = [columns / spans, (structured - start) / ofShapes].map(Math.round)
process.stdout.write(
  `${spans} spans: ${each} bytes each in columns (at most ${MOST}); ` +
    `${visits.size} shapes: ${ofShape} bytes a span of a shape\n`,
)
if (columns > MOST * spans) process.exitCode = 1
