import { expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { describeWithShared } from '../shared.ts'
import { OB, period, TT } from './recorded-faults.ts'

describeWithShared('the best scenario of recorded faults is the planted one', () => {
  test.each([
    ['ob1', `${OB}/ob1_currency_network_delay`, 'network', 'currencyservice'],
    ['ob2', `${OB}/ob2_productcatalog_cpu_consumed`, 'preprocessing', 'productcatalogservice'],
    ['ob5', `${OB}/ob5_recommendation_network_delay`, 'network', 'recommendationservice'],
    ['ob6', `${OB}/ob6_ad_cpu_contention`, 'preprocessing', 'adservice'],
    ['tt1', `${TT}/tt1_route_network_delay`, 'network', 'ts-route-service'],
    ['tt2', `${TT}/tt2_travel_network_delay`, 'network', 'ts-travel-service'],
    ['tt3', `${TT}/tt3_basic_cpu_contention`, 'server', 'ts-basic-service'],
  ])('%s', async (_, folder, kind, service) => {
    const diagnosis = diagnoseLatency(
      await period(folder, 'normal'),
      await period(folder, 'faulty'),
    )
    const { best } = diagnosis
    expect([best?.scenario.kind, best?.scenario.service]).toEqual([kind, service])
    expect(best?.significant).toBe(true)
  })

  test('ob3: a caller short of CPU is slow to read replies, which is network to all that it calls', async () => {
    const folder = `${OB}/ob3_frontend_cpu_contention`
    const { best } = diagnoseLatency(await period(folder, 'normal'), await period(folder, 'faulty'))
    expect([best?.scenario.kind, best?.scenario.service]).toEqual(['children', 'frontend'])
  })
})

describeWithShared('halves of one period: no scenario is significant', () => {
  const HALVES = 5
  test.each([
    [`${OB}/ob0_control_no_fault`, 'normal'],
    [`${OB}/ob1_currency_network_delay`, 'faulty'],
    [`${TT}/tt1_route_network_delay`, 'normal'],
    [`${TT}/tt2_travel_network_delay`, 'faulty'],
  ])('%s, %s', async (folder, file) => {
    const traces = await period(folder, file)
    const middle = traces.size >> 1
    for (let seed = 1; seed <= HALVES; seed++) {
      const rows = randomSource(seed).shuffle(Array.from({ length: traces.size }, (_, row) => row))
      const [one, other] = [rows.slice(0, middle), rows.slice(middle)]
      const diagnosis = diagnoseLatency(traces.pick(one), traces.pick(other))
      const found = diagnosis.ranked.filter(({ significant }) => significant)
      expect(
        found.map(({ scenario }) => scenario.title),
        `seed ${seed}`,
      ).toEqual([])
    }
  })
})
