import { loadTraces, compare } from './src/index.ts'
import { findBlindSpots } from './src/explain/blind-spots.ts'
const d='datasets/storage-service/delay-1ms/'
const c = compare(await loadTraces(d+'before.jsonl.gz'), await loadTraces(d+'after.jsonl.gz'))
console.time('x'); const s = findBlindSpots(c); console.timeEnd('x')
s.table().print(12)
const sh='/work/shared/cases/traces/cache-miss/'
import { readdirSync } from 'node:fs'
const f = readdirSync(sh)
const k = compare(await loadTraces(sh+f.find(x=>x.startsWith('before'))), await loadTraces(sh+f.find(x=>x.startsWith('after'))))
findBlindSpots(k).table().print(12)
