import { describe, expect, test } from 'vitest'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { plainSpans } from '../read-traces.ts'

async function load(content: object, resourceAttributes?: boolean) {
  const options = resourceAttributes === undefined ? {} : { resourceAttributes }
  const set = await loadTraces({ name: 'traces', bytes: JSON.stringify(content) }, options)
  if (set.kind !== 'spans') throw new Error('not spans')
  const [{ attributes, host, service } = {}] = plainSpans(set)
  return { attributes, host, service, versions: set.versions }
}

describe('OTLP', () => {
  const attribute = ([key, value]: [string, unknown]) => ({ key, value })
  const otlp = (resource: Record<string, object>) => ({
    resourceSpans: [
      {
        resource: { attributes: Object.entries(resource).map(attribute) },
        scopeSpans: [
          {
            spans: [
              {
                traceId: 'a',
                spanId: 'b',
                name: 'get',
                startTimeUnixNano: '1000',
                endTimeUnixNano: '2000',
                attributes: [{ key: 'size', value: { intValue: '7' } }],
              },
            ],
          },
        ],
      },
    ],
  })
  const RESOURCE = {
    'service.name': { stringValue: 's' },
    'service.version': { stringValue: 'v7' },
    'host.name': { stringValue: 'h' },
    'k8s.node.name': { stringValue: 'n' },
    'process.pid': { intValue: '12' },
    'cloud.zones': { arrayValue: { values: [{ stringValue: 'a' }] } },
  }

  test('of resources, only what says where they run is kept unless all are asked for', async () => {
    const places = {
      'k8s.pod.name': { stringValue: 'web-7d9' },
      'service.instance.id': { stringValue: '1f3a' },
      'cloud.region': { stringValue: 'eu-1' },
    }
    for (const asked of [undefined, false]) {
      expect((await load(otlp(RESOURCE), asked)).attributes).toEqual({ size: 7 })
      expect((await load(otlp({ ...RESOURCE, ...places }), asked)).attributes).toEqual({
        size: 7,
        'resource.k8s.pod.name': 'web-7d9',
        'resource.cloud.region': 'eu-1',
      })
    }
  })

  test('resources are attributes of their spans, but for service, host and what names the host', async () => {
    expect(await load(otlp(RESOURCE), true)).toEqual({
      host: 'h',
      service: 's',
      versions: new Map([['s', new Map([['v7', 1]])]]),
      attributes: {
        size: 7,
        'resource.service.version': 'v7',
        'resource.k8s.node.name': 'n',
        'resource.process.pid': 12,
        'resource.cloud.zones': '["a"]',
      },
    })
  })

  test('a host that is the node is not there twice', async () => {
    const { 'host.name': _, ...others } = RESOURCE
    const { host, attributes } = await load(otlp(others), true)
    expect(host).toBe('n')
    expect(attributes).not.toHaveProperty(['resource.k8s.node.name'])
  })

  test('resources without attributes add none', async () => {
    expect((await load(otlp({}), true)).attributes).toEqual({ size: 7 })
  })
})

describe('Jaeger', () => {
  const tag = (key: string, type: string, value: unknown) => ({ key, type, value })
  const process = {
    serviceName: 's',
    tags: [
      tag('hostname', 'string', 'h'),
      tag('host.name', 'string', 'h.example'),
      tag('ip', 'string', '10.0.0.1'),
      tag('threads', 'int64', '8'),
    ],
  }
  const span = { traceID: 'a', spanID: 'b', operationName: 'get', startTime: 1, duration: 2 }
  const tags = [tag('size', 'int64', 7)]
  const jaeger = {
    data: [{ spans: [{ ...span, tags, processID: 'p' }], processes: { p: process } }],
  }

  test('of processes, only what says where they run is kept unless all are asked for', async () => {
    expect((await load(jaeger)).attributes).toEqual({ size: 7 })
    const pod = { ...process, tags: [...process.tags, tag('k8s.pod.name', 'string', 'web-7d9')] }
    const inPod = { data: [{ ...jaeger.data[0], processes: { p: pod } }] }
    expect((await load(inPod)).attributes).toEqual({ size: 7, 'resource.k8s.pod.name': 'web-7d9' })
  })

  test('tags of processes are attributes of their spans, but for the host', async () => {
    const { host, attributes } = await load(jaeger, true)
    expect(host).toBe('h')
    expect(attributes).toEqual({ size: 7, 'resource.ip': '10.0.0.1', 'resource.threads': 8 })
  })

  test('a process may stand in its span', async () => {
    const inner = { data: { traceID: 'a', spans: [{ ...span, process }] } }
    expect((await load(inner, true)).attributes).toMatchObject({ 'resource.threads': 8 })
  })
})
