import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkInBrowser } from '../../../scripts/browser-check.mjs'
import { listNotebooks } from '../../../scripts/notebook-runner.mjs'
import { writePage } from '../../../scripts/pages.mjs'

/** What each notebook must have found, wherever it says so. */
const FINDINGS: Record<string, readonly RegExp[]> = {
  '01-diagnosis.ipynb': [
    /(storage-\w+-0) disk write reply +\1 SN WRITE reply +1\d{3}\.\d/,
    /How predictable response times are\n/,
    /Flow of frontend NFS3 WRITE, category 5.*\n.*6 steps only after/,
    /When requests of frontend NFS3 WRITE \(category 5\) arrived/,
    /Ranking browser\n1 mutation; .* drag the threshold/,
    /categories shared: true/,
  ],
  '02-case-studies.ipynb': [
    /NFS3 \w+ call, structural.*\n.*more: .*storage-data-0 SN WRITE/,
    /more: frontend-0 SN READ ×1/,
    /more: .*mds-0 lock acquire ×\d\d/,
    /disk write reply → storage-\w+-0 SN WRITE reply/,
    /\d+ categories, 0 results/,
    /p = 0\.\d+/,
    /control +50 +0 \(–\)/,
    /#1 {2}table: READ ROWS itself takes [\d.]+ ms longer/,
    /auth: AUTH itself takes \d+ µs longer/,
    /before \d+ µs with 6 messages .*; after 1\.\d+ ms with 10 messages/,
  ],
  '03-how-sure.ipynb': [
    /single tests at 5 %: {2}\d\.\d % of \d+ tests reject/,
    /rankings: {13}[5-9]\d\.\d % of 20 comparisons/,
    /findings: {13}0\.0 % of 20 comparisons/,
    /^#1 {2}storage-data and storage-meta: SN WRITE itself takes 1\.\d+ ms longer per call\n +(99|100) % of the slowdown /m,
    /smPThreshold 50: {6}16 of 77 categories/,
    // One print each: on a busy machine, what shows progress stands between them.
    /^scaled counts: {8}0$/m,
    /^smPThreshold 'auto': {2}0$/m,
    /^findings: {13}0$/m,
    /request-mix: The request mix changed, which alone makes requests take \S+ µs longer on average: frontend NFS3 WRITE 8\.2 % → 34 %/,
    /0 ranked mutations/,
    /#1 {2}mds: MDS GETLAYOUT itself takes 300 µs longer/,
  ],
  '04-seeing-the-difference.ipynb': [
    /#1 {2}mds: MDS LOOKUP now calls prefetch in 937 of 937 calls \(0 of 1,000 before\)/,
    /Ranking browser\n7 mutations/,
    /Trace in time\n/,
  ],
  '05-why.ipynb': [
    /Where frontend NFS3 WRITE · count is at most 4,096, requests are mutations: 110 of 111 \(99 %\)/,
    /is named as an identifier|is the same wherever it is known/,
    /Explanation\nfrontend NFS3 LOOKUP, category 22, which was category 10/,
    /Calls of storage-data disk write → storage-data SN WRITE/,
    /No parameter tells mutations from precursors\./,
  ],
  '06-variance.ipynb': [
    /Shares of all parts add up to 100 %\./,
    /C² is below 1 in 32 of 46 large categories/,
    /Slow requests, far out in their category: \d+ requests in \d+ categories/,
  ],
  '07-hdfs.ipynb': [
    /139 requests are in 128 categories/,
    /expected 126 ± 3\.1: as expected by chance/,
    /NEW_BLOCK_CALL ×3 ×3 ×5 ×3\s+137\s+101\s+0\s+33\s+0/,
    /11 hosts in 2 classes/,
    /rand sort +1530 +241 \(259\) +139 +131 \(132\)/,
  ],
  '08-logs.ipynb': [
    /9923 lines: 5027 events, 4896 states, 0 skipped/,
    /finish before: \d\d ms \(34 nodes\), after: \d{3} ms \(34 nodes\)\nt = 1\d\.\d, p < 0\.001/,
    /state: lock_wait_us, write_us, .*dirty_kb/,
    /event: .*flush/,
    /Logs\nWhat finish depends on in 34 instances before and 34 after, among 19 variables/,
    /Peer: connected to <ip> +4/,
    /Peer: lost connection to <ip> +event/,
    /What finish depends on: events by number/,
  ],
  '09-what-if.ipynb': [
    /Response times before and after\nbefore: p50\s[\d.]+\sµs/,
    /25\s+frontend\s+NFS3 WRITE\s+3\s+3\s+259/,
    /Execution model 25: frontend NFS3 WRITE\nExplains 259 calls to it before, 8 % of all/,
    /storage-data SN WRITE × 0\.5: p50\s3\d\d\sµs/,
    /mean\s+613\.5\s+584\.\d/,
    /Closest: own time of storage-data SN WRITE just before it replies, as after, 8\d % of the way/,
    /own time of storage-meta SN WRITE just before it replies/,
    /storage-data SN WRITE \+1 ms, and storage-meta SN WRITE \+1 ms: p50\s60\d\sµs, p90\s2\.7/,
    /Target: 99 % of requests in at most 5 ms\.\sClosest: .*SN WRITE.* × 0\.5, \d+ % of the way/,
    /What if\?\nDrag a service’s speed, and the response times of 1,500 of 5,000 requests follow/,
    /1\d of 20 were: the tree has them/,
  ],
  '10-which-requests.ipynb': [
    /before +1957 reads, median 0\.81 ms/,
    /^#1 {2}storage-data: SN READ itself takes 5\.1 ms longer, only for NFS3 READ where storage-data host =\n +storage-data-2 and storage-data count = 65536 or 131072/m,
    /\(first seen 14:36:32 UTC\);\s+at\s+its\s+start,\s+storage-data 2\.1\.0 appears/,
    /Where the change is: few requests, most of the change/,
    /#1 {2}storage-data: SN READ itself takes 5\.1 ms longer {2}.*\n +200 of 200 requests take 5\.84 ms longer/,
    /storage-data {2}SN READ +Error: EIO: the checksums of <n> bytes do not match +0 +1955 +40/,
    /Flow of frontend NFS3 READ/,
    /Failures over time/,
    /in 40 of\n +532 calls \(0 of 1,423 before\)/,
    /while NFS3 READDIRPLUS of tenant\.id = batch-co uses the same\s+lock\.name/,
    /Other requests running while calls of mds are slow/,
    /#1 {2}mds: MDS GETLAYOUT itself takes 391 µs longer {2}/,
  ],
  '11-where-traces-live.ipynb': [
    /same findings: true/,
    /'storage-data' │ 'SN READ' +│ 1955 +│ 6\.95/,
    /4000 and 4000 requests; loaded: 1501 and 1501/,
    /frontend NFS3 READ +ok +1 +6 +1519 +570 +5384 +909\.4/,
    /^#1 {2}storage-data: SN READ itself takes 5\.1 ms longer, only for NFS3 READ where storage-data host =\n +storage-data-2 and storage-data count = 65536 or 131072/m,
    /Together, 4,000 requests \(1,501 of them compared\) took/,
  ],
  '12-logs-in-traces.ipynb': [
    /No significant change\./,
    /^#1 {2}mds: MDS LOOKUP after “Records: found record of <\*>” no longer logs “Records: checksum <hex>\n/m,
    /new: WARN “Records: no key for checksums, taking <\*>\n/,
    /MDS GETLAYOUT {2}logs next +mds Records: found record of <\*>/,
    /Trace in time\n/,
    /log-without-trace +log record skipped +1/,
  ],
  '13-what-people-know.ipynb': [/\[ '(no|learned) order' \] 77 → 7\d/, /76 → 218/],
}

const notebooks = listNotebooks().map((path) => [basename(path), path] as const)

/** The one that `npm test` runs, a whole diagnosis; `npm run test:full` runs the others. */
const SHORT = '01'
const isShort = (name: string) => name.startsWith(SHORT)

test('notebooks are numbered in the order in which they are read', () => {
  for (const [name] of notebooks) expect(name).toMatch(/^\d\d-[a-z0-9-]+\.ipynb$/)
})

test('every notebook says what it is expected to find', () => {
  expect(notebooks.map(([name]) => name)).toEqual(Object.keys(FINDINGS))
})

describe.each([
  { which: 'short', tags: [], chosen: notebooks.filter(([name]) => isShort(name)) },
  { which: 'long', tags: ['full'], chosen: notebooks.filter(([name]) => !isShort(name)) },
])('$which notebooks', ({ tags, chosen }) => {
  const pages: string[] = []

  test.each(chosen)(
    '%s runs from the first cell to the last and finds what it says',
    { tags, timeout: 300_000 },
    async (name, path) => {
      const { cells, file } = await writePage(path)
      pages.push(file)
      const said = cells
        .flatMap(({ outputs }) => outputs.map((output) => textOf(output)))
        .join('\n')
      for (const finding of FINDINGS[name] ?? []) expect(said).toMatch(finding)
    },
  )

  test('the pages of the notebooks that ran work in a browser without network', {
    tags,
    timeout: 300_000,
  }, async ({ skip }) => {
    const skipped = await checkInBrowser(pages)
    skip(skipped !== undefined, skipped)
    expect(pages).toHaveLength(chosen.length)
  })
})

/** The plain text of an output: a stream's text, or the text form of a value. */
function textOf(output: object): string {
  const { text, data } = output as { text?: Text; data?: Record<string, Text> }
  return [text ?? data?.['text/plain'] ?? ''].flat().join('')
}

type Text = string | string[]
