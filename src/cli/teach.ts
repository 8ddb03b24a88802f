import type { Command } from 'commander'
import { ruleText } from '../compare/apply-knowledge.ts'
import type { Comparison } from '../compare/comparison.ts'
import { type Knowledge, NO_KNOWLEDGE } from '../compare/knowledge/knowledge.ts'
import { proposeNames } from '../compare/nameable.ts'
import { notesIn, type TaughtNote } from '../compare/subjects.ts'
import { threadText } from '../compare/words/notes.ts'
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { custom, defineOptions, optionalText, text } from '../core/options.ts'
import { counted, listed } from '../core/words.ts'
import { type TaughtAnswer, teach } from '../explain/explosion/teach.ts'
import { addComparisonFlags, type ComparisonFlags, compareFiles } from './comparison-flags.ts'
import { addOptions, type Flags, type FlagsOf } from './flags.ts'
import { printedJson, printText } from './printing.ts'
import { writeReport } from './report.ts'

function several(
  form: RegExp,
  words: { readonly flag: string; readonly sentence: string; readonly expected: string },
) {
  const isOne = (one: unknown) => typeof one === 'string' && form.test(one)
  return custom<readonly string[]>({
    default: [],
    ...words,
    sentence: `${words.sentence}; may be given more than once`,
    accepts: (value) => Array.isArray(value) && value.every(isOne),
    parse: (given) => [given],
  })
}

const PAIR = { form: /^\d+,\d+$/, expected: "two numbers of categories, such as '6,9'" }

const TEACH_FLAGS = defineOptions({
  same: several(PAIR.form, {
    flag: 'same <categories>',
    sentence: 'Two categories that are the same to you',
    expected: PAIR.expected,
  }),
  different: several(PAIR.form, {
    flag: 'different <categories>',
    sentence: 'Two categories that differ to you',
    expected: PAIR.expected,
  }),
  name: several(/.=./, {
    flag: 'name <id=name>',
    sentence: "Name of a service, a step or a part: 'service:SN=disks'",
    expected: "what is named, and its name: 'service:SN=disks'",
  }),
  note: optionalText('Text of the note', 'note <text>'),
  about: optionalText(
    "Subject of --note: the id of a finding, of a note to reply to, or of anything that teach lists; 'category 6', or 'edge:FROM → TO'",
    'about <id>',
  ),
  by: text({ default: '', sentence: 'Author of answers, names and notes', unit: 'name' }),
  out: optionalText(
    'File to write answers, names and notes to; may be the --knowledge file',
    'out <file>',
  ),
})

type TeachFlags = ComparisonFlags &
  FlagsOf<typeof TEACH_FLAGS> &
  Flags & { readonly knowledge?: Knowledge }

export function addTeach(command: Command, args: readonly string[]): void {
  addOptions(addComparisonFlags(command, args), TEACH_FLAGS).action(runTeach)
}

async function runTeach(files: string[], flags: TeachFlags): Promise<void> {
  const { knowledge = NO_KNOWLEDGE, note, about, out } = flags
  if ((note === undefined) !== (about === undefined)) {
    throw new FlowdeltaError('--note and --about belong together. Give both or neither.')
  }
  const said = whatIsSaid(flags)
  if (said.length > 0 && out === undefined) {
    throw new OptionError('out', out, 'the file to write answers, names and notes to')
  }
  const comparison = (await compareFiles({ ...flags, files })).with({ knowledge: null })
  if (out === undefined) {
    printText(
      [
        ...notesText(comparison.with({ knowledge })),
        "Name any of these with --name 'id=name':",
        proposeNames(comparison.with({ knowledge })).text(),
      ].join('\n\n'),
    )
    return
  }
  const taught = teach(comparison, said, knowledge)
  writeReport(out, printedJson(taught))
  const categories = comparison.with({ knowledge: taught }).categories.size
  const kept = listed([
    counted(taught.answers.length, 'answer'),
    counted(taught.names?.length ?? 0, 'name'),
    counted(taught.notes.length, 'note'),
  ])
  printText(
    [
      ruleText(taught),
      `${counted(categories, 'category', 'categories')} by that rule, ${comparison.categories.size} without; ${kept} are in ${out}.`,
    ].join('\n'),
  )
}

function whatIsSaid({ same, different, name, note, about, by }: TeachFlags) {
  const said = { by, at: new Date().toISOString() }
  const answers = (pairs: readonly string[], isSame: boolean) =>
    pairs.map((pair): TaughtAnswer => {
      const [one, other] = pair.split(',').map(Number) as [number, number]
      return { one, other, same: isSame, ...said }
    })
  const names = name.map((given): TaughtNote => {
    const end = given.lastIndexOf('=')
    return { about: given.slice(0, end), name: given.slice(end + 1), ...said }
  })
  const notes = note === undefined || about === undefined ? [] : [{ about, text: note, ...said }]
  return [...answers(same, true), ...answers(different, false), ...names, ...notes]
}

function notesText(comparison: Comparison): string[] {
  const { told } = notesIn(comparison)
  const lines = told.map(({ what, thread }) => `  ${thread.id}  ${what}: ${threadText(thread)}`)
  return lines.length === 0 ? [] : [`Notes, which --about takes to reply:\n\n${lines.join('\n')}`]
}
