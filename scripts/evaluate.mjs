// npm run evaluate: the evaluation's table from a fresh clone; arguments go to `flowdelta evaluate`.
import { join } from 'node:path'
import { ensureBuild, ensureDependencies, ROOT, run } from './setup.mjs'

await ensureDependencies()
await ensureBuild()
const args = [
  join(ROOT, 'dist', 'cli.js'),
  'evaluate',
  '--data',
  join(ROOT, 'datasets/storage-service'),
]
process.exitCode = await run(process.execPath, [...args, ...process.argv.slice(2)])
