import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { firstSeconds, flowdelta, periods } from './run-cli.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-report-'))
const SHORT = await firstSeconds('rmw', 1)

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

const report = (...args: string[]) => flowdelta('report', ...args)

describe('flowdelta report', () => {
  test('writes one page with its charts, and nothing else', async () => {
    const file = join(FOLDER, 'delay.html')
    const outcome = await report(
      ...(await firstSeconds('delay-1ms', 2)),
      ...['--out', file, '--trace-url', 'jaeger=http://localhost:16686'],
    )
    expect(outcome).toEqual({ code: 0, out: `${file}: 1 finding as one HTML page\n`, err: '' })
    const page = readFileSync(file, 'utf8')
    expect(page).toMatch(/^<!doctype html>/)
    expect(page).toMatch(/<h1>Requests take \d+ µs longer on average/)
    expect(page).toMatch(/<h3>.*SN WRITE itself takes .* longer/)
    expect(page).toMatch(/href="http:\/\/localhost:16686\/trace\/[0-9a-f]{32}"/)
    expect(page.match(/<svg /g)?.length).toBeGreaterThanOrEqual(2)
    expect(page).not.toContain('<script')
    expect(page).toMatch(/Made by flowdelta \d+\.\d+\.\d+\./)
    expect(page.length).toBeLessThan(500_000)
  })

  test('says of a control that nothing was found, and what would have been', async () => {
    const { code, out } = await report(...(await firstSeconds('control', 3)), '--out', '-')
    expect(code).toBe(0)
    expect(out).toContain('<h1>No change found</h1>')
    expect(out).toMatch(
      /In the most frequent type \(.*; [\d,]+ requests before, [\d,]+ after\), changes under [\d.]+ [µm]s may be missed[;.]/,
    )
  })

  test('--markdown goes to standard output, and to a file when one is named', async () => {
    const file = join(FOLDER, 'rmw.md')
    const { out } = await report(...periods('rmw'), '--markdown')
    expect(out).toMatch(/^### The median request takes .* longer/)
    expect(out).toMatch(/\| 1 \| .*storage-data SN READ/)
    expect(out.split('\n').length).toBeLessThanOrEqual(65)
    const { out: short } = await report(...SHORT, '--markdown')
    expect(short).toContain('SN READ')
    expect((await report(...SHORT, '--markdown', '--out', '-')).out).toBe(short)
    expect((await report(...SHORT, '--markdown', '--out', file)).out).toBe(
      `${file}: 1 finding as Markdown\n`,
    )
    expect(readFileSync(file, 'utf8')).toBe(short)
  })

  test('is written as the name of its file ends', async () => {
    const start = async (name: string) => {
      const file = join(FOLDER, name)
      expect((await report(...SHORT, '--out', file)).code).toBe(0)
      return readFileSync(file, 'utf8').slice(0, 4)
    }
    expect(await start('ending.md')).toBe('### ')
    expect(await start('ending.HTM')).toBe('<!do')
  })

  test('options of comparisons reach it', async () => {
    expect((await report(...SHORT, '--markdown')).out).toContain('SN READ')
    const { out } = await report(...SHORT, '--markdown', '--findings-threshold', '100000')
    expect(out).not.toContain('SN READ')
  })
})

describe('wrong usage ends with exit code 2, before anything is compared', () => {
  test.each([
    ['no file to write', [], "--out is missing. Give the HTML file to write, or '-'"],
    [
      'a name that is of no report',
      ['--out', 'r.pdf'],
      '--out is "r.pdf". Give a name that ends with .html or .md.',
    ],
    ['an address of another kind', ['--out', '-', '--trace-url', 'ftp://x/{traceId}'], 'ftp://x/'],
    ['an address without a place', ['--out', '-', '--trace-url', 'http://x/'], 'with {traceId}'],
  ])('%s', async (_, options, message) => {
    const { code, out, err } = await report('--before', 'none', '--after', 'none', ...options)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(message)
  })

  test('a file that cannot be written', async () => {
    const file = join(FOLDER, 'no-such-folder', 'report.html')
    const { code, err } = await report(...SHORT, '--out', file)
    expect(code).toBe(2)
    expect(err).toContain(file.slice(0, 40))
    expect(err).toContain('ENOENT')
  })
})
