import type { Command } from 'commander'
import type { Comparison } from '../compare/comparison.ts'
import { ruleText } from '../compare/knowledge/apply-knowledge.ts'
import { type Knowledge, NO_KNOWLEDGE } from '../compare/knowledge/knowledge.ts'
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { custom, defineOptions, text } from '../core/options.ts'
import { counted } from '../core/words.ts'
import { findQuestions, type TaughtAnswer, teach } from '../explain/explosion/teach.ts'
import { addComparisonFlags, type ComparisonFlags, compareFiles } from './comparison-flags.ts'
import { addOptions, type Flags, type FlagsOf } from './flags.ts'
import { print, printedJson } from './printing.ts'
import { writeReport } from './report.ts'

type Pairs = readonly string[]

const isPair = (pair: unknown) => typeof pair === 'string' && /^\d+,\d+$/.test(pair)

function pairs(flag: string, sentence: string) {
  return custom<Pairs>({
    default: [],
    flag: `${flag} <categories>`,
    sentence,
    expected: "two numbers of categories, such as '6,9'",
    accepts: (value) => Array.isArray(value) && value.every(isPair),
    parse: (given) => [given],
  })
}

const TEACH_FLAGS = defineOptions({
  same: pairs('same', 'Two categories that are the same to you; may be given more than once'),
  different: pairs('different', 'Two categories that are not; may be given more than once'),
  note: text({
    default: null,
    or: null,
    sentence: 'What to remember about a finding',
    unit: 'text',
  }),
  about: text({ default: null, or: null, sentence: 'Finding that --note is about', unit: 'id' }),
  by: text({ default: '', sentence: 'Who says so', unit: 'name' }),
  out: text({
    default: null,
    or: null,
    flag: 'out <file>',
    sentence: 'File to write what is known to; it may be that of --knowledge',
  }),
})

type TeachFlags = ComparisonFlags &
  FlagsOf<typeof TEACH_FLAGS> &
  Flags & { readonly knowledge?: Knowledge }

export function addTeach(command: Command, args: readonly string[]): void {
  addOptions(addComparisonFlags(command, args), TEACH_FLAGS).action(runTeach)
}

async function runTeach(files: string[], flags: TeachFlags): Promise<void> {
  const { knowledge = NO_KNOWLEDGE, same, different, note, about, out } = flags
  if ((note === undefined) !== (about === undefined)) {
    throw new FlowdeltaError('--note and --about belong together. Give both or neither.')
  }
  const said = [...same, ...different, ...(note === undefined ? [] : [note])]
  if (said.length > 0 && out === undefined) {
    throw new OptionError('out', out, 'the file to write what is known to')
  }
  const comparison = (await compareFiles({ ...flags, files })).with({ knowledge: null })
  if (out === undefined) {
    print(false, String, () => findQuestions(comparison).text())
    return
  }
  const answers = [...answersOf(same, true, flags), ...answersOf(different, false, flags)]
  const taught = noted(teach(comparison, answers, knowledge), { comparison, flags })
  writeReport(out, printedJson(taught))
  const categories = comparison.with({ knowledge: taught }).categories.size
  const kept = `${counted(taught.answers.length, 'answer')} and ${counted(taught.notes.length, 'note')}`
  print(false, String, () =>
    [
      ruleText(taught),
      `${counted(categories, 'category', 'categories')} by that rule, ${comparison.categories.size} without; ${kept} are in ${out}.`,
    ].join('\n'),
  )
}

function answersOf(given: Pairs, same: boolean, { by }: TeachFlags): TaughtAnswer[] {
  return given.map((pair) => {
    const [one, other] = pair.split(',').map(Number) as [number, number]
    return { one, other, same, by, at: now() }
  })
}

function noted(
  known: Knowledge,
  { comparison, flags }: { readonly comparison: Comparison; readonly flags: TeachFlags },
): Knowledge {
  const { note, about, by } = flags
  if (note === undefined || about === undefined) return known
  const { findings } = comparison.with({ knowledge: known }).findings
  const ids = findings.flatMap(({ id, consequences }) => [id, ...consequences.map((one) => one.id)])
  if (!ids.includes(about)) {
    throw new OptionError(
      'about',
      about,
      `the id of a finding: ${ids.join(', ') || 'there is none'}`,
    )
  }
  return { ...known, notes: [...known.notes, { about, text: note, by, at: now() }] }
}

function now(): string {
  return new Date().toISOString()
}
