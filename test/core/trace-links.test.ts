import { describe, expect, test } from 'vitest'
import { OptionError } from '../../src/core/errors.ts'
import { traceLink, traceTemplate } from '../../src/core/trace-links.ts'

const ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const linkOf = (text: string, id = ID) => traceLink(traceTemplate(text), id)

describe('presets', () => {
  test.each([
    ['jaeger=http://localhost:16686', `http://localhost:16686/trace/${ID}`],
    ['jaeger=https://ops.example/jaeger/', `https://ops.example/jaeger/trace/${ID}`],
    ['zipkin=http://localhost:9411', `http://localhost:9411/zipkin/traces/${ID}`],
    ['zipkin=http://localhost:9411/', `http://localhost:9411/zipkin/traces/${ID}`],
  ])('%s', (text, link) => expect(linkOf(text)).toBe(link))

  test('tempo opens Explore of Grafana with a TraceQL query for the id', () => {
    const url = new URL(linkOf('tempo=https://grafana.example/'))
    expect(url.origin + url.pathname).toBe('https://grafana.example/explore')
    expect(url.searchParams.get('schemaVersion')).toBe('1')
    expect(JSON.parse(url.searchParams.get('panes') ?? '')).toEqual({
      trace: {
        datasource: 'tempo',
        queries: [
          {
            refId: 'A',
            datasource: { type: 'tempo', uid: 'tempo' },
            queryType: 'traceql',
            query: ID,
          },
        ],
      },
    })
  })

  test('another data source is named by its uid', () => {
    const url = new URL(linkOf('tempo=https://grafana.example/g?datasource=P21%204'))
    expect(url.pathname).toBe('/g/explore')
    expect(JSON.parse(url.searchParams.get('panes') ?? '').trace.datasource).toBe('P21 4')
  })
})

describe('ids stay one part of the address', () => {
  test.each([
    ['a/b?c#d', 'a%2Fb%3Fc%23d'],
    ['../../admin', '..%2F..%2Fadmin'],
    ['"><script>', '%22%3E%3Cscript%3E'],
    ["$&$1$`'", "%24%26%241%24%60'"],
    ['\ud800', '%EF%BF%BD'],
  ])('%j', (id, encoded) =>
    expect(linkOf('https://traces.example/t?id={traceId}&x=1', id)).toBe(
      `https://traces.example/t?id=${encoded.replace("'", '%27')}&x=1`,
    ),
  )

  test('within JSON they stay one text', () => {
    const url = new URL(linkOf('tempo=https://grafana.example', '"}],"x":["\\'))
    const panes = JSON.parse(url.searchParams.get('panes') ?? '')
    expect(panes.trace.queries[0].query).toBe('"}],"x":["\\')
  })

  test('every place of a template is filled', () => {
    expect(linkOf('http://t.example/{traceId}/{traceId}', '7')).toBe('http://t.example/7/7')
  })
})

describe('anything but an http or https address with a place for the id is refused, by name', () => {
  test.each([
    'javascript:alert("{traceId}")',
    'data:text/html,{traceId}',
    'file:///etc/{traceId}',
    'ftp://traces.example/{traceId}',
    'https://traces.example/',
    'https://{traceId}.example/',
    'https://{traceId}/',
    'https://user:secret@traces.example/{traceId}',
    '{traceId}',
    '',
    'jaeger=',
    'jaeger=localhost:16686',
    'jaeger=javascript:alert(1)',
    'jaeger=http://localhost:16686/search?service=a',
    'zipkin=https://user:secret@zipkin.example',
    'tempo=https://grafana.example/?orgId=1',
    'honeycomb=https://ui.example',
  ])('%s', (text) => {
    expect(() => traceTemplate(text)).toThrow(OptionError)
    expect(() => traceTemplate(text)).toThrow(`Option traceUrl is ${JSON.stringify(text)}. Give `)
  })
})
