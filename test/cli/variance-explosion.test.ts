import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeSpans } from '../make-traces.ts'
import { flowdelta, savedPeriods, schemaErrors } from './run-cli.ts'

const [, , , FILE = ''] = await savedPeriods('rmw')

test('variance ranks categories by C² and says where their variance is', async () => {
  const { code, out } = await flowdelta('variance', FILE, '--json')
  expect(code).toBe(0)
  const document = JSON.parse(out)
  expect(document.schema).toBe('flowdelta.variance/1')
  expect(schemaErrors('variance', document)).toBeNull()
  const c2 = document.categories.map((category: { c2: number }) => category.c2)
  expect(c2).toEqual([...c2].sort((a, b) => b - a))
  expect(document.shareBelowOne).toBe(c2.filter((value: number) => value < 1).length / c2.length)
  for (const { requests, edges, note } of document.categories.slice(0, 5)) {
    expect(requests).toBeGreaterThan(10)
    const shares = edges.reduce(
      (sum: number, edge: { varianceShare: number }) => sum + edge.varianceShare,
      0,
    )
    if (note === 'Shares of all parts add up to 100 %.') expect(shares).toBeCloseTo(1, 6)
  }
  const text = await flowdelta('variance', FILE, '--limit', '2', '--large', '100')
  expect(text.out).toMatch(
    /categories of more than 100 requests; C², the variance over the square of the mean, is below 1 in \d+ % of them/,
  )
  expect(text.out).toContain('raise --limit')
})

test('--anomalies adds requests far out, and what sets them apart', async () => {
  const { code, out } = await flowdelta('variance', FILE, '--anomalies')
  expect(code).toBe(0)
  expect(out).toMatch(/Slow requests, far out in their category: \d+ requests in \d categories/)
  const document = JSON.parse((await flowdelta('variance', FILE, '--anomalies', '--json')).out)
  expect(schemaErrors('variance', document)).toBeNull()
  expect(document.anomalies[0].medianUs).toBeGreaterThan(3 * document.anomalies[0].usualUs)
})

test('explosion counts what remedies would do', { tags: ['full'] }, async () => {
  const { code, out } = await flowdelta('explosion', FILE, '--json')
  expect(code).toBe(0)
  const document = JSON.parse(out)
  expect(document).toMatchObject({
    schema: 'flowdelta.explosion/1',
    requests: 5000,
    expected: null,
  })
  expect(schemaErrors('explosion', document)).toBeNull()
  expect(document.remedies.map(({ remedy }: { remedy: string }) => remedy)).toContain('omit hosts')
  const expected = await flowdelta('explosion', FILE, '--json', '--hosts', '10', '--replicas', '3')
  expect(schemaErrors('explosion', JSON.parse(expected.out))).toBeNull()
  expect(JSON.parse(expected.out).expected).toMatchObject({ possible: 720 })
  const wrong = await flowdelta('explosion', FILE, '--hosts', '10')
  expect(wrong).toMatchObject({ code: 2 })
  expect(wrong.err).toContain('--hosts and --replicas belong together')
  const text = await flowdelta('explosion', FILE)
  expect(text.out).toContain('5,000 requests are in')
})

/** Requests as DOT: a root, rounds of X and Y, an end; Y to X takes `backUs`. */
function dot(
  count: number,
  { rounds = 3, backUs = 20, root = 'h__t__ROOT', end = 'R: 2 us' } = {},
) {
  return Array.from({ length: count }, (_, i) => {
    const number = i + 1
    const labels = [root, ...Array.from({ length: rounds }, () => ['h__t__X', 'h__t__Y']).flat()]
    const wait = backUs * (1 + ((i * 7) % 10) / 10)
    const latencies = labels
      .slice(1)
      .map((label, at) => (label.endsWith('Y') || at === 0 ? 1 : wait))
    const total = latencies.reduce((sum, us) => sum + us, 2)
    const node = (label: string, at: number) => `${number}.${at} [label="${label}"]`
    const edges = latencies.map(
      (us, at) => `${number}.${at} -> ${number}.${at + 1} [label="R: ${us} us"]`,
    )
    return [
      `# ${number}  R: ${total} usecs RT: ${number * 1000} usecs`,
      'Digraph G {',
      ...[...labels, 'h__t__END'].map(node),
      ...edges,
      `${number}.${labels.length - 1} -> ${number}.${labels.length} [label="${end}"]`,
      '}',
    ].join('\n')
  }).join('\n')
}

describe('options of one period', () => {
  let folder = ''
  const at = (name: string) => join(folder, name)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'variance-'))
    const broken = dot(30, { end: 'R: NaN us' }).replace(
      /^# (\d+)/gm,
      (_, n) => `# ${30 + Number(n)}`,
    )
    const renumbered = broken.replace(
      /(^|-> )(\d+)\./gm,
      (_, lead, n) => `${lead}${30 + Number(n)}.`,
    )
    await Promise.all([
      writeFile(at('before.dot'), dot(30)),
      writeFile(at('after.dot'), dot(30, { backUs: 200 })),
      writeFile(at('broken.dot'), `${dot(30)}\n${renumbered}`),
    ])
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('--fold says which step of a round varies', async () => {
    const of = ['variance', at('before.dot'), '--fold', 'exact']
    const { out } = await flowdelta(...of)
    expect(out).toContain('100 %: h__t__Y → h__t__X of the next round\n')
    expect(out).toContain('0 %: h__t__ROOT ×3 → h__t__X')
    const document = JSON.parse((await flowdelta(...of, '--json')).out)
    expect(document.categories[0].edges[0]).toMatchObject({ fromRoundBefore: true })
  })

  test('edges of one name are told apart, the largest share first', async () => {
    const { out } = await flowdelta('variance', at('before.dot'))
    expect(out).toMatch(/50 %: h__t__Y → h__t__X \(no\. [12] of that name\)/)
  })

  test('--after compares the variances of two periods', async () => {
    const of = ['variance', at('before.dot'), '--after', at('after.dot')]
    const { out } = await flowdelta(...of)
    expect(out).toMatch(
      /\nSpread of response times, before against after: p [=<] [\d.]+ over 1 category\.\n/,
    )
    const document = JSON.parse((await flowdelta(...of, '--json')).out)
    expect(schemaErrors('variance', document)).toBeNull()
    expect(document.spreads.overall).toMatchObject({ statistic: 1 })
    expect(document.categories.map(({ period }: { period: string }) => period).sort()).toEqual([
      'after',
      'before',
    ])
  })

  test.each(['variance', 'explosion'])('%s says what was left out', async (command) => {
    const { out } = await flowdelta(command, at('broken.dot'))
    expect(out).toContain('! skipped-traces: ')
    expect(out).toContain('30 of 60 (50 %) traces could not be used')
    const document = JSON.parse((await flowdelta(command, at('broken.dot'), '--json')).out)
    expect(document.warnings[0].code).toBe('skipped-traces')
  })

  test('kinds behind a gateway are named by what they call; those of other hosts by these', async () => {
    const span = (i: number, gateway: string, called: string) => [
      { trace: `t${i}`, id: 'gw', service: 'gateway', operation: '/*', host: gateway },
      { trace: `t${i}`, id: 'in', parent: 'gw', service: called, operation: 'GET' },
    ]
    const file = async (name: string, gateways: readonly string[]) => {
      const spans = Array.from({ length: 60 }, (_, i) =>
        span(i, gateways[i % gateways.length] as string, ['cart', 'search'][i % 2] as string).map(
          (one, depth) => ({ ...one, startUs: 1e4 * i + 10 * depth, endUs: 1e4 * i + 100 + i }),
        ),
      )
      await makeSpans(spans.flat()).save(at(name))
      return (await flowdelta('variance', at(name))).out
    }
    const one = await file('gateway.parquet', ['gateway-1'])
    expect(one).toMatch(/^gateway \/\* → cart GET +\d/m)
    expect(one).toMatch(/^Variance of category \d, gateway \/\* → search GET\./m)
    const two = await file('gateways.parquet', ['gateway-1', 'gateway-1', 'gateway-2', 'gateway-2'])
    expect(one).not.toContain(' · with ')
    // Those of one gateway go on to cart or to search.
    for (const gateway of ['gateway-1', 'gateway-2']) {
      for (const called of ['cart', 'search']) {
        expect(two).toMatch(new RegExp(`^${gateway} /\\* call · with ${called} +\\d`, 'm'))
      }
    }
  })

  test('where nothing is large enough, the next step is named', async () => {
    const { out } = await flowdelta('variance', at('before.dot'), '--large', '1000')
    expect(out).toContain('The largest category has 30 requests. Give --large 10, more traces')
  })

  test('where hosts make every category small, leaving them out is advised, which helps', async () => {
    const data = Array.from({ length: 60 }, (_, i) => {
      const traceID = `${i + 1}`.padStart(32, '0')
      const times = { startTime: 1.7e15 + 1000 * i, duration: 900 + ((7 * i) % 100) }
      const span = { traceID, spanID: traceID.slice(16), operationName: 'GET', processID: 'p' }
      const hostname = { key: 'hostname', type: 'string', value: `shop-${i % 30}` }
      return {
        traceID,
        spans: [{ ...span, ...times, references: [], tags: [] }],
        processes: { p: { serviceName: 'shop', tags: [hostname] } },
      }
    })
    const jaeger = { data }
    await writeFile(at('hosts.json'), JSON.stringify(jaeger))
    const { out } = await flowdelta('variance', at('hosts.json'))
    expect(out).toContain(
      '! none-large: The largest category has 2 requests, and without hosts 60. Give --omit-hosts',
    )
    expect(out).not.toContain('--large')
    const json = JSON.parse((await flowdelta('variance', at('hosts.json'), '--json')).out)
    expect(json.warnings.map(({ code }: { code: string }) => code)).toContain('none-large')
    const { out: helped } = await flowdelta('variance', at('hosts.json'), '--omit-hosts')
    expect(helped).toMatch(/^1 category of more than 10 requests/)
    // Of few requests, no limit and no label helps.
    const few = { data: jaeger.data.slice(0, 4) }
    await writeFile(at('few.json'), JSON.stringify(few))
    const { out: fewer } = await flowdelta('variance', at('few.json'), '--omit-hosts')
    expect(fewer).toContain('The largest category has 4 requests. Give more traces, or see')
  })
})
