import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { listNotebooks } from '../../../scripts/notebook-runner.mjs'
import { contents, readChapter } from '../../../scripts/notebooks/book.mjs'
import { ROOT } from './fixture.ts'
import { type Claim, claimsOf, isFound } from './prose.ts'

/** How many cells with code before and after prose it may speak of. */
const REACH = 3

interface Cell {
  readonly type: string
  readonly source: string
  /** What it prints as text alone. */
  readonly printed: string
  /** What it shows, as text; of pictures, what is written in them. */
  readonly said: string
}

function cellsOf(path: string): readonly Cell[] {
  const { cells } = JSON.parse(readFileSync(path, 'utf8')) as { cells: readonly StoredCell[] }
  return cells.map(({ cell_type, source, outputs = [] }) => ({
    type: cell_type,
    source: [source].flat().join(''),
    printed: outputs.map(({ text }) => all(text)).join('\n'),
    said: outputs.map(saidBy).join('\n'),
  }))
}

type Text = string | readonly string[]

interface StoredCell {
  readonly cell_type: string
  readonly source: Text
  readonly outputs?: readonly { readonly text?: Text; readonly data?: Record<string, Text> }[]
}

function saidBy({ text, data = {} }: { text?: Text; data?: Record<string, Text> }): string {
  const { 'text/plain': plain, 'image/svg+xml': svg } = data
  const written = Array.from(all(svg).matchAll(/>([^<>]+)</g), ([, words]) => words)
  const table = all(data['text/html']).replace(/<style[\s\S]*?<\/style>|<[^>]+>/g, ' ')
  return [all(text), all(plain), ...written, table].join('\n')
}

const all = (text: Text = '') => [text].flat().join('')

const BOOK = listNotebooks().map((path) => [basename(path), cellsOf(path)] as const)

/** What the code cells beside a cell print and say; of the last cell, all. */
function beside(cells: readonly Cell[], at: number): string {
  const isLast = at === cells.length - 1
  const code = (some: readonly Cell[]) => some.filter(({ type }) => type === 'code')
  const near = isLast
    ? code(cells)
    : [...code(cells.slice(0, at)).slice(-REACH), ...code(cells.slice(at)).slice(0, REACH)]
  return near.map(({ source, said }) => `${source}\n${said}`).join('\n')
}

const STORAGE = 'datasets/storage-service/README.md'
const HDFS = 'datasets/hdfs-writes/README.md'
const ON_PAPER = 'an estimate that the prose works out'

/** Numbers that no cell prints: the file that has each, or why none can. */
const ELSEWHERE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '02-case-studies.ipynb': {
    '16 KB': STORAGE,
    '1,000': STORAGE,
    '10,000': STORAGE,
    '300 µs': 'evaluation/service-model.ts',
  },
  '07-hdfs.ipynb': { '64 KB': HDFS, '64 MB': HDFS, '15,386': HDFS },
  '09-what-if.ipynb': { '5,000': 'docs/options.md' },
  '10-which-requests.ipynb': { '400 µs': STORAGE },
  '11-where-traces-live.ipynb': { '10,000': ON_PAPER, '90': ON_PAPER, '42': ON_PAPER },
}

interface Found {
  readonly at: number
  readonly claim: Claim
  readonly text: string
}

/** The numbers of a notebook's prose, but its minutes, with those that cells beside it print. */
function claimed(cells: readonly Cell[]): readonly Found[] {
  return cells.flatMap(({ type, source }, at) => {
    if (type !== 'markdown') return []
    const text = beside(cells, at)
    const claims = claimsOf(source.replace(/^> .*$/m, ''))
    return claims.map((claim) => ({ at, claim, text }))
  })
}

test.each(BOOK)(
  'each number that the prose of %s claims is what its cells print',
  (name, cells) => {
    const missing = claimed(cells).filter(({ claim, text }) => !isFound(claim, text))
    const { [name]: elsewhere = {} } = ELSEWHERE
    expect(missing.map(({ claim }) => claim.text).filter((text) => !(text in elsewhere))).toEqual(
      [],
    )
    const unused = Object.keys(elsewhere).filter(
      (text) => !missing.some(({ claim }) => claim.text === text),
    )
    expect(unused).toEqual([])
    for (const { claim } of missing) {
      const { [claim.text]: file = '' } = elsewhere
      if (file === ON_PAPER) continue
      expect(isFound(claim, readFileSync(join(ROOT, file), 'utf8'))).toBe(true)
    }
  },
)

test('a number that prose has wrong is noticed, unless it is small', () => {
  const told = BOOK.flatMap(([, cells]) => claimed(cells)).filter(
    ({ claim: { value, decimals } }) => value >= 20 || decimals > 0,
  )
  const wrong = told.map(({ claim, text }) => {
    const value = Number((claim.value * 1.31 + 0.1).toFixed(claim.decimals))
    return isFound({ ...claim, value }, text)
  })
  expect(told.length).toBeGreaterThan(90)
  expect(wrong.filter((isBelieved) => isBelieved).length / told.length).toBeLessThan(0.25)
})

/** What prose says of an order or of sameness, and how cells show it: in this order, one after the other. */
const ORDERS: readonly (readonly [name: string, prose: RegExp, shown: readonly RegExp[]])[] = [
  [
    '08',
    /`index_entries` comes first by far, and `announce` is high up/,
    [/\bindex_entries\b[\s\S]*\bannounce\b/],
  ],
  ['12', /Changed ones come first/, [/\nMDS LOOKUP +logs next/, /e-\d+\n/]],
  [
    '11',
    /names the same two causes\. Counts stay exact/,
    [/\nsample\nstorage-data: .*\nstorage-data: /],
  ],
  [
    '01',
    /the category below the band lost its requests, and the one above gained as many/,
    [/1 gained and 1 lost/],
  ],
  [
    '01',
    /Changed edges come first, largest shift on top/,
    [/true +71\.03/, /true +54\.96/, /true +62\.84/, /false/],
  ],
  [
    '01',
    /two of these steps, one after the other/,
    [/storage-data-0 SN WRITE reply +true/, /storage-data-0 SN WRITE reply +true/],
  ],
  ['01', /the ranking does not change/, [/first mutation: (\d+) and \1\n/]],
  [
    '01',
    /storage-data-0|`SN WRITE` of both storage nodes/,
    [/#1 +storage-data and storage-meta: SN WRITE itself takes 1\.01 ms/],
  ],
  [
    '02',
    /found the first two and missed the third/,
    [/delay-100us .*\(0\) +1\n/, /delay-500us/, /delay-1ms/],
  ],
  ['02', /the shared one most/, [/#1 +table: /, /#2 /, /#3 /]],
  [
    '02',
    /In all cases with a fault, the first result is relevant/,
    [
      /mds-config .* 1\n/,
      /rmw .* 1\n/,
      /mds-prefetch .* 1\n/,
      /create-behaviour .* 1\n/,
      /delay-1ms .* 1\n/,
    ],
  ],
  ['02', /there are 0 results/, [/periodic-spikes +50 +0 /, /control +50 +0 /]],
  [
    '03',
    /tests that look at the middle .* tests of the tail hardly react/,
    [/ks +27 /, /p95 +4 /, /p99 +0 /],
  ],
  [
    '04',
    /The first finding says so in words\. The third is the benefit of prefetching/,
    [
      /#1 +mds: MDS LOOKUP now calls prefetch/,
      /#3 +frontend: NFS3 GETATTR calls mds MDS LOOKUP only in/,
    ],
  ],
  ['04', /Here is the second one: a call that takes less time/, [/\n +2 +latency .*−?-43\.64/]],
  [
    '06',
    /Each share .*, largest first/,
    [/before .* 0\.57996/, /before .* 0\.40828/, /before .* 0\.00375/],
  ],
  ['08', /the longer flushes still come first/, [/flush #2 +state/, /connected +event/]],
  ['08', /Graphs marked `sharesDenominator` come last/, [/ false /, / true /]],
  [
    '09',
    /Row 1 is the answer: the work of `storage-data` itself in `SN WRITE`/,
    [/\n +1 +\d+ +own time of storage-data SN WRITE just before it replies/],
  ],
  [
    '09',
    /Further down, the table has the same step of `storage-meta`/,
    [/\n +1 .*storage-data/, /\n +\d+ .*own time of storage-meta SN WRITE just before it replies/],
  ],
  [
    '10',
    /The second finding says which call fails first/,
    [/#2 +storage-data: SN READ fails with/],
  ],
  [
    '10',
    /The same two findings, without the period before/,
    [/#1 +storage-data: SN READ itself takes 5/, /storage-data: SN READ fails with/],
  ],
  [
    '10',
    /The first finding ends with “?"?while …/,
    [/#1 [^#]*while NFS3 READDIRPLUS of tenant\.id = batch-co/],
  ],
  [
    '11',
    /names the same two causes, in the same order: slow reads on a storage node, and reads that fail/,
    [
      /#1 +storage-data: SN READ itself takes 5/,
      /#2 +storage-data: SN READ fails/,
      /#1 +storage-data: SN READ itself takes 6/,
      /#2 +storage-data: SN READ fails/,
    ],
  ],
  ['11', /the findings are the same/, [/same findings: true/]],
  [
    '12',
    /one mutation, whose precursor is the old path/,
    [/checksum <hex> holds/, /no key for checksums/],
  ],
  ['13', /The order of calls does not/, [/'no order'/]],
]

test.each(ORDERS)('%s says “%s”, as its cells show', (name, prose, shown) => {
  const [, cells = []] = BOOK.find(([file]) => file.startsWith(name)) ?? []
  const text = (type: string) => cells.filter((cell) => cell.type === type)
  expect(text('markdown').some(({ source }) => prose.test(source))).toBe(true)
  const said = text('code')
    .map((cell) => `\n${cell.said}`)
    .join('\n')
  let rest = said
  for (const one of shown) {
    const match = one.exec(rest)
    expect(match, String(one)).not.toBeNull()
    rest = rest.slice((match?.index ?? 0) + (match?.[0].length ?? 0) - 1)
  }
})

/** Claims of an order that a reader would look for in the output. */
const ORDER =
  /[^.\n]*\b(?:comes? (?:first|last)|come first|in the (?:same|other) order|same two|same three|row \d is|the (?:first|second|third) finding)\b[^.\n]*/gi

test.each(BOOK)(
  'orders that the prose of %s claims of its output are among those that are checked',
  (name, cells) => {
    const prose = cells.filter(({ type }) => type === 'markdown').map(({ source }) => source)
    const checked = ORDERS.filter(([own]) => name.startsWith(own)).map(([, pattern]) => pattern)
    const isChecked = (sentence: string) =>
      checked.some((pattern) =>
        prose.some((source) => {
          const { index = -1, 0: { length } = '' } = pattern.exec(source) ?? {}
          const at = source.indexOf(sentence)
          return at >= 0 && index >= 0 && index < at + sentence.length && at < index + length
        }),
      )
    const claims = prose.flatMap((source) => Array.from(source.matchAll(ORDER), ([found]) => found))
    expect(claims.filter((sentence) => !isChecked(sentence))).toEqual([])
  },
)

test('each notebook opens with a question and closes with what was learned, and leads to its neighbors', () => {
  const names = BOOK.map(([name]) => name)
  BOOK.forEach(([, cells], i) => {
    const { source = '' } = cells.at(-1) ?? {}
    expect(source).toMatch(/^## What we learned\n\n- /)
    const links = [names[i - 1], 'README.md', names[i + 1]].filter((name) => name !== undefined)
    const found = Array.from(source.matchAll(/\]\(([^)]+)\)/g), ([, link]) => link)
    expect(found.slice(-links.length)).toEqual(links)
  })
  const chapters = listNotebooks().map(readChapter)
  for (const { name, picture } of chapters)
    expect(`${name} ${picture?.slice(0, 4)}`).toMatch(/<svg$/)
  expect(readFileSync(join(ROOT, 'notebooks', 'README.md'), 'utf8')).toBe(contents(chapters))
})

test('no notebook begins with helpers or prints Markdown', () => {
  for (const [name, cells] of BOOK) {
    const [first] = cells.filter(({ type }) => type === 'code')
    expect(`${name}: ${(first?.source.split('\n').length ?? 0) <= 12}`).toBe(`${name}: true`)
    const printed = cells.map((cell) => cell.printed).join('\n')
    expect(printed).not.toMatch(/<details>|&lt;|^\| --- \||^#{2,} /m)
  }
})

test('numbers are read from prose as they are written', () => {
  const claims = claimsOf(
    'At 5 %, 1,100 of 2,400 take 1.01 ms (see Table 3.4, §2.5, v2.1.0, `x = 7`), p99.',
  )
  expect(claims.map(({ text }) => text)).toEqual(['5 %', '1,100', '2,400', '1.01 ms'])
})

test.each([
  ['1.01 ms', 'shift 1008.7', true],
  ['1.01 ms', 'shift 1.02 ms', false],
  ['99 %', 'share 0.98561', true],
  ['4,062', '4062 of 10000', true],
  ['64 KB', 'count = 65536', true],
  ['15', '150', false],
  ['99 % of the slowdown', '100 % of the slowdown, slower than 99 % of them', false],
])('%s is found in “%s”: %s', (prose, printed, found) => {
  const [claim] = claimsOf(prose)
  expect(claim !== undefined && isFound(claim, printed)).toBe(found)
})
