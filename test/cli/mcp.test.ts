import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NO_KNOWLEDGE } from '../../src/compare/knowledge/knowledge.ts'
import { describeWithShared, sharedFile } from '../shared.ts'
import { flowdelta, ROOT } from './run-cli.ts'

const SAMPLE = {
  before: [`${ROOT}datasets/sample/before.jsonl.gz`],
  after: [`${ROOT}datasets/sample/after.jsonl.gz`],
}

interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly of: number
  readonly next: string | null
}
interface Finding {
  readonly id: string
  readonly title: string
}

/** An agent that plays a script: it asks a server over its standard input and output. */
class Client {
  readonly #server: ChildProcess
  readonly #waiting = new Map<number, (answer: { readonly result?: unknown }) => void>()
  #asked = 0
  calls = 0
  bytes = 0

  constructor() {
    this.#server = spawn(process.execPath, [`${ROOT}scripts/flowdelta.mjs`, 'mcp'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    createInterface({ input: this.#server.stdout! }).on('line', (line) => {
      const answer = JSON.parse(line) as { readonly id: number; readonly result?: unknown }
      this.#waiting.get(answer.id)?.(answer)
    })
  }

  async ask<Result>(method: string, params: object): Promise<Result> {
    const id = this.#asked++
    const answered = new Promise<{ readonly result?: unknown }>((done) => {
      this.#waiting.set(id, done)
    })
    this.#send({ id, method, params })
    const answer = await answered
    if (answer.result === undefined) throw new Error(JSON.stringify(answer))
    return answer.result as Result
  }

  async start() {
    const client = { name: 'script', version: '1' }
    await this.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: client,
    })
    this.#send({ method: 'notifications/initialized' })
  }

  /** The answer of a tool, which counts. */
  async text(name: string, given: object): Promise<{ text: string; isError: boolean }> {
    const { content, isError = false } = await this.ask<{
      readonly content: readonly { readonly text: string }[]
      readonly isError?: boolean
    }>('tools/call', { name, arguments: given })
    const text = content.map((part) => part.text).join('')
    this.calls++
    this.bytes += Buffer.byteLength(text)
    return { text, isError }
  }

  async page(name: string, given: object): Promise<Page> {
    return JSON.parse((await this.text(name, given)).text) as Page
  }

  #send(message: object) {
    this.#server.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  end() {
    this.#server.kill()
  }
}

const listed = <T>({ items }: Page, list: string) =>
  items.filter((item) => item['list'] === list).map(({ value }) => value as T)

describe('flowdelta mcp', () => {
  const client = new Client()
  beforeAll(() => client.start())
  afterAll(() => client.end())

  test('lists its six tools with what they take', async () => {
    const { tools } = await client.ask<{
      readonly tools: readonly { readonly name: string; readonly inputSchema: object }[]
    }>('tools/list', {})
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'compare',
      'example_traces',
      'finding',
      'logs',
      'segments',
      'whatif',
    ])
    expect(tools.find(({ name }) => name === 'compare')?.inputSchema).toMatchObject({
      required: ['before', 'after'],
    })
  })

  test('says the same numbers as the command line, page by page within its budget', async () => {
    const documents = { findings: [] as unknown[], mutations: [] as unknown[] }
    let first: Readonly<Record<string, unknown>> = {}
    for (let cursor: string | null = '0'; cursor !== null; ) {
      const { text } = await client.text('compare', { ...SAMPLE, budget: 6000, cursor })
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6000)
      const answer = JSON.parse(text) as Page
      if (cursor === '0') first = answer.items[0]!
      for (const list of ['findings', 'mutations'] as const) {
        documents[list].push(...listed(answer, list))
      }
      cursor = answer.next
    }
    const { out } = await flowdelta(
      ...['compare', '--before', ...SAMPLE.before, '--after', ...SAMPLE.after],
      ...['--json', '--budget', '0'],
    )
    const printed = JSON.parse(out) as Record<string, unknown[]>
    expect(first['change']).toEqual(printed['change'])
    expect(documents.findings).toEqual(printed['findings'])
    expect(documents.mutations).toEqual(printed['mutations'])
  })

  test('takes what people know, as flags', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'flowdelta-mcp-'))
    const known = join(folder, 'known.json')
    writeFileSync(known, JSON.stringify({ ...NO_KNOWLEDGE, ignore: ['no order'] }))
    const { items } = await client.page('compare', { ...SAMPLE, flags: ['--knowledge', known] })
    expect(items[0]).toMatchObject({ parameters: { concurrency: 'none' } })
    rmSync(folder, { recursive: true })
  })

  test('shows the requests of a finding call by call, and answers the same twice', async () => {
    const [finding] = listed<Finding>(await client.page('compare', SAMPLE), 'findings')
    const asked = { finding: finding!.id, budget: 20_000 }
    const traces = await client.text('example_traces', asked)
    expect(traces.text).toContain('"operation":"SN WRITE"')
    expect(await client.text('example_traces', asked)).toEqual(traces)
    expect((await client.text('finding', asked)).text).toContain(finding!.title)
  })

  test('runs what-if as the command line does', async () => {
    const { text } = await client.text('whatif', { ...SAMPLE, flags: ['--depth', '1'] })
    const { out } = await flowdelta(
      ...['whatif', '--before', ...SAMPLE.before, '--after', ...SAMPLE.after],
      ...['--depth', '1', '--json'],
    )
    const { causes } = JSON.parse(out) as { readonly causes: readonly object[] }
    expect(listed(JSON.parse(text) as Page, 'causes')[0]).toEqual(causes[0])
  })

  test('answers what it cannot do in words', async () => {
    expect(await client.text('finding', { finding: 'latency-0' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('is not the rank or the id of a finding'),
    })
    const missing = await client.text('compare', { before: ['absent.json'], after: ['x.json'] })
    expect(missing).toMatchObject({ isError: true })
    const wrong = await client.text('compare', { ...SAMPLE, flags: ['--alhpa', '0.1'] })
    expect(wrong.text).toContain('--alpha')
  })
})

/** What the authors planted: words that the first two findings, or their segments, must have. */
const INCIDENTS: Readonly<Record<string, readonly string[]>> = {
  'latency-spike-42': ['database', '/api/orders/search', 'tenant.tier', 'enterprise'],
  'segmented-regression-42': ['api-server', 'tenant.tier', 'enterprise', 'cache.hit'],
  'deploy-regression-7': ['promo'],
}

describeWithShared('an agent with nothing but the server', () => {
  test.each(Object.entries(INCIDENTS))(
    'names what was planted in %s within ten calls and 100 kB',
    { tags: ['full'], timeout: 300_000 },
    async (incident, planted) => {
      const client = new Client()
      try {
        await client.start()
        const period = (name: string) =>
          ['.jsonl.gz', '-traces.jsonl.gz', '/traces.jsonl.gz']
            .map((end) => sharedFile(`data/hdx-eval/${incident}/${name}${end}`))
            .filter((path) => path !== undefined)
        const compared = await client.page('compare', {
          before: period('before'),
          after: period('after'),
          budget: 16_000,
        })
        const findings = listed<Finding>(compared, 'findings').slice(0, 2)
        const details: string[] = []
        for (const { id } of findings) {
          details.push((await client.text('finding', { finding: id })).text)
          details.push((await client.text('example_traces', { finding: id })).text)
        }
        const said = JSON.stringify([findings, details])
        for (const words of planted) expect(said).toContain(words)
        expect(client.calls).toBeLessThanOrEqual(10)
        expect(client.bytes).toBeLessThan(100_000)
      } finally {
        client.end()
      }
    },
  )
})
