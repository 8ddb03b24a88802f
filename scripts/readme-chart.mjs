// npm run docs: draws the chart that the README shows, from the recorded case it tells of.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuild, ensureDependencies, ROOT } from './setup.mjs'

await ensureDependencies()
await ensureBuild()
const { compare, loadTraces, plot } = await import('../dist/index.js')
const folder = join(ROOT, 'datasets', 'storage-service', 'delay-1ms')
const before = await loadTraces(join(folder, 'before.jsonl.gz'), { name: 'before' })
const after = await loadTraces(join(folder, 'after.jsonl.gz'), { name: 'after' })
const chart = plot(compare(before, after, { alternative: 'slower' }), 'ribbon', { width: 880 })
// The README says what there is to see.
const svg = chart.svg().replace(/ (?:aria-[a-z]+|role)="[^"]*"/g, '')
writeFileSync(join(ROOT, 'docs', 'ribbon.svg'), `${svg}\n`)
