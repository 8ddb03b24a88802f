import type { Categories } from '../../compare/categories/categories.ts'
import { rootTypes } from '../../compare/steps/root-types.ts'
import { printable, shortText, spoken } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { detailText, operationName } from '../../flows/node-labels.ts'

/** Names a kind of request by its root; behind a gateway also by a call: `frontend Recv. → currencyservice Convert`. */
export function rootName(categories: Categories, category: number, longest: number): string {
  const { shape, root } = categories.structure(category)
  if (categories.options.label !== null) return shortText(root, longest)
  const { flows } = categories
  const label = flows.labels.get(flows.shapes.labels(shape)[0] ?? 0)
  const { service, operation } = label
  const own = spoken([service, operation]).join(' ')
  const { names, typeOf } = rootTypes(flows)
  const [before] = categories.members(category, BEFORE)
  const [request = before ?? 0] = categories.members(category, AFTER)
  const type = names[typeOf[request] ?? 0] ?? own
  const distinct = type.startsWith(`${own} → `) ? type.slice(own.length + 3) : null
  // A type has requests that make one of several calls; it is called by the first of them.
  const isMade = flows.shapes.labels(shape).some((label) => {
    const { service, operation } = flows.labels.get(label)
    return `${service} ${operation}` === distinct
  })
  const call = isMade ? distinct : null
  const name = spoken([methodName(own), call && methodName(call)]).join(' → ')
  return shortText(name === '' ? root : `${name}${detailText(label)}`, longest)
}

/** `service operation`, of whose gRPC method the last part is enough. */
function methodName(name: string): string {
  const [, service = '', operation = name] = /^(.*) (\S+)$/.exec(name) ?? []
  const method = operationName({ operation })
  return method === printable(operation) ? name : spoken([service, method]).join(' ')
}
