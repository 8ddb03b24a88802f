import { buildFlows } from '../src/flows/build-flows.ts'
import { loadTraces } from '../src/traces/load-traces.ts'
import { compareHalves, type NullRates } from './null-comparisons.ts'
import type { RecordedCase } from './recorded-cases.ts'

/** False alarms on one case's before period. */
export interface NullCase extends NullRates {
  readonly name: string
  readonly recording: number
}

/** Compares random halves of each case's before period, with and without correction. */
export async function evaluateNull(
  cases: readonly RecordedCase[],
  { comparisons }: { comparisons: number },
): Promise<NullCase[]> {
  const rates: NullCase[] = []
  for (const { name, recording, before } of cases) {
    const flows = buildFlows(await loadTraces(before))
    for (const correction of ['none', 'bh'] as const) {
      rates.push({ name, recording, ...compareHalves(flows, { comparisons, correction }) })
    }
  }
  return rates
}
