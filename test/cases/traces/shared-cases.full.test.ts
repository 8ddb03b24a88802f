import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

/**
 * Cases whose cause is known, by what the first finding says and how much of the change it is; `null`
 * for none. Their `truth.md` says why.
 */
const RIGHT: Readonly<Record<string, readonly [title: RegExp, shareOfChange?: number] | null>> = {
  'cache-miss': [/^article: GET .* calls postgresql SELECT articles/, 1],
  'clickhouse-jsoneachrow-quoted': [/^payments: POST \/charge itself takes 41 ms longer/, 1],
  'clock-80s': null,
  'cold-start': [/^quote-fn: quote-fn calls Initialization/, 1],
  'dns-spans': [/^app: http\.dns .* takes 30\d ms longer in 32 %/, 1],
  'five-traces-each': [/^payments: POST \/charge itself takes 43/, 1],
  'gateway-tail': [/^gateway: GET \/v1\/items itself takes 23\d ms longer in 3 %/],
  'gc-pauses': [/^cart: GET \/cart itself takes 18\d ms longer in 9 %/, 1],
  'hotrod-serial': [/^driver: FindNearest calls redis GetDriver one after the other/, 1],
  'ids-in-inner': [/^cart: GET \/items\/\{id\} itself takes 30\.5 ms longer$/, 1],
  'ids-in-root-numeric': [/^cart: GET \/items itself takes 30\.5 ms longer$/, 1],
  'instrumentation-added': null,
  'istio-no-latency': null,
  'istio-sidecars': [/^apigw and things: GET \/things itself takes 5\.89 ms longer$/, 1.04],
  'istio-with-clients': [
    /^things: its calls to store take 6\.35 ms longer in transit and calls to it take 6\.09 ms/,
    1.03,
  ],
  'kafka-receive-waits': null,
  'kafka-transit': [/^orders → fulfilment: messages for .* wait 2\.34 s longer/],
  'millisecond-clock': [/^pricing: price itself takes 4\d\d µs longer/, 0.88],
  'millisecond-clock-1200': [/^pricing: price itself takes (39|4\d)\d µs longer/, 1],
  'new-call-one': [/^web: GET \/items now calls quota checkQuota/, 0.97],
  'new-calls-audit-quota': [/^web: GET \/items now calls quota checkQuota and auditor audit/, 0.98],
  'new-calls-first': [/^web: GET \/items now calls quota checkQuota and auditor audit/, 0.99],
  'new-calls-inner': [/^web: GET \/items now calls checkQuota and audit/, 1],
  'new-calls-parallel': [/^web: GET \/items now calls quota checkQuota and auditor audit/, 0.98],
  'new-calls-quota-audit': [/^web: GET \/items now calls quota checkQuota and auditor audit/, 0.98],
  'one-replica': [/^postgresql: SELECT orders .* only where server\.address = replica-1$/, 1],
  'one-trace-each': null,
  'onset-on-third-day': [/^db-proxy: query itself takes 24\.9 ms longer/],
  'pool-opt-in': [/^checkout → payments-gateway: .* in transit/, 1],
  'rack-attack-redis': [
    /^web: Rack::Attack now calls redis TTL and redis GET .*, 3 times each/,
    0.83,
  ],
  'region-failover': [/^postgresql: SELECT orders takes 11 ms longer per call$/, 1],
  'replica-db-namespace': [/only where db\.namespace = replica-b$/, 1],
  'replica-host-server': [/only where db host = db-b$/, 1],
  'replica-ip-on-client': [/only where server\.address = 10\.0\.0\.8$/, 1],
  'replica-net-peer-name': [/only where net\.peer\.name = replica-b$/, 1],
  'retry-backoff': [/^inventory: POST \/reserve fails with “HTTP 503” in 45 of 444 calls/, 1.02],
  'root-renamed-1to1': [/^cart: GET \/items itself takes 30\.5 ms longer/, 1],
  'root-renamed-1to2': [/^cart: GET \/items itself takes 30\.5 ms longer$/, 1],
  'route-template-gained-same': null,
  'route-template-numeric': [/^cart: GET \/items itself takes 30\.5 ms longer$/, 1],
  'server-address-name': [/only where server\.address = replica-b$/, 1],
  'server-before-client': [/^b: GET \/b itself takes 23\d µs longer/, 1],
  'shard-on-root': [/only where app\.shard = b$/, 1],
  'spans-renamed': [/^cart: GET \/cart\/items itself takes 29\.3 ms longer$/, 1],
  'spans-renamed-same-speed': null,
  'sqs-long-poll': null,
  'tail-sampling-changed': null,
  'ten-selects-server': [/^db: query itself takes 1\.99 ms longer per call/, 1],
  'three-new-calls': [
    /^web: GET \/items now calls quota checkQuota, flags flag and auditor audit/,
    0.98,
  ],
  'zipkin-v1-split': [/^payments: post \/charge itself takes 4\d(\.\d)? ms longer/, 1],
}

async function findingsOf(name: string) {
  const folder = sharedFile(`cases/${name.includes('/') ? name : `traces/${name}`}`) as string
  const fileOf = (period: string) =>
    `${folder}/${readdirSync(folder).find((file) => file.startsWith(period))}`
  return compare(await loadTraces(fileOf('before')), await loadTraces(fileOf('after'))).findings
}

describeWithShared('cases that people reported name their cause first', () => {
  test.each(Object.entries(RIGHT))('%s', { timeout: 60_000 }, async (name, right) => {
    const { findings } = await findingsOf(name)
    if (right === null) {
      expect(findings.map(({ title }) => title)).toEqual([])
      return
    }
    const [title, share] = right
    expect(findings[0]?.title).toMatch(title)
    if (share !== undefined)
      expect(Math.abs((findings[0]?.shareOfChange ?? 0) - share)).toBeLessThan(0.05)
  })

  test('one trace each names the step that differs most, and another sampler is told', async () => {
    const few = await findingsOf('one-trace-each')
    expect(few.nothingText()).toContain('payments POST /charge itself takes 35.2 ms longer')
    const sampled = await findingsOf('tail-sampling-changed')
    expect(sampled.nothingText()).toContain('slow ones seem to have been kept preferentially')
  })

  test('an address that another one replaced is told beside what takes longer', async () => {
    const findings = await findingsOf('region-failover')
    expect(findings.text()).toContain(
      'at the same time, server.address = db-2.eu-central-1.internal in 100 %',
    )
  })

  test('each of several new calls costs what it takes: the one in the shadow of another nothing', async () => {
    const costs = async (name: string) => {
      const [{ calls, requests } = { calls: [], requests: 1 }] = (await findingsOf(name)).findings
      const priced = calls.flatMap(({ call, us }) =>
        us === undefined ? [] : [[call?.operation, us / requests / 1e3] as const],
      )
      return Object.fromEntries(priced)
    }
    const { checkQuota = 0, flag = 0, audit = 0 } = await costs('three-new-calls')
    expect(Math.abs(checkQuota - 14.5)).toBeLessThan(0.3)
    expect(Math.abs(flag - 1.1)).toBeLessThan(0.2)
    expect(Math.abs(audit - 0.5)).toBeLessThan(0.2)
    const parallel = await costs('new-calls-parallel')
    expect(Math.abs((parallel['checkQuota'] ?? 0) - 14.3)).toBeLessThan(0.3)
    expect(Math.abs(parallel['audit'] ?? 1)).toBeLessThan(0.1)
  })
})

describeWithShared('layouts of spans that other tools write say the same', () => {
  const layouts = sharedFile('cases/formats')
  const names = layouts === undefined ? ['none'] : readdirSync(layouts)

  test.each(names)('%s', async (name) => {
    const { findings, requests } = await findingsOf(`formats/${name}`)
    expect(requests).toBe(60)
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^payments: post \/charge itself takes 4[01](\.\d)? ms longer$/i),
    ])
    expect(findings[0]?.shareOfChange).toBeCloseTo(1, 1)
  })
})
