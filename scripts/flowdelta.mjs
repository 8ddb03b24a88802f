#!/usr/bin/env node
// The command line. In a clone that was not built yet, it is built first; what that prints goes
// to the error stream, so that a document asked for stays one.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const built = new URL('../dist/cli.js', import.meta.url)
if (!existsSync(built)) {
  const setup = new URL('./setup.mjs', import.meta.url).href
  const program = `const { ensureBuild, ensureDependencies } = await import(${JSON.stringify(setup)})
await ensureDependencies()
await ensureBuild()`
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) process.exit(3)
}
await import(built.href)
