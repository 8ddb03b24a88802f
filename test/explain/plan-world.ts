import { randomSource } from '../../src/stats/random.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

/** Requests of `web`, each of which waits for `db`, whose times vary; one in four also for `mail`. */
export function mailPeriod({
  requests,
  seed,
  slowerUs = 0,
  service = 'db',
}: {
  requests: number
  seed: number
  /** How much longer each call of `service` takes. */
  slowerUs?: number
  service?: 'db' | 'mail'
}): SpanTraces {
  const random = randomSource(seed)
  const takes = (name: string, usualUs: number) =>
    usualUs * random.logNormal(0, 0.4) + (name === service ? slowerUs : 0)
  const sketches = Array.from({ length: requests }, (_, i): SpanSketch[] => {
    const trace = `${seed}-${i}`
    const startUs = 100_000 * i + 20_000 * random.next()
    const calls = i % 4 === 0 ? ['db', 'mail'] : ['db']
    let endUs = startUs + takes('web', 2000)
    const called = calls.map((name) => {
      const begins = endUs + 100
      endUs = begins + takes(name, name === 'db' ? 5000 : 3000)
      return {
        trace,
        id: name,
        parent: 'web',
        service: name,
        operation: 'run',
        startUs: begins,
        endUs,
      }
    })
    const web = { trace, id: 'web', service: 'web', operation: 'GET', startUs, endUs: endUs + 300 }
    return [web, ...called]
  })
  return makeSpans(sketches.flat())
}
