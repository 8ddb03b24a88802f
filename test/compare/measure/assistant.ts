import { compare } from '../../../src/index.ts'
import { randomSource } from '../../../src/stats/random.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'

/** What differs after. */
export interface AssistantChange {
  /** Input tokens of `answer` that are multiplied, of requests for which it holds. */
  readonly factor?: number
  readonly of?: (request: { readonly tier: string }) => boolean
  /** How often `retrieve` is repeated. */
  readonly retrievals?: number
  /** What all times are multiplied by. */
  readonly slower?: number
}

/**
 * Requests to an assistant, a second apart: `chat POST /ask` retrieves documents, which costs no
 * tokens, then `llm` plans (100 input tokens or so) and answers (800 or so, heavy-tailed), with
 * times that have nothing to do with these. One request in ten asks for its history: no tokens.
 */
export function assistantTraces(
  { seed, requests = 400, name }: { seed: number; requests?: number; name: string },
  { factor = 1, of = () => true, retrievals = 1, slower = 1 }: AssistantChange = {},
): SpanTraces {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < requests; i++) {
    const trace = `${name}-${String(i).padStart(5, '0')}`
    const tier = random.next() < 0.2 ? 'enterprise' : 'free'
    const startUs = NOON_US + i * 1e6
    const takes = (us: number) => Math.round(us * slower * Math.exp(0.3 * random.normal()))
    const tokens = (typical: number, spread: number) =>
      Math.round(typical * Math.exp(spread * random.normal()))
    const isHistory = random.next() < 0.1
    let at = startUs + 1_000
    const calls: SpanSketch[] = []
    const call = (
      id: string,
      [service, operation, usual]: readonly [string, string, number],
      attributes: SpanSketch['attributes'] = {},
    ) => {
      const endUs = at + takes(usual)
      calls.push({ trace, id, parent: 'r', service, operation, startUs: at, endUs, attributes })
      at = endUs + 100
    }
    if (isHistory) call('h', ['store', 'history', 8_000])
    else {
      for (let k = 0; k < retrievals; k++) call(`s${k}`, ['store', 'retrieve', 20_000])
      const [plan, answer] = [tokens(100, 0.2), tokens(800, 0.6)]
      call('p', ['llm', 'plan', 300_000], { 'gen_ai.usage.input_tokens': plan })
      call('a', ['llm', 'answer', 900_000], {
        'gen_ai.usage.input_tokens': Math.round(answer * (of({ tier }) ? factor : 1)),
      })
    }
    spans.push(
      {
        trace,
        id: 'r',
        service: 'chat',
        operation: isHistory ? 'GET /history' : 'POST /ask',
        startUs,
        endUs: at + 2_000,
        attributes: { 'tenant.tier': tier },
      },
      ...calls,
    )
  }
  return makeSpans(spans, name)
}

export const INPUT = 'gen_ai.usage.input_tokens'

/** Compares usual requests with those that a change befell. */
export function compareAssistants(seed: number, change: AssistantChange = {}, requests = 400) {
  return compare(
    assistantTraces({ seed: 2 * seed, requests, name: 'before' }),
    assistantTraces({ seed: 2 * seed + 1, requests, name: 'after' }, change),
  )
}
