import { expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

async function shared(
  folder: string,
  [before, after] = ['normal_trace.csv.gz', 'faulty_trace.csv.gz'],
) {
  return compare(
    await loadTraces(sharedFile(`data/${folder}/${before}`) as string),
    await loadTraces(sharedFile(`data/${folder}/${after}`) as string),
  )
}

/** What the first three results accuse: of what requests wait for, the changed edge with the largest shift. */
async function accused(folder: string): Promise<string[]> {
  const { ranking, responseTime } = await shared(folder)
  return ranking.mutations.slice(0, 3).map(({ category }) => {
    const changed = responseTime
      .edges(category)
      .filter(({ test, onCriticalPath }) => test.rejected && onCriticalPath)
    const shift = (edge: (typeof changed)[number]) => edge.afterMeanUs - edge.beforeMeanUs
    const [worst] = changed.sort((a, b) => shift(b) - shift(a))
    return worst === undefined ? 'nothing' : `${worst.edge.from} → ${worst.edge.to}`
  })
}

describeWithShared('faults injected by others are named among the first three results', () => {
  test.each([
    ['nezha-onlineboutique/ob1_currency_network_delay', 'currencyservice-'],
    ['nezha-onlineboutique/ob2_productcatalog_cpu_consumed', 'productcatalogservice-'],
    ['nezha-onlineboutique/ob5_recommendation_network_delay', 'recommendationservice-'],
    ['nezha-trainticket/tt1_route_network_delay', 'ts-route-service-'],
    ['nezha-trainticket/tt2_travel_network_delay', 'ts-travel-service-'],
  ])('%s: %s', async (folder, service) => {
    expect((await accused(folder)).join('\n')).toContain(service)
  })
})

describeWithShared('periods without a fault give few results', () => {
  test('ob0, a heavy-tailed control (mean +49 %, median unchanged): none', async () => {
    const { ranking } = await shared('nezha-onlineboutique/ob0_control_no_fault')
    expect(ranking.mutations).toEqual([])
  })

  test('tw0, two interleaved halves of one run: none', async () => {
    const { ranking } = await shared('traceweaver-jaeger/tw0_hotel_control_load100_even_vs_odd', [
      'normal.json.gz',
      'faulty.json.gz',
    ])
    expect(ranking.mutations).toEqual([])
  })
})
