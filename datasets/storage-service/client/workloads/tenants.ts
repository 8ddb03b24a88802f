import type { Tenant, TenantsWorkload } from '../workload.ts'

/** Whose each worker is: those of one tenant after those of the other. */
export function tenantsOfWorkers({ tenants }: TenantsWorkload): Tenant[] {
  return tenants.flatMap((tenant) => Array.from({ length: tenant.workload.workers }, () => tenant))
}
