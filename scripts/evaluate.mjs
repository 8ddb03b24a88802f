// npm run evaluate: measures flowdelta on recorded cases from a fresh clone; `-- --help` lists the options.
import { join } from 'node:path'
import { ensureDependencies, ROOT, run } from './setup.mjs'

await ensureDependencies()
const args = [
  '--import',
  'tsx',
  join(ROOT, 'evaluation', 'main.ts'),
  '--data',
  join(ROOT, 'datasets', 'storage-service'),
]
process.exitCode = await run(process.execPath, [...args, ...process.argv.slice(2)])
