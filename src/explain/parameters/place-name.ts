import type { NodeLabel } from '../../flows/node-labels.ts'

/** What a place in a flow is called: service and operation, or trace point, without host. */
export function placeName({ service, operation }: NodeLabel): string {
  const what = operation.replace(/\n|\\n/g, ' ')
  return [service, what].filter((part) => part !== '').join(' ')
}
