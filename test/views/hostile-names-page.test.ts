import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { Comparison, compare } from '../../src/comparison/comparison.ts'
import { tableBundle } from '../../src/core/stage.ts'
import { explain } from '../../src/explain/parameters/explain.ts'
import { findVariance } from '../../src/explain/variance/find-variance.ts'
import { explore } from '../../src/views/explore.ts'
import { connectCharts } from '../../src/views/notebook/connect-charts.ts'
import { PLOTTED, plot } from '../../src/views/plot.ts'
import { reportHtml, reportMarkdown } from '../../src/views/report/report.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../make-traces.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { describeInBrowser, type Shown } from './widgets/open-widgets.ts'

connectCharts()

/** Names that mean something to a page, a chart, a terminal, a spreadsheet, a query or JavaScript. */
const NAMES = {
  service: '</script><img src=x onerror="window.hacked=1"><svg onload=window.hacked=2>',
  callee: `'+(window.hacked=3)+'"];datum.constructor.constructor("window.hacked=4")()//`,
  operation: '\u001b]0;owned\u0007\u001b[2J\u202egpj.exe\n=HYPERLINK("http://evil.example")',
  host: `${'h'.repeat(5000)}'; DROP TABLE spans; --`,
  attribute: '__proto__',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is its point
  value: '${window.hacked=5}{{constructor}}<!-- ]]> @everyone #1 ![x](http://evil.example/x)',
}

/** Requests of which those with the hostile value, and an error, take longer after. */
function period(slowUs: number) {
  const requests = Array.from({ length: 80 }, (_, i): SpanSketch[] => {
    const trace = `${NAMES.service}${i}`
    const startUs = NOON_US + i * 10_000
    const isOdd = i % 2 === 1
    const takesUs = 1000 + (i % 7) * 10 + (isOdd ? slowUs : 0)
    const { operation, host } = NAMES
    const attributes = { [NAMES.attribute]: isOdd ? NAMES.value : 'usual', constructor: i }
    return [
      {
        trace,
        id: `${i}`,
        service: NAMES.service,
        operation,
        host,
        attributes,
        startUs,
        endUs: startUs + takesUs + 500,
      },
      {
        trace,
        id: `${i} inner`,
        parent: `${i}`,
        service: NAMES.callee,
        operation,
        host,
        attributes,
        startUs: startUs + 100,
        endUs: startUs + 100 + takesUs,
        status: isOdd && slowUs > 0 ? 'error' : 'unset',
      },
    ]
  })
  return makeSpans(requests.flat(), NAMES.value)
}
const comparison = compare(period(0), period(3000), {
  label: ({ operation, service }) => service + operation,
})
/** Every picture of a comparison but that of who interferes, of whom there is nobody. */
const kinds = Object.keys(PLOTTED.find(([Of]) => Of === Comparison)?.[1] ?? {})
const charts = kinds
  .filter((kind) => kind !== 'interference')
  .map((kind) => plot(comparison, kind as 'findings'))
const [finding] = comparison.findings.findings

test('something was found that bears the names', () => {
  expect([finding?.services, finding?.kind]).toEqual([[NAMES.callee], 'errors'])
  expect(charts).toHaveLength(16)
})

/** Characters that a terminal obeys, or that turn its lines around. */
const OBEYED = /[^\P{Cc}\n\t]|\p{Bidi_Control}/u

test('texts leave a terminal in peace, and no line is longer than a reader can bear', () => {
  const texts = [
    comparison.findings.text(),
    comparison.displayText(),
    comparison.edges.displayText(),
    comparison.steps.displayText(),
    comparison.segments.displayText(),
    comparison.flows.displayText(),
    explain(comparison, finding!).text(),
    ...comparison.warnings().map(({ message }) => message),
    ...charts.map((chart) => chart.mimeBundle()['text/plain'] as string),
  ]
  for (const text of texts) {
    expect(text).not.toMatch(OBEYED)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(2000)
  }
})

test('Markdown has neither markup, links, mentions nor references of theirs', () => {
  const markdown = reportMarkdown(comparison)
  expect(markdown).not.toMatch(/<(img|svg|script)/i)
  expect(markdown).not.toMatch(/(^|[^\\`\w])@everyone|!\[x\]\(/)
  expect(markdown).not.toMatch(OBEYED)
  expect(markdown.length).toBeLessThan(20_000)
})

describeInBrowser('names from traces', (open) => {
  test('do nothing in a page with every widget, chart, table and report', {
    tags: 'full',
    timeout: 120_000,
  }, async () => {
    const widgets: Shown[] = [
      explore(comparison, 'ranking'),
      explore(comparison, 'flows'),
      explore(comparison, 'timeline'),
      explore(comparison, 'swimlanes'),
      explore(comparison, 'trace'),
      explore(comparison, 'calling-contexts'),
      explore(findVariance(comparison), 'variance'),
      explore(findVariance(comparison).anomalies()),
      explore(comparison.steps.table()),
    ]
    const { page, problems } = await open(widgets)
    const hacked = () => page.evaluate(() => (window as { hacked?: unknown }).hacked)
    expect(await hacked()).toBeUndefined()
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    const pages = [
      reportHtml(comparison),
      charts.map((chart) => chart.svg()).join('\n'),
      charts.map((chart) => chart.mimeBundle()['text/html'] ?? '').join('\n'),
      tableBundle(comparison.edges.table())['text/html'] as string,
    ]
    const file = join(temporaryFolder(), 'page.html')
    for (const html of pages) {
      writeFileSync(file, html)
      await page.goto(pathToFileURL(file).href)
      await page.waitForTimeout(300)
      expect(await hacked()).toBeUndefined()
      expect(await page.locator('img[src="x"], [onerror], [onload]').count()).toBe(0)
    }
    expect(problems).toEqual([])
  })
})
