import { type AttributeEntry, numberOrText } from '../../src/traces/readers/json-values.ts'
import type { SpanStatus } from '../../src/traces/span-columns.ts'

const ADDRESS = /(\d{1,3}(?:\.\d{1,3}){3})(?::\d*)?/
const EVERY_ADDRESS = new RegExp(ADDRESS, 'g')
const OUTCOME = /^(Success|\w*Exception|ERROR)\b:?\s*/
const EXCEPTION = /\b(?:[a-z]\w*\.)+([A-Z]\w*(?:Exception|Error))\b/g
/** `class=class a.b.C`, `remote=/10.1.2.3:50010`; a hash code behind `@` is no value. */
const PAIR = /\b(class|value|local|remote)=(?:class )?\/?(\d{1,3}(?:\.\d{1,3}){3}|[^,\]@=]*)/g
/** A count and what is counted: `65557 bytes`, `_7_blocks`. */
const COUNT = /(?:^|[\s_])(\d+)[\s_](bytes|millis|blocks)\b|_(\d+)_(blocks)_/g
/** Ids within words, most particular first, and the words that stand for them. */
const IDS: readonly (readonly [RegExp, string])[] = [
  [/\bblk_-?\d+(_\d+)?/g, '<block>'],
  [EVERY_ADDRESS, '<address>'],
  [/(^|\s)\/[\w./-]+/g, '$1<path>'],
  [/@[0-9a-f]+\b/g, ''],
  [/\s*value=\s[^\]]*/g, 'value=<counts>'],
  [/\b\d+\b/g, '<n>'],
  [/\s+/g, ' '],
]
/** Of whom an address in the text is, by the words before it. */
const TARGETS: readonly (readonly [RegExp, string])[] = [
  [/(?:failed to connect|connected) to\s*$/, 'target'],
  [/first ?bad ?link (?:is|as)\s*$/i, 'bad link'],
]

export interface EventWords {
  readonly status: SpanStatus
  readonly attributes: readonly AttributeEntry[]
}

/**
 * What a description says: `outcome`, innermost `exception`, `message` without ids, `target` and
 * `bad link` (hosts), the pairs `class`, `value`, `local`, `remote`, and counts.
 */
export function tracebenchWords(text: string): EventWords {
  const outcome = OUTCOME.exec(text)?.[1]
  const attributes: AttributeEntry[] = []
  if (outcome !== undefined) attributes.push(['outcome', outcome])
  const exception = [...text.matchAll(EXCEPTION)].at(-1)?.[1]
  if (exception !== undefined) attributes.push(['exception', exception])
  const message = wordsOf(text)
  if (message !== '') attributes.push(['message', message])
  for (const found of text.matchAll(EVERY_ADDRESS)) {
    const before = text.slice(0, found.index)
    const name = TARGETS.find(([words]) => words.test(before))?.[1]
    if (name !== undefined) attributes.push([name, found[1] ?? ''])
  }
  for (const [, key = '', value = ''] of text.matchAll(PAIR)) {
    const address = ADDRESS.exec(value)?.[1]
    const short = address ?? (key === 'class' ? value.slice(value.lastIndexOf('.') + 1) : value)
    // Several columns of numbers are no value, and an object's is its class and where it stood.
    if (short !== '' && !/[\s.]/.test(address === undefined ? short : '')) {
      attributes.push([key, numberOrText(short.replace(/\)$/, ''))])
    }
  }
  for (const [, a, unit, b, blocks] of text.matchAll(COUNT)) {
    attributes.push([unit ?? blocks ?? '', Number(a ?? b)])
  }
  const status = outcome === undefined ? 'unset' : outcome === 'Success' ? 'ok' : 'error'
  return { status, attributes }
}

function wordsOf(text: string): string {
  return IDS.reduce(
    (words, [id, word]) => words.replace(id, word),
    text.replace(OUTCOME, ''),
  ).trim()
}
