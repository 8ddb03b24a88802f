import { loadTraces, compare, focusOn, plot } from './src/index.ts'
import { writeFileSync } from 'node:fs'
const d='datasets/storage-service/delay-1ms/'
const c = compare(await loadTraces(d+'before.jsonl.gz'), await loadTraces(d+'after.jsonl.gz'))
const g = focusOn(c, 'mds')
g.table().print()
const chart = plot(g)
writeFileSync('/tmp/plan.svg', chart.svg()); console.log(chart.description)
try { focusOn(c, 'mdx') } catch (e) { console.log(String(e)) }
