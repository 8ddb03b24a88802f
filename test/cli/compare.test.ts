import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { describeWithShared, sharedFile } from '../shared.ts'
import {
  firstSeconds,
  flowdelta,
  flowdeltaProcess,
  periods,
  ROOT,
  schemaErrors,
} from './run-cli.ts'

const PERIODS = periods('rmw')
const SHORT = await firstSeconds('rmw', 1)
/** So few requests have mutations with this threshold only. */
const RANKED = ['compare', ...SHORT, '--sm-p-threshold', 'auto']
/** Two tests read the document of this run. */
const EXPLAINED = ['compare', ...PERIODS, '--json', '--explain', '1']
const CREATING = await firstSeconds('create-behaviour', 2)
const TITLE =
  'frontend: NFS3 WRITE now calls storage-data SN READ after cache lookup in 28 of 58 calls (0 of 58 before)'

describe('flowdelta compare', () => {
  test('--json prints a document that its schema describes', async () => {
    const { code, out } = await flowdelta(...EXPLAINED)
    expect(code).toBe(0)
    const document = JSON.parse(out)
    expect(schemaErrors('compare', document)).toBeNull()
    expect(document).toMatchObject({
      schema: 'flowdelta.comparison/1',
      parameters: {
        smPThreshold: 50,
        alpha: 0.05,
        alternative: 'two-sided',
        correction: 'none',
        oneToN: true,
        concurrency: 'learned',
        omitHosts: false,
      },
      requests: { before: 5000, after: 5000 },
    })
    expect(document.truncated).toBeUndefined()
    expect(document.mutations[0]).toMatchObject({ rank: 1, kind: 'structural' })
    expect(document.mutations[0].exemplars.after).toHaveLength(3)
    expect(document.findings).toMatchObject([
      {
        kind: 'structure',
        direction: 'slower',
        mutations: [1],
        services: ['frontend', 'storage-data'],
        changedStructure: [{ change: 'added', label: 'frontend-0 SN READ call' }],
        operation: 'NFS3 WRITE',
        requests: { before: { n: 0, of: 5000 }, after: { n: 1100, of: 5000 } },
        requestsTouched: 1100,
        size: { unit: 'rate', per: 'call', value: 1100 / 2400 },
        consequenceOf: null,
      },
      // What was read just before is written sooner.
      { kind: 'latency', direction: 'faster', services: ['storage-data', 'frontend'] },
    ])
    const [{ id, p, q: corrected, size, consequences }, beneath] = document.findings
    expect(id).toMatch(/^structure-/)
    expect(consequences).toEqual([beneath.id])
    expect(beneath.consequenceOf).toBe(id)
    expect(p).toBeLessThanOrEqual(corrected)
    expect(size.interval[0]).toBeLessThan(size.value)
    expect(size.interval[1]).toBeGreaterThan(size.value)
    expect(document.summary).toMatch(/^Together, 5,000 requests took /)
    const { observedUs, attributedUs, remainderUs } = document.change
    expect(attributedUs + remainderUs).toBeCloseTo(observedUs, 6)
    const { medianShiftUs, interval, q } = document.mutations[0].effect
    expect(interval[0]).toBeLessThan(medianShiftUs)
    expect(interval[1]).toBeGreaterThan(medianShiftUs)
    expect(q).toBeLessThan(0.001)
  })

  test('--explain adds why, to finding and mutation of the rank, and its schema describes it', async () => {
    const { code, out } = await flowdelta(...EXPLAINED)
    expect(code).toBe(0)
    const document = JSON.parse(out)
    expect(schemaErrors('compare', document)).toBeNull()
    const first = {
      question: 'what-differs',
      conditions: [{ column: 'frontend NFS3 WRITE · count', op: '<=', value: 4096 }],
      predicts: 'mutation',
      precision: expect.closeTo(110 / 111, 6),
      recall: 1,
    }
    expect(document.mutations[0].explanation.paths[0]).toMatchObject(first)
    expect(document.findings[0].explanation.paths[0]).toMatchObject(first)
    expect(document.mutations[0].explanation.excluded).toContainEqual({
      column: 'frontend NFS3 WRITE · stable',
      reason: 'constant',
    })
  })

  test('--explain prints mutation and conditions in lines of at most 100 characters', {
    tags: ['full'],
  }, async () => {
    const { out } = await flowdelta('compare', ...PERIODS, '--explain', '1')
    expect(out).toContain('Mutation 1 by parameters: frontend NFS3 WRITE, category 5')
    expect(out).toContain('Where frontend NFS3 WRITE · count is at most 4,096')
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  test('--explain names finding and mutation, and no heading stands without an answer', {
    tags: ['full'],
  }, async () => {
    const periods = await firstSeconds('delay-1ms', 20)
    const { out } = await flowdelta('compare', ...periods, '--explain', '1')
    const said = out.slice(out.indexOf('Finding #1 by parameters')).split('\n')
    expect(
      said.filter((line) => /^(Finding|Mutation) #?1 by parameters: /.test(line)),
    ).toHaveLength(2)
    const answered = said.flatMap((line, i) => (/^What .*\?/.test(line) ? [said[i + 1]] : []))
    expect(answered.filter((line) => !line?.startsWith('  Where '))).toEqual([])
    expect(said.join('\n')).toMatch(/^No parameter tells .*\.$/m)
  })

  test('--explain of a rank that is not there says which there are', async () => {
    const { code, err } = await flowdelta('compare', ...SHORT, '--explain', '7')
    expect(code).toBe(2)
    expect(err).toContain(
      `'#7' is not the rank or the id of a finding. Did you mean '#1'? Give '#1', `,
    )
  })

  test('options reach the comparison', async () => {
    const options = ['--sm-p-threshold', '10', '--alpha', '0.01', '--alternative', 'slower']
    const more = [
      '--correction',
      'bh',
      '--no-one-to-n',
      '--omit-hosts',
      '--concurrency',
      'observed',
    ]
    const statistics = [
      '--clocks',
      'recorded',
      '--test',
      'mann-whitney',
      '--centre',
      'median',
      '--counts',
      'scaled',
    ]
    const { out } = await flowdelta(
      ...['compare', ...SHORT, ...options, ...more, ...statistics, '--json'],
    )
    expect(JSON.parse(out).parameters).toEqual({
      sample: 40_000,
      smPThreshold: 10,
      findingsThreshold: 'auto',
      interference: true,
      alpha: 0.01,
      alternative: 'slower',
      correction: 'bh',
      oneToN: false,
      concurrency: 'observed',
      clocks: 'recorded',
      omitHosts: true,
      hostClasses: false,
      sizeAttribute: null,
      sizeUnit: 'bytes',
      fold: 'none',
      knowledge: null,
      measure: 'time',
      sampling: 'recorded',
      paths: 'called',
      labelBy: [],
      editTokens: 'preorder',
      counts: 'scaled',
      test: 'mann-whitney',
      centre: 'median',
      rankBy: 'mutation',
      segments: true,
      events: [],
    })
  })

  test('--event, given more than once, says what findings began after', {
    tags: ['full'],
  }, async () => {
    const { code, out } = await flowdelta(
      ...['compare', ...periods('broken-replica'), '--json'],
      ...['--event', '2026-11-22T14:36:31Z deploy storage-data, one replica'],
      ...['--event', '14:40Z too late'],
    )
    expect(code).toBe(0)
    const document = JSON.parse(out)
    expect(schemaErrors('compare', document)).toBeNull()
    expect(document.parameters.events).toHaveLength(2)
    expect(document.findings[0].since.follows).toEqual({
      time: '2026-11-22T14:36:31.000Z',
      event: 'deploy storage-data, one replica',
    })
  })

  test('--event without a time is refused with an example', async () => {
    const { code, err } = await flowdelta('compare', ...SHORT, '--event', 'yesterday deploy')
    expect(code).toBe(2)
    expect(err).toContain("such as '2026-10-01T11:15Z deploy checkout 2.0'")
  })

  test('--sm-p-threshold says what it changed, and that findings have another', async () => {
    const { out } = await flowdelta('compare', ...SHORT, '--sm-p-threshold', '0')
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /--sm-p-threshold 0: the ranking has \d+ structural mutations? and \d+ precursors?(; with 50, 0 structural mutations and 0 precursors|, same as with 50)\. Findings use --findings-threshold\./,
    )
    const usual = await flowdelta('compare', ...SHORT, '--sm-p-threshold', '50')
    expect(usual.out).not.toContain('--sm-p-threshold')
  })

  test('--sm-p-threshold auto lists what is significant', async () => {
    const { out } = await flowdelta(...RANKED, '--json')
    const { parameters, mutations } = JSON.parse(out)
    expect(parameters.smPThreshold).toBe('auto')
    expect(mutations).toMatchObject([{ rank: 1, kind: 'structural' }])
  })

  test('--limit cuts categories and mutations, and says how many there are', async () => {
    const { out } = await flowdelta('compare', ...CREATING, '--json', '--limit', '2')
    const { categories, mutations, truncated } = JSON.parse(out)
    expect([categories.length, mutations.length]).toEqual([2, 2])
    expect(truncated.categories).toBeGreaterThan(2)
    expect(truncated.mutations).toBeGreaterThan(2)
  })

  test('--verbose prints every ranked mutation and what it does more', async () => {
    const { code, out } = await flowdelta(...RANKED, '--limit', '1', '--verbose')
    expect(code).toBe(0)
    expect(out).toMatch(
      /^\d+ requests before, \d+ after, in \d+ different call structures\nResponse time: mean .* → .*, median /,
    )
    expect(out).toContain(
      '\n#1  frontend: NFS3 WRITE now calls storage-data SN READ after cache lookup',
    )
    expect(out).toMatch(/1\. frontend NFS3 WRITE\n {3}structural, category \d+: \+/)
    expect(out).toContain('adds frontend-0 SN READ call, storage-data-0 SN READ call')
    const many = await flowdelta('compare', ...CREATING, '--limit', '1', '--verbose')
    expect(many.out).toMatch(/… and \d+ more; raise --limit to see them\.\n$/)
  })

  const fitsScreen = async (flags: readonly string[]) => {
    const { out } = await flowdelta('compare', ...flags)
    const lines = out.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(40)
    expect(lines.filter((line) => line.length > 100)).toEqual([])
    // Where nothing is warned of, there is no more to read than a finding.
    expect(out).toMatch(/--verbose: |--finding |No significant change/)
  }

  test('the text of a second of rmw fits a screen of 40 lines by 100 columns', () =>
    fitsScreen(SHORT))

  test.each(['rmw', 'delay-1ms', 'control'])(
    'the text of %s fits a screen of 40 lines by 100 columns',
    { tags: ['full'] },
    (name) => fitsScreen(periods(name)),
  )
})

describe('--dot', () => {
  test.each([
    ['1', /category \d+ before: \d+ requests.*category \d+ after.*change="added"/s],
    ['category 0', /category 0 before: .*category 0 after: /],
    ['category 0 | 1', /category 0 before: .*category 1 after: /],
  ])('%s prints a graph', async (which, expected) => {
    const { code, out } = await flowdelta(...RANKED, '--dot', which)
    expect(code).toBe(0)
    expect(out).toMatch(/^digraph flow \{\n.*\n\}\n$/s)
    expect(out).toMatch(expected)
  })

  test('prints the requests of a trace', async () => {
    const { out } = await flowdelta(...RANKED, '--json')
    const [id] = JSON.parse(out).mutations[0].exemplars.after
    const { out: dot } = await flowdelta(...RANKED, '--dot', `trace ${id}`)
    expect(dot).toMatch(new RegExp(`^# ${id}  R: [\\d.]+ usecs RT: [\\d.]+ usecs\ndigraph flow`))
  })

  test.each(['category', 'category 9999', 'trace nowhere', '99'])(
    '%s is no flow',
    async (which) => {
      const { code, out } = await flowdelta('compare', ...SHORT, '--dot', which)
      expect([code, out]).toEqual([2, ''])
    },
  )
})

describe('--fail-on', () => {
  const failOn = (...conditions: readonly string[]) =>
    flowdelta('compare', ...SHORT, ...conditions.flatMap((each) => ['--fail-on', each]))

  test('of several conditions names those that hold, when a finding adds between 3 and 20 % to all response times', async () => {
    const holding = ['contribution>3%', 'contribution>3% and contribution>3ms', 'any']
    const both = 'contribution>3% and contribution>1s'
    const { code, err } = await failOn(...holding, both, 'contribution>20%', 'shift>10s')
    expect(code).toBe(1)
    expect(err).toBe(
      holding.map((each) => `flowdelta: --fail-on ${each} holds for #1 ${TITLE}\n`).join(''),
    )
  })

  test('is silent and ends with exit code 0 when no condition holds', async () => {
    const { code, err } = await failOn('contribution>20%', 'contribution>1s', 'shift>1ms')
    expect([code, err]).toEqual([0, ''])
  })

  test('where nothing changed, any is silent, and --explain has nothing to add', async () => {
    const options = ['--fail-on', 'any', '--explain', '1']
    const { code, out } = await flowdelta(
      'compare',
      ...(await firstSeconds('control', 3)),
      ...options,
    )
    expect(code).toBe(0)
    expect(out).toContain('No significant change. In the most frequent type (')
    expect(out).not.toContain('by parameters')
  })

  test('what became faster does not fail', async () => {
    const [, before = '', , after = ''] = SHORT
    const { code, out } = await flowdelta(
      ...['compare', '--before', after, '--after', before, '--fail-on', 'any'],
    )
    expect(out).toContain('NFS3 WRITE no longer calls storage-data SN READ')
    expect(code).toBe(0)
  })
})

describeWithShared('--fail-on errors', () => {
  test('holds for more than a share of failing calls', { tags: ['full'] }, async () => {
    const file = (name: string) => sharedFile(`data/hdx-eval/deploy-regression-7/${name}.jsonl.gz`)
    const { code, err } = await flowdelta(
      ...['compare', '--before', file('before') as string, '--after', file('after') as string],
      ...['--no-segments', '--fail-on', 'errors>5%', '--fail-on', 'errors>8%'],
    )
    expect(code).toBe(1)
    expect(err).toMatch(/^flowdelta: --fail-on errors>5% holds for #1 checkout-api: POST .*\n$/)
  })
})

const FILES = SHORT.filter((arg) => !arg.startsWith('--'))

test.each([
  ['compare', ['--json']],
  ['report', ['--markdown']],
  ['whatif', ['--apply', 'storage-data*2']],
])('two paths right behind %s are the periods before and after', async (command, flags) => {
  const named = await flowdelta(command, ...SHORT, ...flags)
  expect(named.code).toBe(0)
  expect(await flowdelta(command, ...FILES, ...flags)).toEqual(named)
})

describe('wrong usage ends with exit code 2 and says what to do', () => {
  test('a file that is not there', async () => {
    const { code, out, err } = await flowdelta('compare', '--before', 'no-such', '--after', 'x')
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('no-such')
  })

  test('a file in no known format', async () => {
    const other = fileURLToPath(import.meta.url)
    const { code, err } = await flowdelta('compare', '--before', other, '--after', other)
    expect(code).toBe(2)
    expect(err).toContain('compare.test.ts')
  })

  test.each([
    [['--sm-p-threshold', 'many'], "'many' is invalid"],
    [['--alpha', '2'], "'2' is invalid"],
    [['--alternative', 'better'], "'better' is invalid"],
    [['--limit', '0'], "'0' is invalid"],
    [['--fail-on', 'shift>5%'], "'shift>5%' is invalid"],
    [
      ['--fail-on', 'contribution'],
      "Give 'contribution>5%', 'contribution>2s', 'shift>10ms', 'errors>1%' or 'any'; 'shift>5%' and 'missing' are judged by flowdelta check.",
    ],
    [['--test', 't'], 'Allowed choices are ks, mann-whitney'],
    [['--test', 'mann-whitny'], 'Did you mean mann-whitney? Allowed choices are ks,'],
    [['--threshold', '5'], "unknown option '--threshold'"],
  ])('%j', async (options, message) => {
    const { code, err } = await flowdelta('compare', ...PERIODS, ...options)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  test('a flag of other commands names these', async () => {
    const { code, err } = await flowdelta('report', ...SHORT, '--fail-on', 'any')
    expect(code).toBe(2)
    expect(err).toContain(
      '(--fail-on belongs to flowdelta compare, flowdelta logs, flowdelta whatif and flowdelta check.)',
    )
  })

  test('a missing period', async () => {
    const { code, err } = await flowdelta('compare', '--before', PERIODS[1] as string)
    expect(code).toBe(2)
    expect(err).toContain("required option '--after <file...>' not specified")
  })

  test.each([
    ['compare', []],
    ['whatif', ['--apply', 'web*1.5']],
  ])('one file of %s that no flag says the period of', async (command, options) => {
    const { code, err } = await flowdelta(command, 'one.json', ...options)
    expect(code).toBe(2)
    expect(err).toMatch(
      /\(Say which period one\.json is: --before or --after\. If it holds both, divide it with --split\.\)\n$/,
    )
  })

  test('two files, of which a flag divides one source', async () => {
    const { code, err } = await flowdelta('compare', ...FILES, '--split', 'service')
    expect([code, err]).toEqual([2, expect.stringContaining('"service" gives 1 group')])
  })

  test('a misspelt period', async () => {
    const { code, err } = await flowdelta('compare', '--before', 'a', '--aftr', 'b')
    expect(code).toBe(2)
    expect(err).toMatch(/\(Did you mean --after instead of --aftr\?\)\n$/)
  })
})

test('a flow of thousands of spans does not make the document endless', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-deep-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = (name: string, slowerUs: number) => {
    const spans = Array.from({ length: 30 }, (_, trace) =>
      Array.from({ length: 500 }, (_, i) => ({
        traceId: `t${trace}`,
        id: `${i + 1}`,
        name: `step ${i}`,
        timestamp: 1000 * trace + i,
        ...(i > 0 && { parentId: `${i}` }),
        duration: 2000 - 2 * i + slowerUs + trace,
        localEndpoint: { serviceName: 'deep' },
      })),
    ).flat()
    writeFileSync(join(folder, name), JSON.stringify(spans))
    return join(folder, name)
  }
  const [before, after] = [file('before.json', 0), file('after.json', 400)]
  const { out, code } = await flowdelta(
    ...['compare', '--before', before, '--after', after, '--json', '--budget', '0'],
  )
  expect(code).toBe(0)
  const [mutation] = JSON.parse(out).mutations
  expect(mutation.edges).toHaveLength(200)
  expect(mutation.edgesInAll).toBeGreaterThan(900)
  expect(mutation.edges.some(({ rejected }: { rejected: boolean }) => rejected)).toBe(true)
})

describe('flowdelta schema', () => {
  test('prints the schema of a document, with the options of the command', async () => {
    const { code, out } = await flowdelta('schema', 'compare')
    // An edge's contribution is no share of its finding's.
    expect(out).toContain('shiftUs, the typical change, times its calls on critical paths after.')
    expect(code).toBe(0)
    const { $id, properties } = JSON.parse(out)
    expect($id).toBe('urn:flowdelta:comparison:1')
    expect(properties.parameters.properties.smPThreshold).toMatchObject({
      anyOf: [{ type: 'number', minimum: 0 }, { enum: ['auto'] }],
    })
  })
})

test('schema of a misspelt command', async () => {
  const { code, err } = await flowdelta('schema', 'compar')
  expect(code).toBe(2)
  expect(err).toContain('Did you mean compare? Allowed choices are compare, variance')
})

describe('as a process of its own', () => {
  test('--help lists every command without loading any', async () => {
    const { code, out } = await flowdeltaProcess('--help')
    expect(code).toBe(0)
    for (const name of ['compare', 'report', 'variance', 'explosion', 'logs', 'whatif', 'schema']) {
      expect(out).toContain(`\n  ${name} `)
    }
  })

  test('it prints and exits as in this one', async () => {
    const gate = ['compare', ...SHORT, '--fail-on', 'any']
    const wrong = ['compare', '--before', 'no-such', '--after', 'x']
    for (const args of [gate, wrong]) {
      expect(await flowdeltaProcess(...args)).toEqual(await flowdelta(...args))
    }
  })

  test('a reader that closes the pipe early leaves the exit code as it is', async () => {
    const args = ['compare', ...SHORT, '--json', '--fail-on', 'any']
    const child = spawn(process.execPath, [`${ROOT}dist/cli.js`, ...args])
    child.stdout.once('data', () => child.stdout.destroy())
    const errors = text(child.stderr)
    const [code] = await once(child, 'exit')
    expect(code).toBe(1)
    const read = await flowdelta(...args)
    expect(read.err).toMatch(
      /^flowdelta: --fail-on any holds for #1 frontend: NFS3 WRITE now calls /,
    )
    expect(await errors).toBe(read.err)
  })
})
