import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { jupyterHook, type MimeBundle, setDisplaySink } from '../../../src/core/display.ts'
import { Chart, setSvgRenderer } from '../../../src/views/charts/chart.ts'
import { interactiveBundles, staticBundles } from '../../../src/views/notebook/bundle-completer.ts'
import { connectNotebook } from '../../../src/views/notebook/connect.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { compileChart } from '../../../src/views/notebook/vega-renderer.ts'
import { HOSTILE } from './fixture.ts'

const SPEC = {
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  title: HOSTILE,
  data: { values: [{ category: HOSTILE, requests: 28 }] },
  mark: { type: 'bar', clip: true },
  encoding: {
    x: { field: 'requests', type: 'quantitative' },
    y: { field: 'category', type: 'nominal' },
  },
}

const hostileChart = () => new Chart(SPEC, { title: HOSTILE, description: HOSTILE })

beforeEach(connectNotebook)
afterEach(() => {
  // Files that follow in this worker draw, too.
  connectCharts()
  setDisplaySink(undefined)
})

test('the HTML has one image and one script, whatever the words in the chart', () => {
  const html = hostileChart().mimeBundle()['text/html'] ?? ''
  expect(html.match(/<script/gi)).toHaveLength(1)
  expect(html.match(/<\/script/gi)).toHaveLength(1)
  expect(html.match(/<img/gi)).toHaveLength(1)
  expect(html).not.toContain('<!--')
  expect(html.slice(html.indexOf('<script'))).not.toContain('\u2028')
})

test('the picture has the words as text', () => {
  const svg = hostileChart().svg()
  expect(svg).not.toContain('<img')
  expect(svg).toContain('&lt;img src=x onerror=')
})

test('the picture of the same chart is the same', () => {
  expect(hostileChart().svg()).toBe(hostileChart().svg())
})

test('two charts do not share the names of their clip paths', () => {
  const ids = [SPEC, { ...SPEC, width: 300 }].map(
    (spec) => /<clipPath id="([^"]+)"/.exec(compileChart(spec).svg)?.[1],
  )
  expect(ids[0]).toMatch(/^v[0-9a-f]{8}-clip1$/)
  expect(ids[1]).not.toBe(ids[0])
})

test('Vega-Lite’s warnings are kept', () => {
  const { warnings } = compileChart({
    ...SPEC,
    mark: 'bar',
    encoding: { x: { field: 'requests' } },
  })
  expect(warnings).toEqual([])
  const wrong = { ...SPEC, encoding: { ...SPEC.encoding, wedge: { field: 'requests' } } }
  expect(compileChart(wrong).warnings).toEqual([expect.stringContaining('wedge')])
})

test('a chart may not load data', () => {
  const { warnings, svg } = compileChart({ ...SPEC, data: { url: 'file:///etc/passwd' } })
  expect(svg).not.toContain('root:')
  expect(warnings).toEqual([])
})

test('outside a notebook a chart is its title and description', () => {
  const chart = new Chart(SPEC, { title: 'Requests', description: 'One bar.' })
  expect(inspect(chart)).toBe('Requests\nOne bar.')
})

test('without a renderer the error says what to do', () => {
  setSvgRenderer(undefined)
  expect(() => hostileChart().svg()).toThrow('Import flowdelta by its main entry under Node')
})

test('the spec is a plain specification that the chart does not change', () => {
  const spec = Object.freeze({ ...SPEC })
  const bundle = new Chart(spec, { title: 'T', description: 'D' }).mimeBundle()
  expect(bundle['application/vnd.vegalite.v5+json']).toEqual({ ...SPEC, description: 'D' })
  expect(spec).toEqual(SPEC)
})

const CHART_BUNDLE: MimeBundle = {
  'text/plain': 'Requests\n28 of them',
  'text/html': '<div data-flowdelta-chart="1"></div><script type="module">1</script>',
  'image/svg+xml': '<svg/>',
}

const hasRuntime = (bundle: MimeBundle): boolean =>
  (bundle['text/html'] ?? '').includes('data-flowdelta-runtime')

test('the page runtime goes with the first chart only', () => {
  const complete = interactiveBundles()
  expect(hasRuntime(complete({ 'text/plain': 'x', 'text/html': '<p>x</p>' }))).toBe(false)
  expect(hasRuntime(complete(CHART_BUNDLE))).toBe(true)
  expect(hasRuntime(complete({ ...CHART_BUNDLE, 'text/plain': 'Another' }))).toBe(false)
})

test('when the chart that carried the runtime is shown again, it carries it again', () => {
  const complete = interactiveBundles()
  complete(CHART_BUNDLE)
  expect(hasRuntime(complete({ ...CHART_BUNDLE, 'text/plain': 'Requests\n27 of them' }))).toBe(true)
})

test('of two charts with one title in one run of a cell, one carries the runtime', () => {
  const complete = interactiveBundles()
  const other = { ...CHART_BUNDLE, 'text/plain': 'Requests\n27 of them' }
  expect([CHART_BUNDLE, other].map((bundle) => hasRuntime(complete(bundle, 1)))).toEqual([
    true,
    false,
  ])
  expect([CHART_BUNDLE, other].map((bundle) => hasRuntime(complete(bundle, 2)))).toEqual([
    true,
    false,
  ])
})

test('static outputs have no script', () => {
  const complete = staticBundles()
  expect(complete(CHART_BUNDLE)).toEqual({
    'text/plain': 'Requests\n28 of them',
    'image/svg+xml': '<svg/>',
  })
  const { 'image/svg+xml': _, ...composite } = CHART_BUNDLE
  expect(complete(composite)['text/html']).toBe('<div data-flowdelta-chart="1"></div>')
})

test('Deno gets the bundle as its notebook wants it', () => {
  const complete = staticBundles()
  setDisplaySink({ complete, send: () => {}, replaceNextPrint: () => {} })
  const bundle = new Chart(SPEC, { title: 'T', description: 'D' })[jupyterHook]()
  expect(Object.keys(bundle)).toEqual(['text/plain', 'image/svg+xml'])
})
