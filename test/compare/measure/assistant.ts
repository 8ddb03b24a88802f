import { compare } from '../../../src/index.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { NOON_US } from '../../make-traces.ts'
import { type Call, call, record } from '../../worlds.ts'

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
  return record({ seed, requests, fromUs: NOON_US, name }, (r) => {
    const attributes = { 'tenant.tier': r.is(0.2) ? 'enterprise' : 'free' }
    const isHistory = r.is(0.1)
    const ask = (of: string, us: number, tokens?: number) => {
      const used = tokens === undefined ? {} : { attributes: { [INPUT]: Math.round(tokens) } }
      return call(of, Math.round(r.about(us * slower, 0.3)), { gapUs: 100, ...used })
    }
    const answer = (calls: Call[]) =>
      call(isHistory ? 'chat GET /history' : 'chat POST /ask', [1000, 2000], { attributes }, calls)
    if (isHistory) return answer([ask('store history', 8000)])
    const retrieved = Array.from({ length: retrievals }, () => ask('store retrieve', 20_000))
    const [planned, answered] = [r.about(100, 0.2), r.about(800, 0.6)]
    const times = of({ tier: attributes['tenant.tier'] }) ? factor : 1
    const plan = ask('llm plan', 300_000, planned)
    return answer([...retrieved, plan, ask('llm answer', 900_000, answered * times)])
  })
}

export const INPUT = 'gen_ai.usage.input_tokens'

/** Compares usual requests with those that a change befell. */
export function compareAssistants(seed: number, change: AssistantChange = {}, requests = 400) {
  return compare(
    assistantTraces({ seed: 2 * seed, requests, name: 'before' }),
    assistantTraces({ seed: 2 * seed + 1, requests, name: 'after' }, change),
  )
}
