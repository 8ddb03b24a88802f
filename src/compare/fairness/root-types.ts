import type { FlowSet } from '../../flows/flow-set.ts'

/** Which type each request is of: requests whose flows begin with one operation are of one type. */
export interface RootTypes {
  /** Service and operation of the root, without its host. */
  readonly names: readonly string[]
  /** Number of each request's type. */
  readonly typeOf: Uint32Array
}

export function rootTypes({ shapeOf, shapes, labels }: FlowSet): RootTypes {
  const names = new Map<string, number>()
  const ofShape = new Map<number, number>()
  const typeOf = shapeOf.map((shape) => {
    const known = ofShape.get(shape)
    if (known !== undefined) return known
    const { service, operation } = labels.get(shapes.labels(shape)[0] as number)
    const name = service === '' ? operation : `${service} ${operation}`
    const type = names.get(name) ?? names.size
    names.set(name, type)
    ofShape.set(shape, type)
    return type
  })
  return { names: [...names.keys()], typeOf }
}
