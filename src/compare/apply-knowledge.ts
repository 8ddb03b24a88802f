import { remembered } from '../core/remembered.ts'
import { listed } from '../core/words.ts'
import { type LabelChange, withoutIds, withoutThread } from '../flows/label-parts.ts'
import { labelText, withoutHost } from '../flows/node-labels.ts'
import type { ComparisonOptions } from './comparison-options.ts'
import { IGNORABLE, type Ignorable, type Knowledge } from './knowledge/knowledge.ts'

const LABEL_CHANGES: Readonly<Partial<Record<Ignorable, LabelChange>>> = {
  'strip ids': withoutIds,
  'omit threads': withoutThread,
}

/** Options that decide how requests are divided into categories. */
type Ruled = Pick<ComparisonOptions, 'knowledge' | 'concurrency' | 'fold' | 'omitHosts' | 'label'>

/** Returns options with the settings from the rule of their knowledge; doing it again changes nothing. */
export function withKnowledge<Options extends Ruled>(options: Options): Options {
  const { knowledge, concurrency, fold, label } = options
  if (knowledge === null || knowledge.ignore.length === 0) return options
  const ignores = (what: Ignorable) => knowledge.ignore.includes(what)
  const omitHosts = options.omitHosts || ignores('omit hosts')
  const learned = ignores('learned order') && concurrency === 'observed' ? 'learned' : concurrency
  return {
    ...options,
    omitHosts,
    concurrency: ignores('no order') ? 'none' : learned,
    fold: ignores('fold loops') ? 'log2' : fold,
    label:
      changesOf(knowledge).length === 0
        ? label
        : labelsOf(knowledge)(label ?? (omitHosts ? hostless : labelText)),
  }
}

function changesOf({ ignore }: Knowledge): LabelChange[] {
  return ignore.flatMap((what) => LABEL_CHANGES[what] ?? [])
}

type Label = NonNullable<ComparisonOptions['label']>

const hostless: Label = (node) => labelText(withoutHost(node))

/** Returns one function per rule and label, so that stages made with it can be recognized as the same. */
const labelsOf = remembered((knowledge: Knowledge) => {
  const changes = changesOf(knowledge)
  return remembered(
    (label: Label): Label =>
      (node) =>
        label(changes.reduce((one, change) => change(one), node)),
  )
})

export function ruleText({ ignore }: Pick<Knowledge, 'ignore'>): string {
  if (ignore.length === 0) return 'Only requests with equal flows are the same.'
  return `Requests are the same if they differ only in ${listed(ignore.map((what) => IGNORABLE[what]))}.`
}
