import { expect, test } from 'vitest'
import { bareSvg } from '../../../src/views/charts/chart.ts'

test('words for readers go, places are cut to hundredths, text stays', () => {
  const svg =
    '<svg role="img" aria-label="x" width="10.12345"><path aria-roledescription="bar" d="M1.23456,2L-0.5,1.5e-7"/><text x="3.999">p = 0.12345</text></svg>'
  expect(bareSvg(svg)).toBe(
    '<svg width="10.12"><path d="M1.23,2L-0.5,1.5e-7"/><text x="3.99">p = 0.12345</text></svg>',
  )
})
