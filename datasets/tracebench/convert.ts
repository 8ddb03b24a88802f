// npx tsx datasets/tracebench/convert.ts RUN OUT.jsonl.gz: a run of TraceBench (a directory with event.csv, edge.csv and
// trace.csv, compressed or not) as OTLP, which flowdelta reads.
import { readTracebench } from './read-tracebench.ts'

const [run = '', out = ''] = process.argv.slice(2)
const traces = await readTracebench(run)
await traces.save(out)
const { issues } = traces.quality()
for (const { code, message } of issues) process.stderr.write(`${code}: ${message}\n`)
process.stdout.write(`${traces.size} traces, ${traces.spans.parent.length} spans\n`)
