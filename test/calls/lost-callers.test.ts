import { expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { randomSource } from '../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

//  web      GET    |-----------------------------|
//  cart     ITEMS    |-------------------------|     lost in every tenth request
//  cart     PRICE        |-----------------|         its side of a call
//  pricing  PRICE           |-----------|
function period(seed: number, wayUs: number) {
  const random = randomSource(seed)
  const about = (us: number) => Math.round(us * random.logNormal(0, 0.2))
  const spans = Array.from({ length: 500 }, (_, i): SpanSketch[] => {
    const trace = `${seed} ${i}`
    const startUs = seed * 1e10 + i * 1e6
    const [there, works, back] = [about(wayUs), about(2000), about(wayUs)]
    const at = (
      service: string,
      id: string,
      parent: string | null,
      fromUs: number,
      us: number,
    ) => ({
      ...{ trace, service, id, parent, host: service },
      ...{ startUs: startUs + fromUs, endUs: startUs + fromUs + us },
    })
    const callUs = there + works + back
    const all: SpanSketch[] = [
      { ...at('web', 'web', null, 0, callUs + 1600), operation: 'GET' },
      { ...at('cart', 'cart', 'web', 300, callUs + 1000), operation: 'ITEMS' },
      { ...at('cart', 'call', 'cart', 800, callUs), operation: 'PRICE', kind: 'client' },
      { ...at('pricing', 'own', 'call', 800 + there, works), operation: 'PRICE', kind: 'server' },
    ]
    return i % 10 === 0 ? all.filter(({ id }) => id !== 'cart') : all
  })
  return makeSpans(spans.flat())
}

test('a call that lost its caller is on the way, and no work of the service that made it', () => {
  const { findings, steps } = compare(period(1, 400), period(2, 1200))
  expect(
    findings.findings.map(({ kind, services, steps: [step] }) => [kind, services[0], step?.kind]),
  ).toEqual([['latency', 'pricing', 'call']])
  const work = steps.steps.find(({ kind, service }) => kind === 'work' && service === 'cart')
  expect(work?.operations.map(({ operation }) => operation)).toEqual(['ITEMS'])
})
