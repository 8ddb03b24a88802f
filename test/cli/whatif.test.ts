import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { profileQuantiles } from '../../src/whatif/recompute/latency-profile.ts'
import { applyScenario } from '../../src/whatif/scenarios/apply-scenario.ts'
import { parseScenario } from '../../src/whatif/scenarios/parse-scenario.ts'
import { loadCase } from '../whatif/real-systems.ts'
import { flowdelta, ROOT, savedPeriods, schemaErrors } from './run-cli.ts'

const PERIODS = await savedPeriods('rmw')
const [BEFORE, AFTER] = [PERIODS.slice(0, 2), PERIODS.slice(2)]
/** Enough requests to tell. */
const SAMPLE = ['--sample', '1500']
const FEW = ['--sample', '400']
const before = await loadCase('rmw', 'before')
const after = await loadCase('rmw', 'after')

/** What the command prints. */
async function whatif(...args: string[]): Promise<string> {
  const { code, out, err } = await flowdelta('whatif', ...args)
  if (code !== 0) throw new Error(err)
  return out
}

describe('causes', () => {
  test('as a document: the tree flattened, best first', async () => {
    const document = JSON.parse(
      await whatif(...BEFORE, ...AFTER, ...SAMPLE, '--json', '--depth', '2'),
    )
    expect(schemaErrors('whatif', document)).toBeNull()
    const diagnosis = diagnoseLatency(before, after, { depth: 2, sampleSize: 1500 })
    expect(document).toMatchObject({
      schema: 'flowdelta.whatif/1',
      divergence: 'kl',
      target: 'after',
      state: 'complete',
      requests: { before: 1500, after: 1500 },
      unchanged: { divergence: diagnosis.divergence, p: diagnosis.changeP },
    })
    expect(document.causes).toHaveLength(diagnosis.size)
    expect(document.causes[0]).toEqual({
      rank: 1,
      depth: 1,
      parent: null,
      kind: 'count',
      significant: true,
      score: 0,
      scenario: 'frontend NFS3 WRITE now calls storage-data SN READ, in 45 % of its calls',
      requests: 326,
      service: 'frontend',
      operation: 'NFS3 WRITE',
      divergence: diagnosis.best?.divergence,
      gain: diagnosis.best?.gain,
      q: diagnosis.best?.q,
      ...Object.fromEntries(
        (['p50Us', 'p90Us', 'p99Us'] as const).map((name) => [
          name,
          {
            before: profileQuantiles(diagnosis.base)[name],
            scenario: diagnosis.best?.[name],
            after: profileQuantiles(diagnosis.target)[name],
          },
        ]),
      ),
    })
    const parents = document.causes.map((cause: { parent: number | null }) => cause.parent)
    expect(parents).toEqual(diagnosis.ranked.map(({ parent }) => parent?.rank ?? null))
    expect(JSON.stringify(document)).not.toContain('NaN')
  })

  test('against a histogram in a file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'flowdelta-')), 'target.json')
    writeFileSync(file, JSON.stringify({ edges: [0, 500, 2000, 100_000], counts: [10, 60, 30] }))
    const text = await whatif(...BEFORE, ...FEW, '--target', file, '--depth', '1', '--limit', '1')
    expect(text).toContain('the histogram given')
    const missing = whatif(...BEFORE, '--target', 'none.json')
    await expect(missing).rejects.toThrow('The file cannot be read as JSON')
  })

  test('as text: whether the profiles differ, the best, and the next', async () => {
    const text = await whatif(...BEFORE, ...AFTER, '--depth', '1', '--limit', '2')
    expect(text).toMatch(/^5,000 requests before, 5,000 after: p50 .+ → .+, p90 .+, p99 .+\. The/)
    expect(text).toContain(
      'The profiles differ (p < 0.001); their distance: Kullback-Leibler divergence 0.277.',
    )
    expect(text).toContain(
      'Most likely: frontend NFS3 WRITE now calls storage-data SN READ, in 46 % of its calls. By itself it explains 59 % of the difference.',
    )
    expect(text).toMatch(
      /\n2\. server time of frontend NFS3 WRITE as +99 %, \+[\d.]+ [mµ]s .*\n +after\n/,
    )
    expect(text).toMatch(/… and \d+ more; raise --limit to see them\.\n$/)
    expect(text).toMatch(/ \d+ other changes? explains? no more than chance; --json lists /)
    expect(text).not.toMatch(/^\d+\. .* maybe$/m)
  })

  test('that may all be chance are not listed, but counted', async () => {
    const text = await whatif(...BEFORE, '--after', BEFORE[1] as string, ...FEW, '--depth', '1')
    expect(text).toContain('No single change explains more than chance.')
    expect(text).toMatch(/\n\d+ changes that were tried explain no more than chance; --json /)
    expect(text).not.toContain('explains alone')
  })

  test('say which finding they explain, and begin at one', { tags: 'full' }, async () => {
    const args = [...BEFORE, ...AFTER, ...SAMPLE, '--depth', '1', '--limit', '1']
    const text = await whatif(...args, '--findings')
    expect(text).toMatch(
      /\nCause 1 explains finding 1: frontend: NFS3 WRITE now calls storage-data SN READ /,
    )
    expect(text).toMatch(/The profiles differ \(p [<=] [\d.]+\);/)
    const [profiles] = (await whatif(...args, '--finding', '1')).split('\n')
    expect(profiles).toContain(', from the noise in the requests of this finding);')
    const document = JSON.parse(await whatif(...args, '--finding', '1', '--json'))
    expect(schemaErrors('whatif', document)).toBeNull()
    expect(document.findings[0]).toMatchObject({ rank: 1, cause: 1 })
    expect(document.causes[0].scenario).toMatch(
      /^frontend NFS3 WRITE now calls storage-data SN READ/,
    )
    expect(document.truncated.causes).toBeLessThan(40)
    await expect(whatif(...args, '--finding', 'nosuch')).rejects.toThrow(
      "'nosuch' is not the rank or the id of a finding.",
    )
  })

  test('of one period against itself: none beyond chance', async () => {
    const same = ['--after', BEFORE[1] as string, ...FEW, '--depth', '1', '--divergence', 'ks']
    const text = await whatif(...BEFORE, ...same)
    expect(text).toContain('The profiles are the same.')
    expect(text).toContain('No single change explains more than chance.')
  })

  test('of a wish that nothing meets: how near it comes', async () => {
    const args = [...BEFORE, ...FEW, '--target', 'p99.9<1us', '--depth', '1', '--limit', '1']
    const text = await whatif(...args)
    expect(text).toContain('target: 99.9 % of requests in at most 1 µs')
    expect(text).toMatch(/No change that was tried meets the wish\. Closest: .+, with .+\./)
  })

  test('of a wish: what brings it about', async () => {
    const wish = ['--target', 'p99<2ms', '--depth', '1', '--limit', '1', '--json']
    const document = JSON.parse(await whatif(...BEFORE, ...SAMPLE, ...wish))
    expect(document.target).toBe('99 % of requests in at most 2 ms')
    expect(document.requests).toEqual({ before: 1500, after: null })
    expect(document.causes).toHaveLength(1)
    expect(document.causes[0]).toMatchObject({ q: null, p99Us: { after: expect.closeTo(2000, 0) } })
    expect(document.truncated.causes).toBeGreaterThan(10)
  })
})

describe('predictions', () => {
  const SCENARIOS = ['storage-data*2', 'network:mds+1ms']

  test('one a scenario, and one of all together', async () => {
    const document = JSON.parse(await whatif(...BEFORE, '--apply', ...SCENARIOS, '--json'))
    expect(document).toMatchObject({
      schema: 'flowdelta.whatif/1',
      causes: [],
      requests: { before: 5000, after: null },
    })
    expect(schemaErrors('whatif', document)).toBeNull()
    const titles = document.predictions.map((each: { scenario: string }) => each.scenario)
    expect(titles).toEqual([
      'storage-data × 2',
      'network to mds +1 ms',
      'storage-data × 2, and network to mds +1 ms',
    ])
    const models = learnExecutionModels(before)
    const { quantiles, beforeQuantiles } = applyScenario(models, parseScenario('storage-data*2'))
    expect(document.predictions[0].p90Us).toEqual({
      before: beforeQuantiles.p90Us,
      scenario: quantiles.p90Us,
      after: null,
    })
  })

  test('tell how many requests meet a target', async () => {
    const args = [...BEFORE, '--apply', 'storage-data*0.5', '--within', '1ms']
    const { within } = JSON.parse(await whatif(...args, '--json')).predictions[0]
    const profile = applyScenario(learnExecutionModels(before), 'storage-data*0.5')
    expect(within).toEqual({ us: 1000, ...profile.within(1000), after: null })
    expect(within.scenario).toBeGreaterThan(within.before)
    expect(await whatif(...args)).toMatch(/≤ 1 ms .+\nbefore, as recorded .+ 92 %\n.+ 95 % /)
  })

  test('stand beside what was recorded after, where that is given', async () => {
    const text = await whatif(...BEFORE, ...AFTER, '--apply', 'storage-data*2')
    expect(text).toMatch(
      /^Predicted for 5,000 requests before\.\n\nscenario .+\nbefore, as recorded .+\nstorage-data × 2 .+\nafter, as recorded .+\n$/,
    )
  })
})

describe('what is in doubt about the traces is said', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-whatif-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Zipkin traces of a web server that calls a store, and of some the web server's span is lost. */
  function lossy(): string {
    const spans = Array.from({ length: 100 }, (_, i) => {
      const traceId = i.toString(16).padStart(16, '0')
      const at = 1_700_000_000_000_000 + i * 1e6
      const common = { traceId, kind: 'SERVER', timestamp: at }
      const web = { ...common, id: 'a1', name: 'get', duration: 9000 + i }
      const store = { ...common, id: 'b2', name: 'read', duration: 5000 }
      const lost = { ...common, id: 'c3', parentId: 'dead', name: 'write', duration: 100 }
      return [
        { ...web, localEndpoint: { serviceName: 'web' } },
        { ...store, parentId: 'a1', localEndpoint: { serviceName: 'store' } },
        ...(i < 20 ? [{ ...lost, localEndpoint: { serviceName: 'store' } }] : []),
      ]
    })
    const file = join(folder, 'lossy.json')
    writeFileSync(file, JSON.stringify(spans.flat()))
    return file
  }

  test('lost spans are no requests, and there is a warning of them', async () => {
    const args = ['--before', lossy(), '--apply', 'store*2']
    const text = await whatif(...args)
    expect(text).toContain('Predicted for 100 requests before.')
    expect(text).toContain(
      '! orphans: before: 20 of 100 (20 %) traces have spans whose caller is not in the files.',
    )
    const { warnings, requests } = JSON.parse(await whatif(...args, '--json'))
    expect(requests.before).toBe(100)
    expect(warnings.map(({ code }: { code: string }) => code)).toContain('orphans')
  })

  test('of good traces nothing', async () => {
    const args = [...BEFORE, '--apply', 'storage-data*2', '--json']
    expect(JSON.parse(await whatif(...args)).warnings).toEqual([])
  })
})

describe('options of models', () => {
  test('--similarity reaches them', async () => {
    const args = ['--apply', 'storage-data*2', '--similarity']
    await expect(whatif(...BEFORE, ...args, '1')).rejects.toThrow('a distance from 0 up')
    await expect(whatif(...BEFORE, ...args, '2')).rejects.toThrow(
      'Give a distance from 0 up and below 1.',
    )
    expect(await whatif(...BEFORE, ...args, '0')).toContain('Predicted for')
  })
})

describe('what cannot be done is said', () => {
  test.each([
    [[...BEFORE], 'There is nothing to explain. Give --after'],
    [[...BEFORE, '--target', '300ms'], "Give a quantile and a time, as 'p99<300ms'"],
    [[...BEFORE, '--target', 'p100<1ms'], "Give a quantile and a time, as 'p99<300ms'"],
    [[...BEFORE, ...AFTER, '--target', 'p99<1ms'], 'cannot be used with option'],
    [[...BEFORE, '--apply', 'faster'], 'Scenario "faster" has none of the known forms.'],
    [[...BEFORE, '--apply', 'nosuch*2'], '--apply service is "nosuch". Give one of frontend'],
    [[...BEFORE, ...AFTER, '--divergence', 'l2'], 'Allowed choices are kl, wasserstein, ks'],
    [[...BEFORE, ...AFTER, '--beam', '0'], 'Give a whole number of scenarios, 1 or more.'],
    [
      ['--before', `${ROOT}datasets/hdfs-writes/writes-320kb.dot.gz`, '--target', 'p99<1ms'],
      'The traces of the before period are graphs of trace points',
    ],
  ])('%j', async (args, message) => {
    await expect(whatif(...args)).rejects.toThrow(message)
  })
})

describe('--fail-on', () => {
  const failOn = (...conditions: string[]) =>
    flowdelta(
      ...['whatif', ...BEFORE, ...AFTER, ...SAMPLE, '--depth', '1'],
      ...conditions.flatMap((condition) => ['--fail-on', condition]),
    )

  test('ends with 1 where a significant cause makes requests slower by more, and names it', {
    tags: 'full',
  }, async () => {
    const { code, err } = await failOn('any', 'impact>10s')
    expect(code).toBe(1)
    expect(err).toContain('--fail-on any holds for #1 frontend NFS3 WRITE now calls')
    expect(err).not.toContain('impact>10s')
    expect((await failOn('impact>500%')).code).toBe(0)
  })

  test('conditions that cannot be read are refused', async () => {
    const { code, err } = await failOn('shift>1ms')
    expect(code).toBe(2)
    expect(err).toContain("Give 'impact>5%', 'impact>10ms' or 'any'.")
  })
})
