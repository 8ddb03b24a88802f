import type { UnionNode } from '../../../explain/flow-pair/flow-comparison.ts'
import type { FlowCaption } from './flow-data.ts'

/**
 * What each step is called in its box: what happens, and where; where names were replaced, the name
 * alone.
 *
 * @param isUsual labels are flowdelta's own, which begin with where a step is
 */
export function flowCaptions(nodes: readonly UnionNode[], isUsual: boolean): FlowCaption[] {
  return nodes.map(({ label, name, service, operation, host, phase }) => {
    if (name !== label) return [name, '']
    if (!isUsual) return [label, '']
    const place = service === '' || host.startsWith(service) ? host : service
    const where = [place, phase === 'point' ? '' : phase].filter((part) => part !== '')
    return [operation === '' ? label : operation, where.join(' · ')]
  })
}
