import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Long simulations, recording runs, public data, and what else takes long in a browser or a kernel:
 * `npm run test:full`, which also runs the tests of other files that are marked `{ tags: 'full' }`.
 */
const FULL = 'test/**/*.full.test.ts'
/** Tests that start kernels: ZeroMQ's native code wants processes of its own, not worker threads. */
const NOTEBOOKS = 'test/views/notebook/{notebooks,*-session}.test.ts'
/** Tests that open pages in Chromium. */
const BROWSER = 'test/**/*-page.test.ts'

/** Notebooks take longest and compute; pages mostly wait for the browser, best beside them. */
class NotebooksFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files)
    const isNotebook = ({ project }: TestSpecification) => project.name === 'notebooks'
    return [...sorted.filter(isNotebook), ...sorted.filter((file) => !isNotebook(file))]
  }
}

const shared = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  setupFiles: ['test/property-seed.ts'],
}

/** Flags of worker threads are those of the process that `scripts/test.mjs` starts. */
const inProcesses = { pool: 'forks', execArgv: ['--single-threaded-gc'] } as const

export default defineConfig({
  test: {
    globalSetup: ['test/global-setup.ts'],
    maxWorkers: 2,
    sequence: { sequencer: NotebooksFirst },
    tags: [
      { name: 'full', description: 'takes long: `npm run test:full` runs it, `npm test` does not' },
    ],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [FULL, NOTEBOOKS, BROWSER],
          pool: 'threads',
          isolate: false,
          ...shared,
        },
      },
      {
        test: { name: 'browser', include: [BROWSER], pool: 'threads', isolate: false, ...shared },
      },
      { test: { name: 'notebooks', include: [NOTEBOOKS], ...inProcesses, ...shared } },
      { test: { name: 'full', include: [FULL], ...inProcesses, ...shared } },
    ],
  },
})
