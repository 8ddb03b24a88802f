import type { ServiceModel } from '../src/traces/expected-traces.ts'

/** The same model with some operations whose median takes so many times as long, by service; or all. */
export function slowedModel(
  model: ServiceModel,
  factors: Readonly<Record<string, number>>,
  all = 1,
): ServiceModel {
  return Object.fromEntries(
    Object.entries(model).map(([name, operation]) => {
      const factor = factors[operation.service] ?? all
      return [name, { ...operation, workUs: (operation.workUs as number) * factor }]
    }),
  )
}

/** A service with its dependencies, as that of the thesis's load tests in two clusters. */
export const LOAD_TESTED: ServiceModel = {
  SEARCH: { service: 'frontend', workUs: 800, calls: ['AUTH', 'RANK'] },
  AUTH: { service: 'auth', workUs: 300 },
  RANK: { service: 'ranker', workUs: 1500, calls: ['READ ROWS', { call: 'PREFETCH', share: 0.5 }] },
  'READ ROWS': { service: 'table', workUs: 1200 },
  PREFETCH: { service: 'table', workUs: 500 },
}
