import { expect, test } from 'vitest'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { describeWithShared } from '../shared.ts'
import { OB, period } from './recorded-faults.ts'

describeWithShared('a recorded fault, ob1', () => {
  test('the best scenario is the planted one', async () => {
    const folder = `${OB}/ob1_currency_network_delay`
    const { best } = diagnoseLatency(await period(folder, 'normal'), await period(folder, 'faulty'))
    expect([best?.scenario.kind, best?.scenario.service]).toEqual(['network', 'currencyservice'])
    expect(best?.significant).toBe(true)
  })
})
