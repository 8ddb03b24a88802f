import { titleOf, unansweredText } from '../explain/parameters/explanation.ts'
import type { Explained } from './comparison-document.ts'
import { wrapped } from './printing.ts'

/** Explanations of finding and mutation; where no question has an answer, said once for both. */
export function explanationTexts(explained: Explained | null): string[] {
  if (explained === null) return []
  const { finding, mutation } = explained
  const ofFinding = finding && {
    head: `Finding ${finding.consequenceOf === null ? `#${finding.rank}` : finding.id}`,
    why: finding.why,
  }
  const ofMutation = mutation && { head: `Mutation ${mutation.rank}`, why: mutation.why }
  const all = [ofFinding, ofMutation].filter((one) => one !== null)
  const unanswered = all.length > 1 ? unansweredText(all.map(({ why }) => why)) : null
  const named = (head: string, text: string) => `${head} by parameters: ${text}`
  const heads = all.map(({ head, why }) => named(head, titleOf(why)))
  const texts =
    unanswered === null
      ? all.map(({ head, why }) => named(head, why.text()))
      : [[...heads, unanswered].join('\n')]
  return texts.map((text) =>
    text
      .split('\n')
      .flatMap((line) => wrapped(line, '    '))
      .join('\n'),
  )
}
