import { sum } from 'd3-array'
import { type AccountStep, withoutSmall } from '../comparison/account.ts'
import { divided } from '../core/entries.ts'
import { FlowdeltaError } from '../core/errors.ts'
import { remembered } from '../core/remembered.ts'
import { grouped } from '../core/words.ts'
import { printedJson } from './printing.ts'

type Json = Readonly<Record<string, unknown>>

const LISTS = ['findings', 'warnings', 'mutations', 'categories'] as const

type Lists = Readonly<Record<(typeof LISTS)[number], readonly Json[]>>

/** Lists of evidence of a finding or a mutation; these are cut first. */
const EVIDENCE = new Set([
  'changedEdges',
  'changedStructure',
  'steps',
  'calls',
  'edges',
  'precursors',
  'excluded',
  'paths',
  'parameters',
])

/** Lists whose first entry names the subject of a finding. */
const SUBJECTS = new Set(['steps', 'calls'])

/** Entries of each list of evidence, tried one after the other. */
const LENGTHS = [Number.POSITIVE_INFINITY, 10, 3]

const TOP_MUTATIONS = 10

/** Steps of the account, tried one after the other. */
const STEPS = [Number.POSITIVE_INFINITY, 15, 5]

/** Bytes that no mutation goes below: more of them need not be written to be cut. */
const MIN_MUTATION_BYTES = 400

export function mutationsWithin(budget: number): number {
  return budget === 0 ? Number.POSITIVE_INFINITY : Math.ceil(budget / MIN_MUTATION_BYTES)
}

/**
 * Cuts a document to `budget` bytes, keeping first what a reader needs first: totals, findings in brief, warnings, top
 * mutations, evidence, the rest. Keeps or drops whole entries; `leftOut` counts the dropped ones and says how to get
 * them.
 */
export function withinBudget(
  document: Json,
  { budget, all }: { budget: number; all: { categories: number; mutations: number } },
): Json {
  if (budget === 0) return document
  for (const most of STEPS) {
    const whole = withSteps(document, most)
    if (Buffer.byteLength(printedJson(whole)) <= budget) return whole
  }
  const full = document as Json & Lists
  let mostSteps = 1
  const render = (lists: Lists) => ({
    ...withSteps(document, mostSteps),
    ...lists,
    truncated: all,
    leftOut: leftOut(full, { kept: lists, all, budget }),
  })
  let kept: Lists = { findings: [], warnings: [], mutations: [], categories: [] }
  const keep = (change: Partial<Lists>): boolean => {
    const more = { ...kept, ...change }
    if (printedBytes(render(more)) > budget) return false
    kept = more
    return true
  }
  if (!keep({})) {
    const bytes = grouped(printedBytes(render(kept)))
    throw new FlowdeltaError(
      `--budget ${budget}: totals and parameters alone take ${bytes} bytes. ` +
        'Give more, or 0 for everything.',
    )
  }
  const isCause = ({ consequenceOf }: Json) => consequenceOf === null
  const keepFinding = (finding: Json) => keep({ findings: [...kept.findings, brief(finding)] })
  const categoryOf = new Map(full.categories.map((category) => [category['id'], category]))
  const keepMutation = (mutation: Json) => {
    const category = categoryOf.get(mutation['category'])
    return keep({
      mutations: [...kept.mutations, brief(mutation)],
      categories: withCategory(kept.categories, category),
    })
  }
  const allCauses = full.findings.filter(isCause).every(keepFinding)
  full.warnings.every((warning) => keep({ warnings: [...kept.warnings, warning] }))
  if (allCauses) full.findings.filter((finding) => !isCause(finding)).every(keepFinding)
  const keepSteps = (steps: number) => {
    mostSteps = steps
    if (keep({})) return true
    mostSteps = 1
    return false
  }
  if (allCauses) STEPS.some(keepSteps)
  // Room that is too small for the next finding is not for mutations.
  const mutations = allCauses ? full.mutations : []
  mutations.slice(0, TOP_MUTATIONS).every(keepMutation)
  const lengthen = (name: 'findings' | 'mutations', isWanted: (entry: Json) => boolean) => {
    for (const i of kept[name].keys()) {
      if (!isWanted(full[name][i] as Json)) continue
      LENGTHS.some((length) =>
        keep({ [name]: kept[name].with(i, brief(full[name][i] as Json, length)) }),
      )
    }
  }
  // Asked for by --explain.
  const isExplained = ({ explanation }: Json) => explanation !== undefined
  lengthen('findings', isExplained)
  lengthen('mutations', isExplained)
  lengthen('findings', () => true)
  mutations.slice(kept.mutations.length).every(keepMutation)
  full.categories
    .filter((category) => !kept.categories.includes(category))
    .every((category) => keep({ categories: withCategory(kept.categories, category) }))
  lengthen('mutations', () => true)
  return render(kept)
}

/** Lists at most that many steps of a document's account, small ones as one. */
export function withSteps(document: Json, most: number): Json {
  const account = document['account'] as { readonly steps: readonly AccountStep[] }
  return { ...document, account: { ...account, steps: withoutSmall(account.steps, most) } }
}

/** Bytes of a document as it is printed; its entries, of which most were in the last one, are measured once. */
function printedBytes(document: Json & Lists): number {
  const rest = { ...document, findings: [], warnings: [], mutations: [], categories: [] }
  return sum([
    Buffer.byteLength(printedJson(rest)),
    ...LISTS.filter((name) => document[name].length > 0).map((name) => {
      const entries = sum(document[name], (entry) => entryOf(entry).bytes)
      // Entries stand on lines of their own, with a comma between them.
      return entries + 2 * document[name].length + 1
    }),
  ])
}

/** Returns an entry of a list as it is printed there, two spaces in, and how many bytes that is. */
const entryOf = remembered((entry: Json) => {
  const text = JSON.stringify(entry, null, 1).replaceAll('\n', '\n  ')
  return { text, bytes: Buffer.byteLength(text) + 2 }
})

function withCategory(kept: readonly Json[], category: Json | undefined): readonly Json[] {
  if (category === undefined || kept.includes(category)) return kept
  return [...kept, category].sort((a, b) => Number(a['id']) - Number(b['id']))
}

/** Returns an entry with at most that many items in each list of evidence, but with its subjects. */
function brief(entry: Json, length = 0): Json {
  const cut = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(cut)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        name,
        Array.isArray(part) && EVIDENCE.has(name)
          ? mostTelling(part, Math.max(length, Number(SUBJECTS.has(name)))).map(cut)
          : cut(part),
      ]),
    )
  }
  const { edges, precursors } = entry
  const counts = Object.entries({ edges, precursors }).flatMap(([name, list]) => {
    const count = `${name}InAll`
    const isCut = Array.isArray(list) && list.length > length && entry[count] === undefined
    return isCut ? [[count, list.length]] : []
  })
  return { ...(cut(entry) as Json), ...Object.fromEntries(counts) }
}

/** Returns changed entries first, then the first others, in the list's order. */
function mostTelling(list: readonly Json[], length: number): readonly Json[] {
  const parts = divided(list, ({ rejected }) => rejected === true)
  const kept = new Set(parts.flat().slice(0, length))
  return list.filter((entry) => kept.has(entry))
}

/** Counts what a budget left out, and names the entries that lack some of their evidence. */
function leftOut(
  full: Lists,
  { kept, all, budget }: { kept: Lists; all: Readonly<Record<string, number>>; budget: number },
) {
  const count = (name: keyof Lists) => (all[name] ?? full[name].length) - kept[name].length
  const shortened = (name: 'findings' | 'mutations') =>
    kept[name].filter((entry, i) => entryOf(entry).text !== entryOf(full[name][i] as Json).text)
  return {
    findings: count('findings'),
    warnings: count('warnings'),
    mutations: count('mutations'),
    categories: count('categories'),
    shortenedFindings: shortened('findings').map(({ id }) => String(id)),
    shortenedMutations: shortened('mutations').map(({ rank }) => Number(rank)),
    budget,
    how: 'Run again with --budget 0 for everything, or with --finding ID for all of one finding.',
  }
}
