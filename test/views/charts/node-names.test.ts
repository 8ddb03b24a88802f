import { range } from 'd3-array'
import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { rootName } from '../../../src/views/charts/node-names.ts'
import { makeSpans } from '../../make-traces.ts'

test('kinds of request behind a gateway are named by the call that tells them apart', () => {
  const period = (called: readonly string[]) =>
    makeSpans(
      range(60).flatMap((i) => {
        const [trace, startUs] = [`t${i}`, 1000 * i]
        const service = called[i % called.length] as string
        const gateway = { trace, id: 'gw', service: 'gateway', operation: '/*' }
        const inner = { trace, id: 'in', parent: 'gw', service, operation: 'GET' }
        return [
          { ...gateway, startUs, endUs: startUs + 100 },
          { ...inner, startUs: startUs + 10, endUs: startUs + 90 },
        ]
      }),
    )
  const namesOf = (called: readonly string[]) => {
    const { categories } = compare(period(called), period(called))
    return range(categories.size).map((category) => rootName(categories, category, 60))
  }
  expect(namesOf(['cart', 'search'])).toEqual(['gateway /* → cart GET', 'gateway /* → search GET'])
  expect(namesOf(['cart'])).toEqual(['gateway /*'])
})
