import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkRun, historyChanges } from '../../src/compare/baseline/check-run.ts'
import { parseHistory, type RunSummary, timesOf } from '../../src/compare/baseline/run-summary.ts'
import { randomSource } from '../../src/stats/random.ts'
import { flowdelta, ROOT, savedPeriods, schemaErrors } from './run-cli.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-check-'))
const HISTORY = join(FOLDER, 'history.jsonl')
const [, CONTROL = '', , CONTROL_AFTER = ''] = await savedPeriods('control')
const [, , , SLOW = ''] = await savedPeriods('delay-1ms')
const GATE = ['--fail-on', 'shift>5% and shift>500us', '--warn-on', 'shift>10%'] as const

beforeAll(async () => {
  const { code, out } = await flowdelta(
    ...['baseline', 'write', CONTROL, '--out', HISTORY, '--name', 'v1'],
  )
  expect([code, out]).toEqual([0, `${HISTORY}: 7 request types, added as v1\n`])
})
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

const check = (file: string, ...more: string[]) =>
  flowdelta('check', file, '--baseline', HISTORY, ...more)

describe('flowdelta check', () => {
  test('passes another run of the same code, and says that one run tells no differences of runs', async () => {
    const { code, out, err } = await check(CONTROL_AFTER, ...GATE, '--name', 'v2')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^pass: v2 against 1 run \(v1\)\n/)
    expect(out).toContain('Differences between runs are unknown with only one run before')
  })

  test('fails the types that a planted millisecond makes slower, and only those', async () => {
    const { code, out, err } = await check(SLOW, ...GATE)
    expect(code).toBe(1)
    expect(out).toMatch(/^fail: /)
    const failing = [...out.matchAll(/^frontend NFS3 (\w+) .*fail shift/gm)].map(([, name]) => name)
    expect(failing).toEqual(['WRITE', 'CREATE', 'REMOVE', 'COMMIT'])
    expect(err).toContain('--fail-on shift>5% and shift>500us holds for frontend NFS3 WRITE; ')
  })

  test('warns with exit code 0', async () => {
    const { code, out } = await check(SLOW, '--fail-on', 'shift>10s', '--warn-on', 'shift>10%')
    expect(code).toBe(0)
    expect(out).toMatch(/^warn: .*\n/)
    expect(out).toMatch(/NFS3 WRITE .*warn shift>10%/)
  })

  test('says what an interval does not rule out', async () => {
    const { code, out } = await check(CONTROL_AFTER, '--fail-on', 'shift>5%')
    expect(code).toBe(0)
    expect(out).toMatch(/Too few requests or runs to rule out shift>5% for \d types\./)
  })

  test('one request, or two runs, cannot bound a shift, which is said in place of its interval', async () => {
    const history = join(FOLDER, 'few.jsonl')
    const write = (stretch: string) =>
      flowdelta('baseline', 'write', CONTROL, '--out', history, '--between', stretch)
    await write('0s..20ms')
    const few = ['--baseline', history, '--between', '0s..20ms']
    const { out } = await flowdelta('check', CONTROL_AFTER, ...few)
    expect(out).toMatch(
      /NFS3 READ +1 → 1 .* too few to bound it +0\.0 % → 100\.0 % +0\.0 % +pass\n/,
    )
    expect(out).toContain('Too few requests to bound the shift of 2 types.')
    expect(out).not.toMatch(/∞|\d{6}/)
    await write('100ms..200ms')
    const runs = await flowdelta('check', CONTROL_AFTER, '--baseline', history)
    expect(runs.out).toContain('Too few runs to bound the shift of 7 types.')
  })

  test('says that more requests fail where only times are judged, and how many runs its counts are of', async () => {
    const [file, history] = [join(FOLDER, 'failing.json'), join(FOLDER, 'fails.jsonl')]
    const span = (i: number, failing: boolean) => ({
      ...{ traceId: `${i}`.padStart(32, '0'), id: `${i}`.padStart(16, '0'), name: 'GET' },
      ...{ kind: 'SERVER', timestamp: 1.7e15 + 1000 * i, duration: 900 + (i % 100) },
      ...{ localEndpoint: { serviceName: 'shop' }, tags: failing ? { error: 'no' } : {} },
    })
    const record = (every: number) =>
      writeFileSync(
        file,
        JSON.stringify(Array.from({ length: 300 }, (_, i) => span(i + 1, i % every === 1))),
      )
    record(150)
    await flowdelta('baseline', 'write', file, '--out', history)
    record(100)
    await flowdelta('baseline', 'write', file, '--out', history)
    record(30)
    const judged = (...given: string[]) => flowdelta('check', file, '--baseline', history, ...given)
    const { code, out } = await judged('--fail-on', 'shift>5%')
    expect(code).toBe(0)
    expect(out).toMatch(/^type of request +requests \(2 runs → 1\) /m)
    expect(out).toMatch(/^shop GET +600 → 300 /m)
    expect(out).toContain(
      "More requests fail, but no condition checks it: shop GET (0.8 % → 3.3 %, unless runs differ by that much). Add --fail-on 'errors>1%'.",
    )
    const github = await judged('--fail-on', 'shift>5%', '--as', 'github')
    expect(github.out).toContain('::warning title=flowdelta::More requests fail, ')
    const gated = await judged('--fail-on', 'errors>1%')
    expect(gated.out).not.toContain('no condition checks it')
    record(8)
    const failing = await judged('--fail-on', 'errors>1%', '--name', 'failing')
    expect(failing.code).toBe(1)
    expect(failing.out).toMatch(/shop GET .* 12\.7 % +fail errors>1%\n/)
    // Where runs before differ so much that they leave it open, it is a warning.
    const restless = join(FOLDER, 'restless.jsonl')
    for (const every of [300, 10]) {
      record(every)
      await flowdelta('baseline', 'write', file, '--out', restless)
    }
    record(4)
    const errors = ['--fail-on', 'errors>1%']
    const open = await flowdelta('check', file, '--baseline', restless, ...errors)
    expect(open.code).toBe(0)
    expect(open.out).toMatch(/shop GET .* 25\.0 % +warn errors>1%\n/)
    expect(open.out).toContain(
      'More requests fail than in any run before: shop GET (5.2 % → 25.0 %). 2 runs cannot tell how much runs differ: look',
    )
  })

  test('says that more requests are slow where only typical times are judged, and what its shift is of', async () => {
    const [file, history] = [join(FOLDER, 'slow.json'), join(FOLDER, 'slows.jsonl')]
    const record = (slow: number) => {
      const spans = Array.from({ length: 600 }, (_, i) => ({
        ...{ traceId: `${i + 1}`.padStart(32, '0'), id: `${i + 1}`.padStart(16, '0'), name: 'GET' },
        ...{ kind: 'SERVER', timestamp: 1.7e15 + 1000 * i, localEndpoint: { serviceName: 'shop' } },
        duration: i % 20 < slow ? 90_000 : 900 + ((7 * i) % 100),
      }))
      writeFileSync(file, JSON.stringify(spans))
    }
    record(0)
    await flowdelta('baseline', 'write', file, '--out', history)
    record(1)
    const judged = (condition: string, ...more: string[]) =>
      flowdelta('check', file, '--baseline', history, '--fail-on', condition, ...more)
    const { code, out } = await judged('shift>5%')
    expect(code).toBe(0)
    expect(out).toMatch(/^warn: run /)
    // The row shows what is judged.
    expect(out).toMatch(/^type of request .* slow +fails +verdict\n/m)
    expect(out).toMatch(/^shop GET .* \d\.\d % → 6\.0 % .*% +warn tail>0%\n/m)
    expect(out).toContain('slow: requests slower than 99 % of requests before.')
    expect(out).toContain('shift: median ratio of a request of the run to one before.')
    expect(out).toMatch(
      /More requests are slow, but no condition checks it: shop GET \(over 99\d µs: \d\.\d % → 6\.0 %\)\. Add --fail-on 'tail>0%'\./,
    )
    const json = JSON.parse((await judged('shift>5%', '--as', 'json')).out)
    expect(json.verdict).toBe('warn')
    expect(json.types[0]).toMatchObject({ verdict: 'warn', conditions: ['tail>0%'] })
    const github = (await judged('shift>5%', '--as', 'github')).out
    expect(github).toMatch(/^::warning title=flowdelta shop GET::.*; over 99\d µs: .*: tail>0%25\n/)
    const gated = await judged('tail>0%')
    expect(gated.code).toBe(1)
    expect(gated.out).not.toContain('no condition checks it')
    // Who says how much of a tail is too much is asked no more.
    const allowed = await judged('shift>5%', '--warn-on', 'tail>10%')
    expect(allowed.out).toMatch(/^pass: /)
    expect(allowed.out).not.toContain('no condition checks it')
  })

  test('a route that is only called otherwise is checked against what it was, of every run before', async () => {
    const [file, history] = [join(FOLDER, 'routes.json'), join(FOLDER, 'routes.jsonl')]
    const record = (route: string, us: number) => {
      const spans = Array.from({ length: 200 }, (_, i) => {
        const [id, timestamp] = [`${i + 1}`.padStart(16, '0'), 1.7e15 + 5000 * i]
        const shop = { traceId: `${id}${id}`, timestamp, localEndpoint: { serviceName: 'shop' } }
        const [name, called] = i % 2 ? [route, 'charge'] : ['GET /cart', 'look']
        const duration = (i % 2 ? us : 900) + ((7 * i) % 100)
        return [
          { ...shop, id, name, kind: 'SERVER', duration },
          { ...shop, id: `f${id.slice(1)}`, parentId: id, name: called, duration: 100 },
        ]
      })
      writeFileSync(file, JSON.stringify(spans.flat()))
    }
    record('POST /pay/{id}', 900)
    await flowdelta('baseline', 'write', file, '--out', history)
    record('POST /pay/<id>', 901)
    await flowdelta('baseline', 'write', file, '--out', history)
    record('POST /pay/{id}', 902)
    await flowdelta('baseline', 'write', file, '--out', history)
    record('POST /pay/:id', 1300)
    const judged = (...given: string[]) => flowdelta('check', file, '--baseline', history, ...given)
    const { code, out } = await judged('--fail-on', 'shift>5%')
    expect(code).toBe(1)
    expect(out).toMatch(/^shop POST \/pay\/:id +300 → 100 .*fail shift>5%\n/m)
    expect(out).toMatch(/^shop GET \/cart +300 → 100 .*pass\n/m)
    expect(out).toContain(
      'Renamed, and compared as one: shop POST /pay/{id} to shop POST /pay/:id, shop POST /pay/<id> to shop POST /pay/:id.',
    )
    expect(out).not.toContain('New:')
    const json = JSON.parse((await judged('--fail-on', 'missing', '--as', 'json')).out)
    expect(json.added).toEqual([])
    expect(json.renamed[0]).toEqual({ was: 'shop POST /pay/{id}', name: 'shop POST /pay/:id' })
    expect(schemaErrors('check', json)).toBeNull()
  })

  test('a route that comes instead of one that called something else is new, and the other is missing', () => {
    const type = (name: string, calls: Record<string, number>) => ({
      ...run(1).types[0]!,
      name,
      service: 'shop',
      calls,
    })
    const usual = type('shop GET /cart', { 'shop look': 1 })
    const of = (name: string, ...types: RunSummary['types']) => ({ ...run(1), name, types })
    const before = of('v1', usual, type('shop POST /pay/{id}', { 'bank charge': 1 }))
    const now = of('v2', usual, type('shop POST /ship/:id', { 'post send': 1 }))
    const { renamed, added } = checkRun(now, [before])
    expect([renamed, added]).toEqual([[], ['shop POST /ship/:id']])
    // Histories that were written before say of no call.
    const { calls: _, ...plain } = type('shop POST /pay/{id}', {})
    expect(checkRun(now, [of('v1', usual, plain)]).renamed).toEqual([])
  })

  test('--as json prints all results as a document', async () => {
    const { out } = await check(SLOW, ...GATE, '--as', 'json')
    const document = JSON.parse(out)
    expect(document).toMatchObject({
      schema: 'flowdelta.check/1',
      verdict: 'fail',
      run: 'run',
      baseline: ['v1'],
    })
    expect(document.types[0].shift.low).toBeGreaterThan(1)
    expect(schemaErrors('check', document)).toBeNull()
  })

  test('--as github escapes what workflow commands mean something by', async () => {
    const { out } = await check(SLOW, ...GATE, '--as', 'github')
    const lines = out.trim().split('\n')
    expect(lines.filter((line) => line.startsWith('::error title=flowdelta '))).toHaveLength(4)
    expect(lines.at(-1)).toMatch(/^::notice title=flowdelta::fail: /)
    expect(out.replaceAll('%25', '')).not.toContain('%')
  })

  test('the example workflow gives only flags and conditions that there are', async () => {
    const workflow = readFileSync(`${ROOT}docs/pipeline.yml`, 'utf8')
    const [, flags = ''] = /flowdelta check head-\S+ --baseline \S+ (.*)\n/.exec(workflow) ?? []
    const given = [...flags.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!)
    const { code, out } = await check(SLOW, ...given)
    expect([code, out.split('\n').at(-2)]).toEqual([
      0,
      '::notice title=flowdelta::warn: head against 1 run (v1)',
    ])
  })

  test('--append keeps a run that passes and not one that fails', async () => {
    const history = join(FOLDER, 'append.jsonl')
    writeFileSync(history, readFileSync(HISTORY))
    const run = (file: string) =>
      flowdelta(
        ...['check', file, '--baseline', history, ...GATE, '--append', '--name', file.slice(-30)],
      )
    await run(CONTROL_AFTER)
    await run(SLOW)
    expect(parseHistory(readFileSync(history, 'utf8'), history)).toHaveLength(2)
  })

  test('a history has no two runs of one name: one is refused, or replaces the other and says so', async () => {
    const history = join(FOLDER, 'names.jsonl')
    const write = async (...flags: string[]) => {
      const { code, out, err } = await flowdelta(
        ...['baseline', 'write', CONTROL, '--out', history, ...flags],
      )
      return code === 0 ? out : err
    }
    const names = () => parseHistory(readFileSync(history, 'utf8'), history).map(({ name }) => name)
    await write('--name', 'v1')
    await write()
    await write()
    expect(await write('--name', 'v1')).toContain(
      '--name is "v1". Give a name that is new in the history, or --replace',
    )
    expect(names()).toEqual(['v1', 'run 2', 'run 3'])
    expect(await write('--name', 'v1', '--replace')).toBe(
      `${history}: 7 request types, replacing the run called v1\n`,
    )
    expect(names()).toEqual(['v1', 'run 2', 'run 3'])
    const again = [
      'check',
      CONTROL_AFTER,
      '--baseline',
      history,
      ...GATE,
      '--name',
      'v1',
      '--append',
    ]
    expect((await flowdelta(...again)).err).toContain('--replace')
    expect((await flowdelta(...again, '--replace')).err).toContain('replacing the run called v1')
    expect(names()).toEqual(['v1', 'run 2', 'run 3'])
  })

  test.each([
    [[], 'is no summary of a run'],
    [
      ['--fail-on', 'shift>fast'],
      "Give 'shift>5%', 'shift>10ms', 'errors>1%', 'tail>1%', 'missing' or 'any'",
    ],
  ])('what cannot be read is refused: %j', async (options, message) => {
    const broken = join(FOLDER, 'broken.jsonl')
    appendFileSync(broken, '{"schema":"flowdelta.run/1","name":"a","types":[{"name":1}]}\n')
    const { code, err } = await flowdelta('check', SLOW, '--baseline', broken, ...options)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})

/** A run of some types, whose times and failures wander from run to run; `slower` makes the first slower. */
function run(
  seed: number,
  { slower = 1, types = 5, wander = 0.05, requests = 400 } = {},
): RunSummary {
  const random = randomSource(seed)
  return {
    schema: 'flowdelta.run/1',
    name: `run ${seed}`,
    types: Array.from({ length: types }, (_, type) => {
      const level = Math.log(1000 * (type + 1)) + wander * random.normal()
      const factor = type === 0 ? slower : 1
      const all = Array.from({ length: requests }, () => factor * random.logNormal(level, 0.6))
      const failing = 0.02 * Math.exp(10 * wander * random.normal())
      const failed = all.filter(() => random.next() < failing).length
      return { name: `type ${type}`, requests, failed, ...timesOf(all) }
    }),
  }
}

const surely = (checked: ReturnType<typeof checkRun>) =>
  checked.types.filter(({ shift, errors, tail }) =>
    [shift, errors?.growth, tail?.growth].some((one) => (one?.low ?? 0) > 0),
  )

describe('a history of runs', () => {
  test('of runs that differ by chance, at most one in twenty has a type that is surely slower', {
    tags: ['full'],
  }, () => {
    let alarms = 0
    for (let seed = 0; seed < 200; seed++) {
      const runs = Array.from({ length: 6 }, (_, i) => run(10 * seed + i + 1))
      alarms += Number(surely(checkRun(runs[5]!, runs.slice(0, 5))).length > 0)
    }
    expect(alarms).toBeLessThanOrEqual(10 + 6)
  })

  test.each([400, 10_000])(
    'so has a single run before whose requests are independent, %d of a type',
    {
      tags: ['full'],
    },
    (requests) => {
      let alarms = 0
      for (let seed = 0; seed < 200; seed++) {
        const still = { wander: 0, requests }
        alarms += Number(
          surely(checkRun(run(2 * seed + 1, still), [run(2 * seed + 2, still)])).length > 0,
        )
      }
      expect(alarms).toBeLessThanOrEqual(10 + 6)
    },
  )

  test('a run that was added several times counts once', () => {
    const [one, now] = [run(1, { wander: 0 }), run(2, { wander: 0 })]
    expect(checkRun(now, [one, { ...one, name: 'again' }, one]).types).toEqual(
      checkRun(now, [one]).types,
    )
  })

  test('a type of which three times as many requests fail is found, alone', () => {
    const runs = Array.from({ length: 8 }, (_, i) => run(i + 1, { wander: 0.01 }))
    const now = run(99, { wander: 0.01 })
    const [first, ...rest] = now.types
    const failing = { ...first!, failed: 60 }
    const found = surely(checkRun({ ...now, types: [failing, ...rest] }, runs))
    expect(found.map(({ name }) => name)).toEqual(['type 0'])
  })

  /** Runs of 400 requests a type, of which only those of the first fail, about 1 %. */
  const oneFails = (seed: number, failing: number) => {
    const { types, ...rest } = run(seed, { wander: 0.03 })
    const failed = (type: number) => (type === 0 ? failing : 0)
    return { ...rest, types: types.map((one, type) => ({ ...one, failed: failed(type) })) }
  }

  test('three runs of which one type fails, 1 %, are enough to fail 11 %', () => {
    const runs = [3, 4, 7].map((failing, i) => oneFails(i + 1, failing))
    const [first] = checkRun(oneFails(9, 45), runs).types
    expect(first?.errors?.growth.low).toBeGreaterThan(0.01)
    const [twice] = checkRun(oneFails(9, 10), runs).types
    expect(twice?.errors?.growth.low).toBeLessThanOrEqual(0)
  })

  test.each([400, 4000])(
    'of two to four runs whose only failing type wanders by half, %d requests, at most one in twenty surely fails more',
    { tags: ['full'] },
    (requests) => {
      let alarms = 0
      const random = randomSource(requests)
      const failed = () => {
        const share = 0.02 * Math.exp(0.5 * random.normal())
        return Array.from({ length: requests }, () => random.next() < share).filter(Boolean).length
      }
      const wandering = (number: number) => {
        const { types, ...rest } = oneFails(number, failed())
        return { ...rest, types: types.map((one) => ({ ...one, requests })) }
      }
      for (let i = 0; i < 200; i++) {
        const runs = Array.from({ length: 2 + (i % 3) }, (_, number) => wandering(number + 1))
        const sure = checkRun(wandering(9), runs).types.filter(
          ({ errors }) => (errors?.growth.low ?? 0) > 0,
        )
        alarms += Number(sure.length > 0)
      }
      expect(alarms).toBeLessThanOrEqual(10 + 6)
    },
  )

  test('requests of which 8 % instead of 1 % are slow are more in the tail, and hardly shifted', () => {
    const runs = Array.from({ length: 8 }, (_, i) => run(i + 1, { wander: 0.01 }))
    const now = run(99, { wander: 0.01 })
    const [first, ...rest] = now.types
    const times = Array.from({ length: 400 }, (_, i) => (i < 368 ? 900 + i : 2e6))
    const slow = { ...first!, ...timesOf(times) }
    const found = surely(checkRun({ ...now, types: [slow, ...rest] }, runs))
    expect(found.map(({ name }) => name)).toContain('type 0')
    const { tail } = found[0]!
    expect(tail?.share).toBeCloseTo(0.08, 3)
    expect(tail?.growth.value).toBeCloseTo(0.07, 2)
    expect(tail?.growth.low).toBeGreaterThan(0)
    expect(tail?.beyondUs).toBeGreaterThan(2000)
  })

  test('a history whose last line was cut off its end is continued on a new one', async () => {
    const history = join(FOLDER, 'cut.jsonl')
    writeFileSync(history, readFileSync(HISTORY, 'utf8').trimEnd())
    await flowdelta('baseline', 'write', CONTROL, '--out', history)
    expect(parseHistory(readFileSync(history, 'utf8'), history)).toHaveLength(2)
  })

  test('a type that takes twice as long is found, alone', () => {
    const runs = Array.from({ length: 8 }, (_, i) => run(i + 1))
    const found = surely(checkRun(run(99, { slower: 2 }), runs))
    expect(found.map(({ name }) => name)).toEqual(['type 0'])
    expect(found[0]!.shift.value).toBeCloseTo(1, 0)
  })

  test('a typical request far slower than any of two runs before, which cannot tell how much runs differ, is a warning', async () => {
    const history = join(FOLDER, 'two.jsonl')
    await flowdelta('baseline', 'write', SLOW, '--out', history, '--name', 'slow')
    const [slow] = parseHistory(readFileSync(history, 'utf8'), history)
    const write = slow!.types.filter(({ name }) => name.endsWith('WRITE'))
    const before = [40, 60].map((faster, i) => ({
      ...slow!,
      name: `v${i}`,
      types: write.map((type) => ({
        ...type,
        timesUs: type.timesUs.map((us) => us / faster),
      })),
    }))
    writeFileSync(history, before.map((each) => `${JSON.stringify(each)}\n`).join(''))
    const { code, out } = await flowdelta('check', SLOW, '--baseline', history)
    expect(code).toBe(0)
    expect(out).toMatch(/^warn: /)
    expect(out).toMatch(/NFS3 WRITE .*warn any\n/)
    expect(out).toContain('frontend NFS3 WRITE. 2 runs cannot tell how much runs differ: look')
    const { out: json } = await flowdelta('check', SLOW, '--baseline', history, '--as', 'json')
    expect(JSON.parse(json).types[0]).toMatchObject({ verdict: 'warn', isUntold: true })
    expect(schemaErrors('check', JSON.parse(json))).toBeNull()
  })

  test('a shift is far apart from two runs by both what they differ and what their requests take', () => {
    const wander = { wander: 0.3 }
    const [one, other] = [run(1, wander), run(2, wander)]
    const isApart = (slower: number) =>
      checkRun(run(3, { ...wander, slower }), [one, other]).types.map((type) => type.isApart)
    expect(isApart(1)).toEqual([false, false, false, false, false])
    expect(isApart(1000)).toEqual([true, false, false, false, false])
    // One run before is not several.
    expect(checkRun(run(3, { slower: 1000 }), [one]).types[0]?.isApart).toBe(false)
  })

  test('after a change that was accepted, runs are checked against those since', () => {
    const slower = { slower: 3 }
    const runs = Array.from({ length: 20 }, (_, i) => run(i + 1, i < 12 ? {} : slower))
    const [change] = historyChanges(runs)
    expect(change).toMatchObject({ at: 12, run: 'run 13' })
    expect(change!.types.map(({ name }) => name)).toEqual(['type 0'])
    const checked = checkRun(run(50, slower), runs)
    expect(checked.baseline.map(({ name }) => name)).toEqual(runs.slice(12).map(({ name }) => name))
    expect(surely(checked)).toEqual([])
    expect(surely(checkRun(run(51, { slower: 6 }), runs)).map(({ name }) => name)).toEqual([
      'type 0',
    ])
  })

  test('types that come no more are told, and new ones', () => {
    const before = [run(1), run(2), run(3)]
    const now = run(4, { types: 6 })
    const checked = checkRun({ ...now, types: now.types.slice(1) }, before)
    expect(checked.added).toEqual(['type 5'])
    expect(checked.types.find(({ name }) => name === 'type 0')!.requests).toEqual([1200, 0])
  })
})
