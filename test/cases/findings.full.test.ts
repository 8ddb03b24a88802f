import { describe, expect, test } from 'vitest'
import { compareHalves } from '../../evaluation/null-comparisons.ts'
import { findCases } from '../../evaluation/recorded-cases.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { describeWithShared, sharedFile } from '../shared.ts'
import {
  expectCauseFound,
  expectFound,
  type KnownChange,
  RECORDED,
  sharedFindings,
} from './expect-findings.ts'

describe('recorded cases', async () => {
  const cases = await findCases(RECORDED, [])
  test.each(cases.map((one) => [`${one.name} (${one.recording})`, one] as const))(
    '%s: the cause is the first or second finding of at most ten',
    (_, one) => expectCauseFound(one),
  )
})

const HDFS = 'tracebench-hdfs'
const JAEGER = ['normal.json.gz', 'faulty.json.gz'] as const

const FOUND: readonly KnownChange[] = [
  ...(
    [
      ['nezha-onlineboutique/ob1_currency_network_delay', 'currencyservice', 'latency'],
      ['nezha-onlineboutique/ob2_productcatalog_cpu_consumed', 'productcatalogservice', 'latency'],
      ['nezha-onlineboutique/ob3_frontend_cpu_contention', 'frontend', 'latency'],
      ['nezha-onlineboutique/ob4_frontend_return', 'frontend', 'structure'],
      ['nezha-onlineboutique/ob5_recommendation_network_delay', 'recommendationservice', 'latency'],
      ['nezha-onlineboutique/ob6_ad_cpu_contention', 'adservice', 'latency'],
      ['nezha-trainticket/tt1_route_network_delay', 'ts-route-service', 'latency'],
      ['nezha-trainticket/tt2_travel_network_delay', 'ts-travel-service', 'latency'],
      ['nezha-trainticket/tt3_basic_cpu_contention', 'ts-basic-service', 'latency'],
      ['nezha-trainticket/tt5_price_exception', 'ts-price-service', 'structure'],
      ['trastrainer-trainticket-extra', 'ts-route-service', 'latency'],
    ] as const
  ).map(([folder, service, kind]) => ({ folder, service, kind })),
  // tb2 to tb6. A delay between hosts shows where a node waits for the next one's packets.
  ...(
    [
      ['w_normal_a', 'w_netdelay_all_20ms', 'Datanode', 'latency'],
      ['w_normal_a', 'w_netdelay_20ms_on_25_of_50_datanodes', 'Datanode', 'latency'],
      ['w_normal_b', 'w_kill_10_of_50_datanodes', 'DFSClient', 'structure'],
      ['w_normal_b', 'w_suspend_05_of_50_datanodes', 'Datanode', 'errors'],
      ['rpc_normal', 'rpc_netdelay_0500ms', 'RPC Client', 'latency'],
    ] as const
  ).map(([before, after, service, kind]) => {
    return { folder: HDFS, periods: [before, after] as const, service, kind }
  }),
  // What others changed is the load: no service is the cause.
  {
    folder: HDFS,
    periods: ['w_normal_a', 'w_netdelay_all_10ms'],
    service: 'Datanode',
    kind: 'latency',
  },
  ...['tw1_hotel_load25_vs_150', 'tw2_media_load25_vs_150'].map((name) => {
    const folder = `traceweaver-jaeger/${name}`
    return { folder, periods: JAEGER, service: null, kind: 'load' as const }
  }),
]

/** What is not found, and why. */
const NOT_FOUND: readonly (KnownChange & { readonly reason: string })[] = [
  {
    folder: 'nezha-trainticket/tt4_basic_return',
    service: 'ts-basic-service',
    kind: 'structure',
    reason:
      '8 of 14 calls before end with an error, none of 29 after; all eight are neighbors in time, ' +
      'as one outage would be, so p is 0.004, not sure enough among all calls. Logs show it',
  },
]

const nameOf = ({ folder, periods }: KnownChange) =>
  folder === HDFS ? `${folder}/${periods?.[1]}` : folder

describeWithShared('what others changed is the first or second finding of at most ten', () => {
  test.each(FOUND.map((one) => [nameOf(one), one] as const))('%s', { timeout: 120_000 }, (_, one) =>
    expectFound(one),
  )

  for (const one of NOT_FOUND) {
    test.fails(`not of ${nameOf(one)}: ${one.reason}`, { timeout: 120_000 }, async () => {
      await expectFound(one)
    })
  }

  test('an early return that makes everything faster is said to', async () => {
    const { findings } = await sharedFindings('nezha-onlineboutique/ob4_frontend_return')
    expect(findings[0]).toMatchObject({ direction: 'faster', where: 'frontend' })
  })
})

describeWithShared('periods without a fault give no finding', () => {
  test('ob0, a heavy-tailed control (mean +49 %, median unchanged)', async () => {
    const { findings } = await sharedFindings('nezha-onlineboutique/ob0_control_no_fault')
    expect(findings).toEqual([])
  })

  test('tw0, two interleaved halves of one run', async () => {
    const { findings } = await sharedFindings(
      'traceweaver-jaeger/tw0_hotel_control_load100_even_vs_odd',
      JAEGER,
    )
    expect(findings).toEqual([])
  })

  test('tb0, two runs of the same writes', async () => {
    const { findings } = await sharedFindings(HDFS, ['w_normal_a', 'w_normal_b'])
    expect(findings).toEqual([])
  })

  const COMPARISONS = 100
  /** Three standard errors above 5 %. */
  const LIMIT = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / COMPARISONS)
  test.each([
    'nezha-onlineboutique/ob0_control_no_fault/normal_trace.csv.gz',
    'nezha-onlineboutique/ob0_control_no_fault/faulty_trace.csv.gz',
    'nezha-trainticket/tt1_route_network_delay/faulty_trace.csv.gz',
    'traceweaver-jaeger/tw0_hotel_control_load100_even_vs_odd/normal.json.gz',
  ])('random halves of %s do in few comparisons', { timeout: 240_000 }, async (file) => {
    const flows = buildFlows(await loadTraces(sharedFile(`data/${file}`) as string))
    const rates = compareHalves(flows, {
      comparisons: COMPARISONS,
      correction: 'bh',
      edges: false,
    })
    console.log(`${file}: any finding in ${100 * rates.anyFindingRate} % of ${COMPARISONS}`)
    expect(rates.anyFindingRate).toBeLessThanOrEqual(LIMIT)
  })
})
