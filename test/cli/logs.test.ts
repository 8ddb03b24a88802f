import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { describeWithShared, sharedFile } from '../shared.ts'
import { flowdelta, schemaErrors } from './run-cli.ts'

let folder = ''
const at = (...parts: string[]) => join(folder, ...parts)

type Message = Readonly<Record<string, unknown>>

/** Twelve nodes of a class; every second one finishes; `q` is an event and a state. */
function messages(isBad: boolean): Message[] {
  return Array.from({ length: 12 }, (_, i): Message[] => {
    const node = `${isBad ? 'bad' : 'good'}${i}`
    const cause = (isBad ? 400_000 : 100_000) + 7_000 * ((i * 5) % 12)
    return [
      { time: 0, node, event: 'start' },
      { time: 5_000 + 1_000 * ((i * 7) % 11), node, event: 'step' },
      { time: cause, node, event: 'q' },
      { time: cause, node, name: 'q', value: cause },
      ...(i % 2 === 0 ? [{ time: cause + 1_000, node, event: 'fin\u001b[31m\nish' }] : []),
    ]
  }).flat()
}

const lines = (all: readonly Message[]) => all.map((one) => `${JSON.stringify(one)}\n`).join('')

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowdelta-cli-logs-'))
  for (const name of ['good', 'bad']) {
    const all = messages(name === 'bad')
    writeFileSync(at(`${name}.jsonl`), lines(all))
    mkdirSync(at(name))
    for (const node of new Set(all.map((one) => String(one['node'])))) {
      const own = all.filter((one) => one['node'] === node)
      writeFileSync(at(name, `${node}.jsonl`), lines(own))
      const text = own.map(({ time, event }) => `1.5.2024 10:00:0${Number(time) % 7} ${event}\n`)
      writeFileSync(at(`${name}-${node}.txt`), text.join(''))
    }
    writeFileSync(at(name, 'README.md'), 'what this is\n')
  }
})

afterAll(() => rmSync(folder, { recursive: true }))

const logs = (...args: string[]) =>
  flowdelta('logs', '--before', at('good.jsonl'), '--after', at('bad.jsonl'), ...args)
const FINISH = ['--metric', 'fin\u001b[31m\nish']

test('two sources without a division are the good runs and the bad ones', async () => {
  const named = await logs('--instance', 'node', '--json')
  const pair = await flowdelta('logs', at('good.jsonl'), at('bad.jsonl'), '--by', 'node', '--json')
  expect(pair).toEqual(named)
  // Of three, nobody knows which are good.
  const three = ['good.jsonl', 'bad.jsonl', 'good'].map((name) => at(name))
  expect((await flowdelta('logs', ...three)).code).not.toBe(0)
})

describe('the text', () => {
  test('says how many instances have the metric, on lines of their own', async () => {
    const { out, code } = await logs('--instance', 'node', ...FINISH)
    expect(code).toBe(0)
    expect(out).toContain('Performance is fin [31m ish: ')
    expect(out).toContain(
      '6 of 12 instances before and 6 of 12 after have it; means and dependencies leave the others out.',
    )
    expect(out).not.toContain('\u001b')
  })

  test('says that means are weighted', async () => {
    const { out } = await logs('--instance', 'node', '--weights', 'latency', ...FINISH)
    expect(out).toContain('Means are weighted')
  })

  test('warns that directories are one instance each, below what it can say of them', async () => {
    const { out } = await flowdelta('logs', '--good', at('good'), '--bad', at('bad'))
    expect(out).toMatch(
      /^run time is longer .*no test can say how sure this is\.\n\n! one-instance: Only 1 instance before and 1 instance after: a test needs two/,
    )
    expect(out).toContain('with --instance.')
    expect(out).toContain(
      `! unread-files: ${at('good', 'README.md')}, ${at('bad', 'README.md')} are`,
    )
    expect(out).toContain('None of 5 variables could be tested (1 instance before, 1 after)')
    expect(out).not.toMatch(/undefined|skipped/)
  })

  test('two paths right behind the command are the runs before and after', async () => {
    const flags = ['--instance', 'node', ...FINISH]
    const named = await logs(...flags)
    const { out } = await flowdelta('logs', at('good.jsonl'), at('bad.jsonl'), ...flags)
    expect(out).toBe(named.out)
  })

  test('says how many variables dependencies were not learned from', async () => {
    const { out } = await logs('--instance', 'node', '--most-variables', '1', '--details')
    expect(out).toMatch(/more are left out \(raise --most-variables\)/)
  })
})

describe('the document', () => {
  test('counts the instances that have what was tested', async () => {
    const { out } = await logs('--instance', 'node', '--json', ...FINISH)
    const document = JSON.parse(out)
    expect(schemaErrors('logs', document)).toBeNull()
    expect(document.parameters.metric).toBe(FINISH[1])
    expect(document.performance).toMatchObject({
      metric: FINISH[1],
      node: FINISH[1],
      goodCount: 6,
      badCount: 6,
      weighted: false,
      leftOut: { good: 6, bad: 6 },
    })
    expect(document.variables[0].features[0]).toMatchObject({ goodCount: 12, badCount: 12 })
    expect(document.graphs[0].variablesLeftOut).toBe(0)
    expect(document.warnings).toEqual([])
  })

  test('calls performance what it was called, and says which node it is', async () => {
    const { out } = await logs('--instance', 'node', '--json')
    const { parameters, performance, graphs } = JSON.parse(out)
    expect([parameters.metric, performance.metric]).toEqual(['runTime', 'runTime'])
    expect(graphs[0].nodes[0]).toBe(performance.node)
  })
})

describe('errors name flags', () => {
  test('a field that no line has', async () => {
    const { code, err } = await logs('--instance', 'nope')
    expect(code).toBe(2)
    expect(err).toContain(`--before is "`)
    expect(err).toContain('Name a field that lines have with --instance.')
  })

  test('a column that is not there', async () => {
    const file = at('a.csv')
    writeFileSync(file, 'when,what\n1,a\n')
    const named = ['logs', '--before', file, '--after', at('bad.jsonl')]
    const { err } = await flowdelta(...named, '--fields', 'time=when,name=event')
    expect(err).toContain('Name the field of names with --fields name=…')
    const { err: unknown } = await flowdelta(...named, '--fields', 'zeit=when')
    expect(unknown).toContain('"zeit=when" is none of time=FIELD, name=FIELD')
  })

  test('a name of an event and a state', async () => {
    const { err } = await logs('--instance', 'node', '--metric', 'q')
    expect(err).toContain('Give --metric "event:q" (its last time) or "state:q"')
    for (const metric of ['event:q', 'state:q']) {
      const { out } = await logs('--instance', 'node', '--metric', metric)
      expect(out).toContain('Performance is q (P)')
    }
  })

  test('a metric that no instance of a class has', async () => {
    const only = at('only.jsonl')
    writeFileSync(only, '{"time":1,"event":"start"}\n')
    const { err, code } = await flowdelta(
      ...[
        'logs',
        '--before',
        at('good.jsonl'),
        '--after',
        only,
        '--metric',
        'q',
        '--format',
        'jsonl',
      ],
    )
    expect(code).toBe(2)
    expect(err).toContain('an event and a state variable')
    const { err: none } = await flowdelta(
      ...['logs', '--before', at('good.jsonl'), '--after', only, '--metric', 'event:q'],
    )
    expect(none).toContain(
      '--metric is "q (P)". Give a metric that both periods have, such as \'runTime\': none of 1 instance of the after period has this one.',
    )
  })

  test('dates of another form, and the flag that reads them', async () => {
    const both = ['logs', '--before', at('good-good0.txt'), '--after', at('bad-bad0.txt')]
    const { err } = await flowdelta(...both)
    expect(err).toContain(
      'If it is one of these, name it with --format; if lines begin with a time in another form, say how it is written with --date-format',
    )
    const { out, code } = await flowdelta(...both, '--date-format', 'd.M.yyyy HH:mm:ss')
    expect(code).toBe(0)
    expect(out).toContain('1 instance before and 1 after')
  })

  test('the unit of times', async () => {
    const { out } = await logs('--instance', 'node', '--time-unit', 'ms')
    expect(out).toMatch(/Performance is run time: \d[\d.]* (s|min) on average/)
  })
})

test('random halves of one set of logs print no graph', async () => {
  const random = randomSource(1)
  let graphs = 0
  for (const set of ['storage-service-logs/good', 'storage-service-logs/bad', 'swarm/good']) {
    const all = gunzipSync(readFileSync(new URL(`../../datasets/${set}.jsonl.gz`, import.meta.url)))
    const messages = all.toString().trimEnd().split('\n')
    const nodes = new Set(messages.map((line) => String(JSON.parse(line).instance)))
    for (let half = 0; half < 8; half++) {
      const side = new Map([...nodes].map((node) => [node, random.next() < 0.5]))
      for (const isBad of [false, true]) {
        const own = messages.filter((line) => side.get(JSON.parse(line).instance) === isBad)
        writeFileSync(at(`half-${isBad}.jsonl`), own.join('\n'))
      }
      const files = ['--before', at('half-false.jsonl'), '--after', at('half-true.jsonl')]
      const { out } = await flowdelta('logs', ...files, '--by', 'instance')
      if (/Look first|depends on/.test(out)) graphs++
    }
  }
  expect(graphs).toBeLessThanOrEqual(1)
})

test('one log is divided by conditions on requests', async () => {
  const bytes = Array.from({ length: 40 }, (_, i) => {
    const record = {
      time: 1.7e12 + i * 1000,
      request_id: `r${i}`,
      duration_ms: i % 4 === 0 ? 150 : 9,
    }
    const err = i % 4 === 0 ? { err: 'connection refused to 10.0.0.1:80' } : {}
    return JSON.stringify({ ...record, msg: 'request completed', ...err })
  })
  writeFileSync(at('web.log'), bytes.join('\n'))
  const conditions = ['--by', 'request_id', '--bad-if', 'duration_ms > 100']
  const { out } = await flowdelta('logs', at('web.log'), ...conditions)
  expect(out.split('\n').slice(0, 2)).toEqual([
    'Logged only after, the gravest first (1 event):',
    '10 of 10 instances, 10 messages  threw error: connection refused to <ip>',
  ])
})

describe('for others', () => {
  const HOSTILE = '</td><script>alert(1)</script> @everyone fixes #1 [a](https://evil.example)'

  /** Slow requests wait for a lock, and throw. */
  function writeLog(): string {
    const records = Array.from({ length: 60 }, (_, i) => {
      const [time, request_id, isSlow] = [1e12 + i * 5000, `r${i}`, i % 3 === 0]
      const end = time + (isSlow ? 900 : 20) + (i % 7)
      return [
        { time, request_id, msg: 'begun', ...ids(`${request_id}`) },
        { time: end, request_id, msg: `locked ${HOSTILE}` },
        { time: end + 5, request_id, msg: 'done', duration_ms: end + 5 - time },
        ...(isSlow ? [{ time: end + 5, request_id, level: 'error', msg: `lost ${HOSTILE}` }] : []),
      ]
    })
    writeFileSync(at('hostile.log'), lines(records.flat()))
    return at('hostile.log')
  }

  /** Fields that are no variables. */
  const ids = (request: string) =>
    Object.fromEntries(
      ['session', 'customer', 'payment', 'shipment', 'correlation'].map((of) => [
        `${of}_identifier`,
        createHash('md5').update(`${of} ${request}`).digest('hex'),
      ]),
    )

  const slow = (...args: string[]) =>
    flowdelta('logs', writeLog(), '--by', 'request_id', '--bad-if', 'duration_ms > 100', ...args)

  test('a page and a comment say the same as the text, and names are text', async () => {
    const { out } = await slow('--markdown', '--out', at('logs.html'))
    expect(out).toMatch(/^### Logged only after: lost /)
    expect(out).toMatch(/\| ms until locked .* \| state \| mean value 22.9 ms → 903 ms \| \d/)
    expect(out).not.toMatch(/<script|@\w|#\d(?!\d*;)/)
    // No sentence is cut, however many names it has.
    expect(out).toMatch(/^<sub>[^…]{161,}\. Made by flowdelta/m)
    const page = readFileSync(at('logs.html'), 'utf8')
    const headings = Array.from(page.matchAll(/<h[12]>(.*?)<\/h/g), ([, text]) => text)
    expect(headings.slice(1)).toEqual([
      'Logged only after',
      'What differs',
      'What performance depends on',
    ])
    expect(page).not.toMatch(/<script|<link|<img|NaN|undefined|\[object/)
    expect(page.match(/<figure>/g)).toHaveLength(2)
  })

  test('a condition that holds ends with exit code 1 and says why', async () => {
    const { code, err } = await slow('--fail-on', 'new-errors', '--fail-on', 'performance>50%')
    expect(code).toBe(1)
    expect(err).toMatch(/--fail-on new-errors holds for lost /)
    expect(err).toMatch(/--fail-on performance>50% holds for Performance is done\.duration_ms: /)
    expect((await slow('--fail-on', 'performance>9999%')).code).toBe(0)
    expect((await slow('--fail-on', 'all')).err).toContain(
      "Give 'new-errors', 'performance>5%', 'differs' or 'any'.",
    )
  })
})

describeWithShared('faults of Hadoop jobs', () => {
  const jobs = (label: string) => {
    const below = sharedFile(`data/loghub-hadoop/WordCount_${label}`) as string
    return readdirSync(below).map((job) => join(below, job))
  }

  test.each([
    ['Disk_full', 'There is not enough space on the disk'],
    ['Network_disconnection', 'NoRouteToHostException: No route to host'],
  ])('stand in the first five lines: %s', { tags: ['full'] }, async (label, message) => {
    const paths = ['--before', ...jobs('Normal'), '--after', ...jobs(label)]
    const { out } = await flowdelta('logs', ...paths)
    expect(out.split('\n').slice(0, 5).join('\n')).toContain(message)
  })
})
