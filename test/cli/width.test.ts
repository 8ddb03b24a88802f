import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { firstSeconds, flowdelta, ROOT } from './run-cli.ts'

const PERIODS = await firstSeconds('rmw', 1)
const [, BEFORE = '', , AFTER = ''] = PERIODS
const LOGS = `${ROOT}datasets/swarm`
const HISTORY = join(temporaryFolder(), 'history.jsonl')
await flowdelta('baseline', 'write', BEFORE, '--out', HISTORY)

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  help: ['--help'],
  'help of compare': ['compare', '--help-all'],
  'help of logs': ['logs', '--help-all'],
  compare: ['compare', ...PERIODS],
  'compare --verbose': ['compare', ...PERIODS, '--verbose'],
  'compare --finding': ['compare', ...PERIODS, '--finding', '1'],
  'compare --explain': ['compare', ...PERIODS, '--explain', '1'],
  whatif: ['whatif', ...PERIODS, '--limit', '3'],
  check: ['check', AFTER, '--baseline', HISTORY],
  variance: ['variance', AFTER],
  explosion: ['explosion', AFTER],
  logs: [
    ...['logs', '--before', `${LOGS}/good.jsonl.gz`, '--after', `${LOGS}/bad.jsonl.gz`],
    ...['--instance', 'instance', '--metric', 'finish'],
  ],
}

afterEach(() => {
  vi.unstubAllEnvs()
})

/** Numbers of a row are not broken, so that tables of many need 80 columns. */
const isRow = (line: string) => /\S {2,}\S.*\S {2,}\S/.test(line)

describe.each([60, 100])('on a terminal of %i columns', (width) => {
  test.each(Object.keys(COMMANDS))('%s breaks longer lines between words', async (name) => {
    vi.stubEnv('COLUMNS', String(width))
    const { out } = await flowdelta(...(COMMANDS[name] ?? []))
    const longer = out.split('\n').filter((line) => line.length > width)
    expect(out).not.toBe('')
    expect(
      longer.filter((line) => line.trim().includes(' ') && !(width < 80 && isRow(line))),
    ).toEqual([])
  })
})
