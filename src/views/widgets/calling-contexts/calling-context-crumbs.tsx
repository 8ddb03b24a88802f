import { counted } from '../../../core/words.ts'
import { callersOf } from './calling-context-layout.ts'
import type { CallingContextData } from './calling-context-model.ts'
import { ALL_REQUESTS, frameName } from './calling-context-words.ts'

interface Shown {
  readonly contexts: CallingContextData['contexts']
  readonly focus: number | null
  readonly onZoom: (context: number | null) => void
}

/** Of a long chain, so many at its beginning and at its end are there to go to. */
const FIRST = 3
const LAST = 5

/** The way back: the frames that what fills the width was called from. */
export function CallingContextCrumbs({ contexts, focus, onZoom }: Shown) {
  const focused = contexts.find(({ context }) => context === focus)
  const chain = focused === undefined ? [] : callersOf(contexts, focused)
  const { first, between, last } = chainEnds(chain, { first: FIRST, last: LAST })
  const crumb = (context: CallingContextData['contexts'][number]) => (
    <span key={context.context} style="display:inline-flex;gap:4px">
      ›
      <button
        type="button"
        title={frameName(context)}
        disabled={context.context === focus}
        onClick={() => onZoom(context.context)}
      >
        {frameName(context)}
      </button>
    </span>
  )
  return (
    <nav class="fd-crumbs" aria-label="Zoomed into">
      <button type="button" disabled={focus === null} onClick={() => onZoom(null)}>
        {ALL_REQUESTS}
      </button>
      {first.map(crumb)}
      {between.length === 0 ? null : (
        <span class="fd-soft">› {counted(between.length, 'more caller')}</span>
      )}
      {last.map(crumb)}
    </nav>
  )
}

/** The ends of a chain that is too long to be told link by link; `between` is empty where it is not. */
export function chainEnds<T>(
  chain: readonly T[],
  ends: { readonly first: number; readonly last: number },
): { readonly first: readonly T[]; readonly between: readonly T[]; readonly last: readonly T[] } {
  // One link needs no more room than saying that it is left out.
  if (chain.length <= ends.first + ends.last + 1) return { first: chain, between: [], last: [] }
  const end = chain.length - ends.last
  return {
    first: chain.slice(0, ends.first),
    between: chain.slice(ends.first, end),
    last: chain.slice(end),
  }
}
