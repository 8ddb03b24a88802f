// The unit tests on newer Nodes, by hand or nightly: node scripts/node-matrix.mjs [version…]
import { checkNode, ensureBuild, ensureDependencies, run, say } from './setup.mjs'

const VERSIONS = process.argv.length > 2 ? process.argv.slice(2) : ['24']

checkNode()
await ensureDependencies()
await ensureBuild()
for (const version of VERSIONS) {
  say(`\n── Node ${version}`)
  const node = ['--yes', '-p', `node@${version}`, 'node']
  const status = await run('npx', [...node, 'node_modules/vitest/vitest.mjs', 'run'], {
    shell: process.platform === 'win32',
  })
  if (status !== 0) {
    say(`The tests fail on Node ${version}.`)
    process.exit(1)
  }
}
