import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { grouped } from '../../src/core/words.ts'
import { randomSource } from '../../src/stats/random.ts'
import { firstSeconds, flowdelta, savedPeriods, schemaErrors } from './run-cli.ts'

const PERIODS = await savedPeriods('rmw')
const [, GOOD = '', , BAD = ''] = PERIODS
const SHORT = await firstSeconds('rmw', 1)
const [, , , SHORT_BAD = ''] = SHORT

describe('--where and --between', () => {
  test('--where keeps some requests of both periods, and says how many were left out', async () => {
    const { code, out, err } = await flowdelta(
      ...['compare', ...PERIODS, '--where', 'storage-data is called', '--json'],
    )
    expect([code, err]).toEqual([0, ''])
    const document = JSON.parse(out)
    expect(schemaErrors('compare', document)).toBeNull()
    const { before } = document.requests
    expect(before).toBeLessThan(5000)
    expect(document.warnings).toContainEqual(
      expect.objectContaining({
        code: 'selected',
        message: `before: ${grouped(before)} of 5,000 traces, where storage-data is called.`,
      }),
    )
    const [{ title }] = document.findings
    expect(title).toContain('NFS3 WRITE now calls storage-data SN READ')
  })

  test.each(['compare', 'whatif'])(
    '%s --where of an attribute that is not there names what there is',
    async (command) => {
      const { code, err } = await flowdelta(command, ...SHORT, '--where', 'opration = "NFS3 WRITE"')
      expect(code).toBe(2)
      expect(err).toMatch(/before has no attribute opration\. Did you mean operation\?$/m)
    },
  )

  test('attributes of resources are advised as a flag', async () => {
    const { err } = await flowdelta('variance', GOOD, '--where', 'cloud.zone = a')
    expect(err).toMatch(/Attributes of resources are loaded with --resource-attributes\.\n$/)
  })

  test.each(['variance', 'explosion'])('%s has the flag --between', async (command) => {
    const { code, out } = await flowdelta(command, GOOD, '--between', '0s..1s')
    expect(code).toBe(0)
    expect(out).toMatch(/! selected: .*: [\d,]+ of 5,000 traces, where time ≥ /)
  })
})

describe('--split', () => {
  test('--split compares slow requests with usual ones of one recording', async () => {
    const { code, out, err } = await flowdelta(
      'compare',
      '--split',
      'duration > 3ms',
      BAD,
      '--json',
    )
    expect([code, err]).toEqual([0, ''])
    const { requests, warnings } = JSON.parse(out)
    expect(requests.before + requests.after).toBe(5000)
    expect(warnings.map(({ message }: { message: string }) => message)).toContain(
      'duration > 3ms: 47 of 5,000 traces.',
    )
  })

  test('--split explains one stretch of time by another, and compares their variance', {
    tags: 'full',
  }, async () => {
    const halves = ['--split', '0s..2s | 2s..4s', BAD]
    const whatif = await flowdelta('whatif', ...halves, '--sample', '300', '--depth', '1')
    const slow = /^.* scenarios tried; .*\n/gm
    expect([whatif.code, whatif.err.replaceAll(slow, '')]).toEqual([0, ''])
    expect(whatif.out).toContain('are in no group')
    const { spreads } = JSON.parse((await flowdelta('variance', ...halves, '--json')).out)
    expect(spreads).toBeDefined()
  })

  test.each([
    [
      'by an attribute of many values',
      ['compare', '--split', 'operation', SHORT_BAD],
      /gives \d+ groups: .* Give two, as 'region = eu \| us'/,
    ],
    [
      'of two periods',
      ['compare', '--split', '1s', ...PERIODS],
      'Give its files alone: --split "1s" FILE…',
    ],
    ['of no file', ['whatif', '--split', '1s'], 'Give its files alone'],
    [
      'by a value that no request has',
      ['compare', '--split', 'outcome = late', SHORT_BAD],
      'has outcome = late. outcome is ',
    ],
  ])('--split %s is an error', async (_, args, message) => {
    const { code, err } = await flowdelta(...args)
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })
})

describe('--propose', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  /** A request a second, of 2 ms and, from number `slowFrom` on, of 5 ms; every third may be a PUT. */
  const recording = (name: string, slowFrom: number, putSlowFrom: number | null = null) => {
    const random = randomSource(1)
    const rows = Array.from({ length: 300 }, (_, i) => {
      const start = 1_700_000_000_000_000_000n + BigInt(i) * 1_000_000_000n
      const isPut = putSlowFrom !== null && i % 3 === 0
      const usualNs = i < (isPut ? putSlowFrom : slowFrom) ? 2e6 : 5e6
      const took = BigInt(Math.round(usualNs * Math.exp(0.2 * random.normal())))
      return `t${i},s${i},root,shop,${isPut ? 'PUT' : 'GET'},${start},${start + took},${took / 1000n}`
    })
    const head =
      'TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration'
    const file = join(folder, `${name}.csv`)
    writeFileSync(file, `${[head, ...rows].join('\n')}\n`)
    return file
  }

  test('--propose divides a recording where it changed, and says which periods it took', async () => {
    const { code, out, err } = await flowdelta('compare', '--propose', recording('changes', 120))
    expect(code).toBe(0)
    expect(err).toMatch(
      /^flowdelta: --propose: .*shop GET.* changed from [\d.]+ [mµ]s to [\d.]+ ms since 22:15:\d\d.*; the same as --split '\.\.2023-11-14T22:15:.*Z \| 2023-11-14T22:15:.*Z\.\.'$/m,
    )
    const [, split = ''] = /--split '(.*)'/.exec(err) ?? []
    expect(out).toMatch(/shop: GET itself takes [23]\.?\d* ms longer/)
    const withSplit = await flowdelta('compare', '--split', split, recording('changes', 120))
    // What the line above says of the periods is not said again.
    expect(withSplit.out.replace(/^! selected: .*\n( {2}.*\n)*/gm, '')).toBe(out)
    expect(withSplit.out).toContain('! selected: ')
  })

  test('a change that --propose takes and the comparison does not confirm is said not to be', async () => {
    const changes = ['compare', '--propose', recording('changes', 120)]
    const unconfirmed = 'flowdelta: --propose: the comparison does not confirm that change.'
    expect((await flowdelta(...changes, '--alternative', 'faster')).err).toContain(unconfirmed)
    expect((await flowdelta(...changes)).err).not.toContain(unconfirmed)
  })

  test('periods that change again within are said to be mixed, with what to compare instead', async () => {
    const file = recording('changes-twice', 100, 210)
    const { err } = await flowdelta('compare', '--propose', file)
    expect(err).toMatch(
      /^flowdelta: --propose: these periods contain other changes: within after, time of shop PUT itself changed from [12][.\d]* ms to [45][.\d]* ms since 22:1[67]:\d\d.*\. To compare/m,
    )
    const [, narrowed = ''] = /change above: --split '(.*)'/.exec(err) ?? []
    const { out } = await flowdelta('compare', '--split', narrowed, file)
    expect(out).toMatch(/^#1 {2}shop: GET itself takes [23](\.\d+)? ms longer/m)
    expect(out).not.toContain('PUT')
    expect((await flowdelta('compare', '--propose', recording('changes', 120))).err).not.toContain(
      'mixed',
    )
  })

  test.each([
    [[], 'changes level or starts to grow'],
    [['--after', BAD], '--propose divides one recording, not two periods'],
  ])('--propose is an error where there are no two periods', async (more, message) => {
    const { code, err } = await flowdelta('compare', '--propose', recording('level', 300), ...more)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})

describe('--measure', () => {
  const MEASURED = ['compare', ...PERIODS, '--measure', 'calls']

  test('--measure compares by another measure than time, and says which', async () => {
    const { code, out, err } = await flowdelta(...MEASURED)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('Compared by calls, summed over the spans of each request')
    expect(out).toMatch(/NFS3 WRITE now calls storage-data SN READ .*\n.* of the increase/)
    expect(out).not.toMatch(/\d (µs|ms|s)\b/)
  })

  test('the JSON document names the measure of --measure and its unit', async () => {
    const args = ['compare', ...SHORT, '--measure', 'calls', '--json']
    const document = JSON.parse((await flowdelta(...args)).out)
    expect(schemaErrors('compare', document)).toBeNull()
    expect(document.measure).toEqual({ name: 'calls', unit: 'calls' })
    expect(document.parameters.measure).toBe('calls')
  })

  test('--measure needs a measure that spans have', async () => {
    const { code, err } = await flowdelta('compare', ...SHORT, '--measure', 'call')
    expect(code).toBe(2)
    expect(err).toContain('No span has call as a number. Did you mean calls?')
  })
})
