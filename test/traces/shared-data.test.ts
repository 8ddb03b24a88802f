import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { PARENT_MISSING } from '../../src/traces/span-columns.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

interface Window {
  readonly traces: number
  readonly spans: number
}
interface Case {
  readonly windows?: Readonly<Record<'normal' | 'faulty', Window>>
  readonly normal?: Window
  readonly faulty?: Window
}

const FOLDERS = [
  ...['nezha-onlineboutique', 'nezha-trainticket', 'traceweaver-jaeger'].flatMap(casesOf),
  'trastrainer-trainticket-extra',
]

function casesOf(set: string): string[] {
  const folder = sharedFile(`data/${set}`)
  if (folder === undefined) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${set}/${entry.name}`)
}

/** Declares what holds for the files of some folders of public data. */
function describeSharedData(folders: readonly string[] = FOLDERS): void {
  describeWithShared('trace files of real systems', () => {
    test.each(folders)('%s has the traces and spans its description counts', async (path) => {
      const folder = sharedFile(`data/${path}`) ?? ''
      const described = JSON.parse(readFileSync(`${folder}/case.json`, 'utf8')) as Case
      for (const period of ['normal', 'faulty'] as const) {
        const file = readdirSync(folder).find((name) =>
          [`${period}_trace.csv.gz`, `${period}.json.gz`].includes(name),
        )
        const set = await loadTraces(`${folder}/${file}`)
        if (set.kind !== 'spans') throw new Error('not spans')
        const window = described.windows?.[period] ?? described[period]
        expect({ traces: set.size, spans: set.spans.parent.length }).toEqual({
          traces: window?.traces,
          spans: window?.spans,
        })
        expect(set.spans.parent.includes(PARENT_MISSING)).toBe(false)
        expect(set.quality().skippedTraces).toBe(0)
      }
    })

    test('a span takes at most 100 bytes once loaded, and a first start keeps its nanoseconds', async () => {
      const folder = sharedFile('data/nezha-onlineboutique/ob1_currency_network_delay') ?? ''
      const set = await loadTraces(`${folder}/normal_trace.csv.gz`)
      if (set.kind !== 'spans') throw new Error('not spans')
      const bytes = Object.values(set.spans).reduce((sum, column) => sum + column.byteLength, 0)
      expect((bytes + set.spanOffsets.byteLength) / set.spans.parent.length).toBeLessThan(40)
      expect(set.epochNs).toBe(1661145996678383311n)
      expect([set.services.size, set.hosts.size]).toEqual([10, 10])
      expect(set.services.values[0]).toBe('frontend')
      expect(set.hosts.values[0]).toBe('frontend-579b9bff58-t2dbm')
    })
  })
}

describe('one folder', () => describeSharedData(['nezha-onlineboutique/ob0_control_no_fault']))

describe('all folders', { tags: 'full' }, () => describeSharedData())
