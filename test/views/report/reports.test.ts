import { marked } from 'marked'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { reportHtml, reportMarkdown } from '../../../src/views/report/report.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { makeSpans } from '../../make-traces.ts'
import { chain, comparisonOf, manyCategories, smallComparison, upFrom } from '../charts/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { compareNames } from './fixture.ts'

beforeAll(connectCharts)

let made: Comparison | undefined
const slower = () => {
  made ??= compareShops({}, { stockUs: 1600 })
  return made
}

/** Names that attack HTML, Markdown, and whoever is watching a repository. */
const hostile = () =>
  compareNames({
    root: `@everyone fixes #1 ${HOSTILE}`,
    callee: `x|y\`z\u202e</td></table><b onclick=1>\n\n# heading`,
    operation: '[a](https://evil.example) https://evil.example/1 $x$ {traceId}',
    traceId: (i, period) => `${period}${i}"><script>alert(1)</script>|\`@me`,
  })

describe('the HTML page', () => {
  test('answers in this order: how much, where, what, does it add up, is it fair, what else', () => {
    const page = reportHtml(slower(), { files: { before: ['a.gz'], after: ['b.gz'] } })
    const headings = Array.from(page.matchAll(/<h[12][^>]*>(.*?)<\/h/g), ([, text]) => text)
    expect(headings[0]).toMatch(/^Requests take .* longer on average/)
    expect(headings.slice(1)).toEqual([
      'Where the time goes',
      'What changed',
      'What the change is made of',
      'Is this comparison fair?',
      'Kinds of request that changed',
      'The smallest slowdown that would have been noticed',
    ])
    expect(page).toContain('unexplained')
    expect(page).toContain('a.gz')
    expect(page).toMatch(/stock: LOOKUP itself takes \d+ µs longer/)
    expect(page.match(/<figure>/g)).toHaveLength(2)
    expect(page.match(/<figcaption><b>How to read this\.<\/b>/g)).toHaveLength(2)
  })

  test('says before the findings what may be wrong', () => {
    const page = reportHtml(slower().with({ smPThreshold: 1000 }))
    const places = ['small-periods', 'What changed'].map((text) => page.indexOf(text))
    expect(places[0]).toBeGreaterThan(0)
    expect(places[0]).toBeLessThan(places[1] as number)
  })

  test('parts of what is said of a finding stand apart', () => {
    expect(reportHtml(slower())).toMatch(/<p class="facts">.*\S · \+[\d.]+ m?s in total<\/p>/)
  })

  test('says where to look', () => {
    const comparison = compareShops({}, { networkUs: 300 })
    const page = reportHtml(comparison)
    for (const { look } of comparison.findings.findings) {
      expect(page).toContain(`Look at ${look}</p>`)
    }
  })

  test('shows no steps of few of the requests, as where each host has categories of its own', () => {
    const shop = (period: 'before' | 'after', storeUs: number) =>
      makeSpans(
        Array.from({ length: 60 }, (_, i) => {
          const own = { trace: `${period}${i}`, host: `host-${i % 20}` }
          const store = storeUs + (i % 7)
          return [
            {
              ...own,
              id: 'r',
              service: 'shop',
              operation: 'GET /',
              startUs: 9_000 * i,
              endUs: 9_000 * i + store + 90,
            },
            {
              ...own,
              id: 's',
              parent: 'r',
              service: 'store',
              operation: 'query',
              startUs: 9_000 * i + 40,
              endUs: 9_000 * i + store,
            },
          ]
        }).flat(),
        period,
      )
    const comparison = compare(shop('before', 900), shop('after', 1_900))
    expect(comparison.findings.findings[0]?.title).toBe('store: query itself takes 1 ms longer')
    expect(comparison.findings.findings[0]?.changedEdges.length).toBeGreaterThan(0)
    const page = reportHtml(comparison)
    expect(page).not.toContain('Changed steps')
    expect(page).not.toContain('NaN')
  })

  test('shows a step once, with how many more hosts it is slower on', () => {
    const shop = (period: 'before' | 'after', storeUs: number) =>
      makeSpans(
        Array.from({ length: 90 }, (_, i) => {
          const trace = `${period}${i}`
          const [startUs, endUs] = [9_000 * i, 9_000 * i + storeUs + (i % 7)]
          const root = { trace, id: 'r', service: 'shop', operation: 'GET /', host: 'shop-0' }
          const store = { trace, id: 's', parent: 'r', service: 'store', operation: 'query' }
          return [
            { ...root, startUs, endUs: endUs + 90 },
            { ...store, host: `store-${i % 3}`, startUs: startUs + 40, endUs },
          ]
        }).flat(),
        period,
      )
    const page = reportHtml(compare(shop('before', 900), shop('after', 1_900)))
    const [steps = ''] = /Changed steps.*?<\/table>/s.exec(page) ?? []
    expect(steps.match(/<tr><td/g)).toHaveLength(1)
    expect(steps).toContain('and 2 more hosts')
  })

  test('without a finding says what would have been seen, before anything else', () => {
    const page = reportHtml(compareShops({}, {}))
    expect(page).toContain('<h1>No change found</h1>')
    expect(page).toMatch(
      /With 300 requests before, 300 after, changes under [\d.]+ µs may be missed\./,
    )
    expect(page).not.toContain('What changed')
    expect(page.indexOf('What would have been seen')).toBeLessThan(
      page.indexOf('Where the time goes'),
    )
  })

  test('needs no script and no network, and says so to the browser', () => {
    const page = reportHtml(slower(), { traceUrl: 'jaeger=http://localhost:16686' })
    expect(page).toContain(
      'content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"',
    )
    expect(page).not.toMatch(/<script|<link|<img|@import|url\(\s*['"]?http|\bsrc=/)
    expect(page.length).toBeLessThan(500_000)
  })

  test('links its typical traces, or only names them', () => {
    const comparison = slower()
    const { before, after } = comparison.findings.findings[0]?.exemplars ?? {
      before: [],
      after: [],
    }
    const page = reportHtml(comparison, { traceUrl: 'zipkin=http://localhost:9411' })
    expect(before.length + after.length).toBe(6)
    for (const id of [...before, ...after]) {
      expect(page).toContain(
        `<a href="http://localhost:9411/zipkin/traces/${id}" rel="noopener noreferrer"><code>${id}</code></a>`,
      )
    }
    expect(reportHtml(comparison)).toContain(`<code>${before[0]}</code>`)
    expect(reportHtml(comparison)).not.toContain('<a href="http')
  })

  test('names from traces are text', () => {
    const comparison = hostile()
    expect(comparison.findings.findings).not.toEqual([])
    const page = reportHtml(comparison, { traceUrl: 'https://t.example/{traceId}' })
    const elements = new Set(Array.from(page.matchAll(/<([a-z!][\w!]*)/gi), ([, name]) => name))
    const known =
      '!doctype html head meta title style body header p h1 h2 h3 h4 main section article details summary span b i code a ul li div table thead tbody tfoot tr th td figure figcaption footer svg g path rect text tspan line dl dt dd defs clipPath'
    expect([...elements].filter((name) => !known.split(' ').includes(name ?? ''))).toEqual([])
    // Names may stand within quoted values: labels of charts.
    const unquoted = page.replaceAll(/="[^"<>]*"/g, '=""')
    expect(unquoted).not.toMatch(/<[^>]*\son\w+\s*=/i)
    expect(page).not.toContain('\u202e')
    expect(page).toContain('&lt;script&gt;')
  })

  test('tags are balanced whatever the names', () => {
    const page = reportHtml(hostile())
    const open: string[] = []
    for (const [, end, name = '', self] of page.matchAll(/<(\/?)([a-z][\w]*)[^>]*?(\/?)>/gi)) {
      if (self === '/' || name === 'meta') continue
      if (end === '') open.push(name)
      else expect(open.pop()).toBe(name)
    }
    expect(open).toEqual([])
  })

  test('one SVG’s names for its parts are not another’s', () => {
    const page = reportHtml(compareShops({}, { stockUs: 1600, payUs: 4000 }))
    const ids = Array.from(page.matchAll(/ id="([^"]*)"/g), ([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('the Markdown summary', () => {
  test('is short: headline, table, folded details', () => {
    const markdown = reportMarkdown(slower(), { traceUrl: 'jaeger=http://localhost:16686' })
    expect(markdown.split('\n')[0]).toMatch(/^### Requests take .* longer on average/)
    expect(markdown).toMatch(/\| 1 \| stock: LOOKUP itself takes .* longer \| \+/)
    expect(markdown).toContain('| *unexplained* |')
    expect(markdown).toMatch(
      /Traces: before \[`t1-\d+`\]\(http:\/\/localhost:16686\/trace\/t1-\d+\)/,
    )
    expect(markdown).toMatch(
      /\n```\nbefore [░█]+ [\d.]+ ms\nafter {2}[░█]+ [\d.]+ ms\n +█ \+\d+ µs stock: LOOKUP {2}░ [+−][\d.]+ [µn]s other steps\n```\n/,
    )
    expect(markdown.match(/<details>/g)).toHaveLength(2)
    expect(markdown.match(/<\/details>/g)).toHaveLength(2)
  })

  test('draws as a picture, a table and two folds', () => {
    const html = marked.parse(reportMarkdown(slower()), { gfm: true, async: false })
    expect(html.match(/<pre>/g)).toHaveLength(1)
    expect(html.match(/<table>/g)).toHaveLength(2)
    expect(html.match(/<details>/g)).toHaveLength(2)
    expect(html.match(/<ol>/g)).toHaveLength(1)
  })

  test('says that nothing was found, and what would have been', () => {
    const markdown = reportMarkdown(compareShops({}, {}))
    expect(markdown).toMatch(/^### No change found\n/)
    expect(markdown).toContain(
      'With 300 requests before, 300 after, changes under 78.2 µs may be missed. ',
    )
    expect(markdown).not.toContain('what changed')
  })

  test('warnings stand before the findings', () => {
    const markdown = reportMarkdown(compareShops({ requests: 100 }, { stockUs: 1600 }))
    expect(markdown).toMatch(
      /> \[!WARNING\]\n> \*\*Is this comparison fair\?\*\*\n(> - [^\n]+\n)+\n<details><summary>What the warnings mean<\/summary>\n\n- \*\*unequal-load\*\*: /,
    )
    expect(markdown.indexOf('[!WARNING]')).toBeLessThan(markdown.indexOf('what changed'))
  })

  test('names from traces mention nobody, refer to nothing and are no markup', () => {
    const markdown = reportMarkdown(hostile(), { traceUrl: 'https://t.example/{traceId}' })
    expect(markdown).not.toMatch(/@\w/)
    expect(markdown).not.toMatch(/#\d(?!\d*;)/)
    const html = marked.parse(markdown, { gfm: true, async: false })
    const elements = new Set(Array.from(html.matchAll(/<([a-z]\w*)/gi), ([, name]) => name))
    const known =
      'h3 p pre strong em table thead tbody tr th td details summary ol ul li code a sub span blockquote'
    expect([...elements].filter((name) => !known.split(' ').includes(name ?? ''))).toEqual([])
    const links = Array.from(html.matchAll(/href="([^"]*)"/g), ([, href]) => href ?? '')
    expect(links.filter((href) => !href.startsWith('https://t.example/'))).toEqual([])
  })
})

describe('both', () => {
  const comparisons: readonly [string, () => Comparison][] = [
    ['a finding', slower],
    ['many findings', () => compareShops({}, { stockUs: 1600, payUs: 4000, networkUs: 300 })],
    ['hostile names', hostile],
    ['other work', smallComparison],
    ['1,602 categories', manyCategories],
    ['an empty period before', () => comparisonOf([], chain(['A', 'B'], upFrom(1, 20)))],
    ['an empty period after', () => comparisonOf(chain(['A', 'B'], upFrom(1, 20)), [])],
    ['no requests at all', () => comparisonOf([], [])],
    ['a single request each', () => comparisonOf(chain(['A', 'B'], [5]), chain(['A', 'B'], [7]))],
  ]

  test.each(comparisons)('of %s have no NaN, and are small', (_, make) => {
    const comparison = make()
    const page = reportHtml(comparison)
    const markdown = reportMarkdown(comparison)
    for (const text of [page.replace(/<style>[\s\S]*?<\/style>/, ''), markdown]) {
      expect(text).not.toMatch(/NaN|Infinity|undefined|\[object/)
    }
    expect(page.length).toBeLessThan(500_000)
    expect(markdown.split('\n').length).toBeLessThanOrEqual(65)
  })

  test('megabytes of a name do not become megabytes of report', { tags: ['full'] }, () => {
    const long = '@'.repeat(2_000_000)
    const comparison = compareNames({
      root: `r${long}`,
      callee: `c${long}`,
      operation: `o${long}`,
      traceId: (i, period) => `${period}${i}`,
    })
    expect(reportHtml(comparison).length).toBeLessThan(500_000)
    // What GitHub takes as a comment.
    expect(reportMarkdown(comparison).length).toBeLessThan(65_536)
  })

  test('are the same for the same comparison', () => {
    const again = compareShops({}, { stockUs: 1600 })
    expect(reportHtml(again)).toBe(reportHtml(slower()))
    expect(reportMarkdown(again)).toBe(reportMarkdown(slower()))
  })

  test('refuse an address that is none', () => {
    const traceUrl = 'javascript:alert("{traceId}")'
    expect(() => reportHtml(slower(), { traceUrl })).toThrow('Option traceUrl is "javascript:')
    expect(() => reportMarkdown(slower(), { traceUrl })).toThrow('Option traceUrl is "javascript:')
  })
})
