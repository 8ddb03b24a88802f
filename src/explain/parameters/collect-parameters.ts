import type { Categories } from '../../compare/categories/categories.ts'
import { NodeRecords } from '../../flows/node-records.ts'
import type { Parameter } from './parameter.ts'
import { ParameterColumns } from './parameter-columns.ts'

/** Requests of one category, and where in its depth-first order the places of the template are. */
export interface ParameterSide {
  readonly requests: Uint32Array
  readonly category: number
  readonly positions: readonly number[]
}

/**
 * The parameters of requests at the places of a template: one row a request, those of the first side
 * first; one column a place and attribute.
 */
export function collectParameters(
  categories: Categories,
  sides: readonly [ParameterSide, ...ParameterSide[]],
): Parameter[] {
  const { flows } = categories
  const [{ category, positions }] = sides
  const { preorder } = categories.structure(category)
  const places = positions.map((at) => categories.nodeLabel(category, preorder[at] as number))
  const rows = sides.reduce((sum, { requests }) => sum + requests.length, 0)
  const columns = new ParameterColumns(rows, places)
  const records = new NodeRecords(flows)
  let row = 0
  for (const side of sides) {
    for (const request of side.requests) {
      const nodes = categories.preorderOf(flows.shapeOf[request] as number)
      side.positions.forEach((position, place) => {
        columns.add(row, place, records.of(request, nodes[position] as number))
      })
      row++
    }
  }
  return columns.finish()
}
