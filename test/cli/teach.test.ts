import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { firstSeconds, flowdelta, schemaErrors } from './run-cli.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-teach-'))
const KNOWN = join(FOLDER, 'known.json')

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

test('answers go into a file that other commands take', async () => {
  const periods = await firstSeconds('delay-1ms', 2)
  const observed = [...periods, '--concurrency', 'observed']
  const said = ['--different', '0,1', '--by', 'Ann']
  const taught = await flowdelta('teach', ...observed, ...said, '--out', KNOWN)
  expect(taught).toMatchObject({ code: 0, err: '' })
  expect(taught.out).toMatch(/^Only requests with equal flows are the same\.\n.* 1 answer in /)
  expect(JSON.parse(readFileSync(KNOWN, 'utf8')).schema).toBe('flowdelta.knowledge/1')

  const { out } = await flowdelta('compare', ...observed, '--json', '--knowledge', KNOWN)
  expect(schemaErrors('compare', JSON.parse(out))).toBeNull()
  for (const [command, ...args] of [
    ['report', ...periods, '--out', '-'],
    ['explosion', periods[1] ?? '', '--json'],
    ['variance', periods[1] ?? ''],
  ] as const) {
    const { code } = await flowdelta(command, ...args, '--knowledge', KNOWN)
    expect([command, code]).toEqual([command, 0])
  }
})

test('what is missing, wrong, or cannot be read is said', async () => {
  const periods = await firstSeconds('delay-1ms', 2)
  const teach = (...args: string[]) => flowdelta('teach', ...periods, ...args)
  expect((await teach('--same', '0,1')).err).toContain('--out is missing')
  expect((await teach('--same', '0')).err).toContain("two numbers of categories, such as '6,9'")
  expect((await teach('--knowledge', join(FOLDER, 'none.json'))).err).toContain('(ENOENT)')
})
