import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readKnowledge } from '../../../src/compare/knowledge/knowledge.ts'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { teach } from '../../../src/index.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'

const FOLDER = fileURLToPath(
  new URL('../../../datasets/storage-service/rare-operation/', import.meta.url),
)
const YEAR_NS = 365n * 24n * 3600n * 1_000_000_000n

const recorded = (period: string) =>
  gunzipSync(readFileSync(`${FOLDER}${period}.jsonl.gz`)).toString()

/** The same requests a year later, of other hosts, pods, versions and traces. */
function aYearLater(text: string, version: string): string {
  const attribute = (key: string, value: string) =>
    `{"key":"${key}","value":{"stringValue":"${value}"}}`
  return text
    .replace(
      /\{"key":"host\.name","value":\{"stringValue":"([\w-]+?)-(\d+)"\}\}/g,
      (_, service, n) =>
        [
          attribute('host.name', `ip-10-7-${service.length}-${n}.pool-b`),
          attribute('k8s.pod.name', `${service}-6d4cf56db6-x${n}k2q`),
          attribute('service.version', version),
        ].join(),
    )
    .replace(/("(?:start|end)TimeUnixNano":")(\d+)/g, (_, key, ns) => key + (BigInt(ns) + YEAR_NS))
    .replace(/"traceId":"(\w\w)/g, (_, id) => `"traceId":"${id === 'ff' ? '0e' : 'ff'}`)
}

async function compared(rewrite: (text: string, period: string) => string): Promise<Comparison> {
  const load = (period: string) => {
    const bytes = new TextEncoder().encode(rewrite(recorded(period), period))
    return loadTraces({ name: `${period}.jsonl`, bytes })
  }
  return compare(await load('before'), await load('after'), { concurrency: 'observed' })
}

test('answers hold a year later, on other hosts, pods and versions', {
  tags: ['full'],
}, async () => {
  const ann = { by: 'Ann', at: '2026-09-03T10:00Z' }
  const first = await compared((text) => text)
  const taught = teach(first, [{ one: 7, other: 24, same: true, ...ann }])
  expect(taught.ignore).toEqual(['fold loops'])
  const file = JSON.stringify(taught)
  expect(file).not.toMatch(/mds-0|frontend-0|storage-\w+-0/)

  const later = await compared((text, period) => aYearLater(text, `9.${period.length}`))
  const roots = ({ categories }: Comparison) => categories.table().array('root') as string[]
  expect(new Set(roots(first).map((root) => root.split(' ')[0]))).toEqual(new Set(['frontend-0']))
  expect(new Set(roots(later).map((root) => root.split(' ')[0]))).toEqual(
    new Set(['frontend@ip-10-7-8-0.pool-b']),
  )
  const knowledge = readKnowledge(file)
  const [then, now] = [first, later].map((one) => one.with({ knowledge }))
  expect(now?.categories.size).toBe(then?.categories.size)
  expect(now?.categories.size).toBeLessThan(later.categories.size)
})
