import { expect, test } from 'vitest'
import { Chart, Drawing } from '../../src/views/charts/chart.ts'
import { plot } from '../../src/views/plot.ts'
import { smallComparison } from './charts/fixture.ts'

test('plot without a kind draws the first picture of a stage', () => {
  const comparison = smallComparison()
  expect(plot(comparison).title).toMatch(/^A mean request takes .* longer$/)
  expect(plot(comparison.edges).title).toBe('By how much one call of each step shifted')
  expect(plot(comparison)).toBeInstanceOf(Chart)
})

test('plot takes a kind and its options', () => {
  const { ranking } = smallComparison()
  const chart = plot(ranking, 'contributions', { limit: 1 })
  expect(chart.description).toContain('Shows the first 1 of 2 mutations')
})

test('plot of a whole comparison draws the pictures of its stages', () => {
  const comparison = smallComparison()
  expect(plot(comparison, 'counts').spec).toEqual(plot(comparison.structural, 'counts').spec)
})

test('an unknown kind is refused with the kinds that the stage has', () => {
  const { edges, ranking } = smallComparison()
  expect(() => plot(edges, 'arrivals' as never)).toThrow(
    "'arrivals' is no picture of edge changes. It has: 'shifts'.",
  )
  expect(() => plot(ranking, '__proto__' as never)).toThrow("It has: 'contributions'.")
  expect(() => plot(smallComparison(), 'arival' as never)).toThrow(
    "'arival' is no picture of a comparison. Did you mean 'arrivals'? It has: 'ribbon', ",
  )
  expect(() => plot(ranking, { limit: 3 } as never)).toThrow(
    '{ limit: 3 } is no picture of a ranking; options are the third argument.',
  )
})

test('a misspelt option is refused in every picture, with the one that was probably meant', () => {
  const { ranking } = smallComparison()
  expect(() => plot(ranking, 'contributions', { limits: 3 } as never)).toThrow(/limits.*limit/)
})

test.each([null, 'a text', 7, {}, { set: 1 }])('%j is no stage', (value) => {
  expect(() => plot(value as never)).toThrow(/^plot has no picture of/)
})

test('a drawing is an SVG that a notebook shows inline, and text anywhere else', () => {
  let drawn = 0
  const drawing = new Drawing(
    () => {
      drawn++
      return '<svg xmlns="http://www.w3.org/2000/svg"><title>a "b"</title></svg>'
    },
    { title: 'A <title>', description: 'What it shows.' },
  )
  expect(drawing.displayText()).toBe('A <title>\nWhat it shows.')
  const bundle = drawing.mimeBundle()
  expect(bundle['image/svg+xml']).toContain('<svg')
  expect(bundle['text/html']).toContain('alt="A &lt;title&gt;. What it shows."')
  drawing.svg()
  expect(drawn).toBe(1)
})
