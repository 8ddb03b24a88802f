import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { gunzipSync } from 'node:zlib'
import MiniSearch from 'minisearch'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { apiMarkdown, publicNames } from '../../scripts/site/api.mjs'
import { sitePages, writeSite } from '../../scripts/site.mjs'
import * as flowdeltaApi from '../../src/index.ts'
import { flowdelta, ROOT } from '../cli/run-cli.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-guide-'))
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

// biome-ignore lint/suspicious/noExplicitAny: documents of other programs
type Json = Record<string, any>

/** Traces of OTLP lines as Jaeger's UI saves them. */
function jaegerJson(lines: string): Json {
  const data = lines
    .trim()
    .split('\n')
    .map((line) => {
      const processes: Json = {}
      const spans = JSON.parse(line).resourceSpans.flatMap((each: Json, i: number) => {
        const tags = each['resource'].attributes.map(({ key, value }: Json) => ({
          key,
          type: 'string',
          value: Object.values(value)[0],
        }))
        const serviceName = tags.find(({ key }: Json) => key === 'service.name').value
        processes[`p${i}`] = { serviceName, tags }
        return each['scopeSpans'].flatMap((scope: Json) =>
          scope['spans'].map((span: Json) => ({
            traceID: span['traceId'],
            spanID: span['spanId'],
            operationName: span['name'],
            processID: `p${i}`,
            startTime: Number(BigInt(span['startTimeUnixNano']) / 1000n),
            duration: Number(
              BigInt(span['endTimeUnixNano']) / 1000n - BigInt(span['startTimeUnixNano']) / 1000n,
            ),
            references: span['parentSpanId']
              ? [{ refType: 'CHILD_OF', traceID: span['traceId'], spanID: span['parentSpanId'] }]
              : [],
            tags: [
              {
                key: 'span.kind',
                type: 'string',
                value: span['kind'] === 2 ? 'server' : 'internal',
              },
              ...span['attributes'].map(({ key, value }: Json) => ({
                key,
                type: 'int64',
                value: Object.values(value)[0],
              })),
            ],
          })),
        )
      })
      return { traceID: spans[0].traceID, spans, processes }
    })
  return { data }
}

beforeAll(() => {
  for (const period of ['before', 'after']) {
    const packed = readFileSync(`${ROOT}datasets/sample/${period}.jsonl.gz`)
    writeFileSync(join(FOLDER, `${period}.jsonl.gz`), packed)
    const jaeger = jaegerJson(gunzipSync(packed).toString())
    writeFileSync(join(FOLDER, `jaeger-${period}.json`), JSON.stringify(jaeger))
  }
  for (const name of ['good', 'bad']) {
    const logs = readFileSync(`${ROOT}datasets/storage-service-logs/${name}.jsonl.gz`)
    writeFileSync(join(FOLDER, `${name}.jsonl.gz`), logs)
  }
})

const FILE = /^[\w-]+\.(jsonl|jsonl\.gz|json|parquet|html|md)$/
/** Stores have tests of their own; here a file stands in for what they hold. */
const STORE = /^(jaeger|tempo|clickhouse):\/\//

/** Words of a line, as a shell divides them, with files in the folder of the test. */
function wordsOf(line: string, out: string): string[] {
  const words = Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, word]) => quoted ?? word!)
  const isStore = words.some((word) => STORE.test(word))
  return words.flatMap((word, i) => {
    if (STORE.test(word)) return [join(FOLDER, `${out.replace(/\..*/, '')}.jsonl.gz`)]
    // The recording that stands in was made at another time.
    if (isStore && (word === '--between' || words[i - 1] === '--between')) return []
    if (isStore && words[i - 1] === '--where') return [`operation is not nothing`]
    if (isStore && words[i - 1] === '--out') return [join(FOLDER, `fetched-${word}`)]
    if (word.startsWith('datasets/')) return [ROOT + word]
    return [FILE.test(word) ? join(FOLDER, word) : word]
  })
}

/** Every line of the expectation stands in what was printed. */
function expectSaid(printed: string, text: string): void {
  const plain = printed.replace(/\s+/g, ' ')
  for (const line of text.trim().split('\n')) expect(plain).toContain(line.replace(/\s+/g, ' '))
}

const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...values: unknown[]) => Promise<unknown>

/** Runs code without its imports; `expression // value` says what an expression is. */
async function runCode(code: string): Promise<void> {
  const body = code
    .replace(/^import .* from '.*'$/gm, '')
    .replace(/'([\w-]+\.jsonl?(?:\.gz)?)'/g, (_, name) => JSON.stringify(join(FOLDER, name)))
    .replace(/^(?!const|let)(\S.*\S) +\/\/ (.+)$/gm, (_, what, value) => {
      return `check(${what}, ${JSON.stringify(value)})`
    })
  const check = (actual: unknown, expected: string) => expect(inspect(actual)).toBe(expected)
  const scope: Record<string, unknown> = { ...flowdeltaApi, check }
  await new AsyncFunction(...Object.keys(scope), body)(...Object.values(scope))
}

const PAGES = sitePages()
const OBSERVABLE = readFileSync(`${ROOT}docs/observable/index.html`, 'utf8')
const GUIDE = PAGES.filter(({ source }) => source.startsWith('docs/guide/') && !/api/.test(source))

describe('every block of the guide runs and prints what the page says', () => {
  test.each(GUIDE.map(({ source }) => source))('%s', async (source) => {
    vi.spyOn(console, 'log').mockReturnValue()
    let printed = ''
    const text = readFileSync(ROOT + source, 'utf8')
    for (const [, info = '', block = ''] of text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
      const [language, exits = 'exits=0'] = info.split(' ')
      if (language === 'sh') {
        printed = ''
        for (const line of block.trim().split('\n')) {
          expect(line).toMatch(/^npx flowdelta /)
          const out = /--out (\S+)/.exec(line)?.[1] ?? 'before'
          const args = wordsOf(line.replace(/^npx flowdelta /, ''), out)
          const outcome = await flowdelta(...args)
          expect([line, outcome.code, outcome.err.slice(0, 300)]).toEqual([
            line,
            Number(exits.replace('exits=', '')),
            exits === 'exits=0'
              ? expect.not.stringMatching(/^flowdelta: (?!.*Only)/)
              : expect.anything(),
          ])
          printed += outcome.out
        }
      } else if (language === 'text') expectSaid(printed, block)
      else if (language === 'ts') await runCode(block)
      else if (language === 'json') JSON.parse(block)
      else if (language === 'html')
        for (const part of block.split(/^(?= {2}<)/m)) expect(OBSERVABLE).toContain(part)
    }
    vi.restoreAllMocks()
  })
})

describe('the site', () => {
  test('has no link or picture that leads nowhere', () => {
    const ids = new Map(PAGES.map(({ file, ids }) => [file, ids]))
    const broken = PAGES.flatMap(({ file, links, ids: own }) =>
      links
        .filter((href) => {
          if (/^https?:/.test(href)) return !URL.canParse(href)
          const [path = '', hash] = href.split('#')
          if (path === '') return !own.includes(hash!)
          if (path.startsWith('images/'))
            return !['docs/', 'docs/widgets/'].some((folder) =>
              existsSync(ROOT + folder + path.slice('images/'.length)),
            )
          if (path.startsWith('../../')) return !existsSync(ROOT + path.slice('../../'.length))
          return !ids.has(path) || (hash !== undefined && !ids.get(path)!.includes(hash))
        })
        .map((href) => `${file}: ${href}`),
    )
    expect(broken).toEqual([])
    expect(PAGES.flatMap(({ links }) => links).length).toBeGreaterThan(100)
  })

  test('documents every public name, each function with its docstring', () => {
    const declared = publicNames(`${ROOT}dist/types/index.d.ts`)
    const names = declared.map(({ name }) => name)
    expect(Object.keys(flowdeltaApi).filter((name) => !names.includes(name))).toEqual([])
    const silent = declared.filter(({ code, comment }) => /^function/.test(code) && comment === '')
    expect(silent.map(({ name }) => name)).toEqual([])
    expect(apiMarkdown(`${ROOT}dist/types`)).toContain('### ksTwoSample')
  })

  test('is written as files that refer to nothing outside of them, and its search finds pages', () => {
    const out = join(FOLDER, 'site')
    writeSite(out)
    const html = readFileSync(join(out, 'index.html'), 'utf8')
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//)
    const script = readFileSync(join(out, 'search.js'), 'utf8')
    const [, index = ''] = /^const SEARCH = MiniSearch\.loadJSON\(("(?:[^"\\]|\\.)*")/m.exec(
      script,
    )!
    const options = { fields: ['title', 'text'], storeFields: ['title', 'page'] }
    const search = MiniSearch.loadJSON(JSON.parse(index), options)
    const first = (words: string) => search.search(words, { boost: { title: 3 } })[0]!['page']
    expect(first('canary baseline')).toBe('A canary against its baseline')
    expect(first('my clickhouse')).toMatch(/ClickHouse|Traces where they are/)
    expect(first('ksTwoSample')).toBe('API')
  })
})
