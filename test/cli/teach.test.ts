import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { firstSeconds, flowdelta, schemaErrors } from './run-cli.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-teach-'))
const KNOWN = join(FOLDER, 'known.json')

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

test('answers and notes go into a file that other commands take', async () => {
  const periods = await firstSeconds('delay-1ms', 2)
  const plain = JSON.parse((await flowdelta('compare', ...periods, '--json')).out)
  const { id } = plain.findings[0]
  const observed = [...periods, '--concurrency', 'observed']
  const said = ['--different', '0,1', '--note', 'A slow disk.', '--about', id, '--by', 'Ann']
  const taught = await flowdelta('teach', ...observed, ...said, '--out', KNOWN)
  expect(taught).toMatchObject({ code: 0, err: '' })
  expect(taught.out).toMatch(
    /^Only requests with equal flows are the same\.\n.* 1 answer, 0 names and 1 note /,
  )
  expect(JSON.parse(readFileSync(KNOWN, 'utf8')).schema).toBe('flowdelta.knowledge/1')

  const { out } = await flowdelta('compare', ...observed, '--json', '--knowledge', KNOWN)
  const document = JSON.parse(out)
  expect(schemaErrors('compare', document)).toBeNull()
  expect(document.findings[0].facts.join()).toMatch(/seen on \d{4}-\d\d-\d\d by Ann: A slow disk\./)
  const page = await flowdelta('report', ...periods, '--knowledge', KNOWN, '--out', '-')
  expect(page.out).toContain('by Ann: A slow disk.')
})

test('what is missing, wrong, or cannot be read is said', async () => {
  const periods = await firstSeconds('delay-1ms', 2)
  const teach = (...args: string[]) => flowdelta('teach', ...periods, ...args)
  expect((await teach('--same', '0,1')).err).toContain('--out is missing')
  expect((await teach('--same', '0')).err).toContain("two numbers of categories, such as '6,9'")
  expect((await teach('--note', 'x')).err).toContain('--note and --about belong together')
  const nobody = await teach('--note', 'x', '--about', 'nothing', '--out', KNOWN)
  expect(nobody.err).toMatch(/--about is "nothing"\. Give the id of a finding \(\w+/)
  const ofLogs = await flowdelta('logs', '--before', 'a', '--after', 'b', '--knowledge', KNOWN)
  expect(ofLogs.err).toContain('--knowledge holds names and notes')
  expect((await teach('--knowledge', join(FOLDER, 'none.json'))).err).toContain('(ENOENT)')
})

test('names are shown by every command that takes traces', async () => {
  const named = join(FOLDER, 'named.json')
  const periods = await firstSeconds('delay-1ms', 2)
  const name = (...args: string[]) =>
    flowdelta('teach', ...periods, ...args.flatMap((one) => ['--name', one]), '--out', named)
  expect((await name('service:disks=x')).err).toMatch(/--name is "service:disks".*teach or/)
  const given = ['service:storage-data=disks', 'step:frontend NFS3 WRITE=write a file']
  expect((await name(...given)).out).toContain('0 answers, 2 names and 0 notes')
  const listed = await flowdelta('teach', ...periods, '--knowledge', named)
  expect(listed.out).toContain('service:storage-data  storage-data, called disks (')
  const [, before = ''] = periods
  const shown = async (command: string, ...args: string[]) => {
    const { code, out, err } = await flowdelta(command, ...args, '--knowledge', named)
    // A busy machine says after a second how far it is.
    expect([command, code, err.replace(/^\d+ of \d+ scenarios tried.*\n/gm, '')]).toEqual([
      command,
      0,
      '',
    ])
    return out
  }
  expect(await shown('compare', ...periods)).toContain('disks (storage-data)')
  expect(await shown('report', ...periods, '--out', '-')).toContain('disks (storage-data)')
  expect(await shown('variance', before)).toContain('frontend write a file (NFS3 WRITE)')
  expect(await shown('explosion', before, '--json')).toContain('"categories"')
  expect(await shown('whatif', ...periods, '--service', 'storage-data')).toContain('disks')
  expect(await shown('whatif', ...periods, '--apply', 'storage-data*0.5')).toContain('× 0.5')
  const history = join(FOLDER, 'history.jsonl')
  await flowdelta('baseline', 'write', before, '--out', history, '--name', 'v1')
  const check = ['check', before, '--baseline', history] as const
  expect(await shown(...check)).toContain('frontend write a file (NFS3 WRITE)')
  expect(JSON.parse(await shown(...check, '--as', 'json')).types[0].name).toContain('write a file')
})
