import { expect, test } from 'vitest'
import { type Knowledge, readKnowledge } from '../../../src/compare/knowledge/knowledge.ts'
import { notesIn, subjectOf } from '../../../src/compare/subjects.ts'
import { noteId, threadsOf } from '../../../src/compare/words/notes.ts'
import { explore, reportHtml, reportMarkdown, teach } from '../../../src/index.ts'
import type { FlowData } from '../../../src/views/widgets/flows/flow-scene.ts'
import { compareShops } from '../findings/fixture.ts'

const comparison = compareShops({}, { payUs: 3100 })
const ann = { by: 'Ann', at: '2026-09-03T10:00Z' }
const bob = { by: 'Bob', at: '2026-09-04T10:00Z' }
const edge = 'edge:shop call CHARGE call → pay CHARGE call'

/** Notes on each kind of thing, and a reply. */
function noted(): Knowledge {
  const [finding] = comparison.findings.findings
  const first = teach(comparison, [
    { about: finding?.id ?? '', text: 'Card provider.', ...ann },
    { about: 'service:pay', text: 'Ours since May.', ...ann },
    { about: 'step:stock LOOKUP', text: 'Cached.', ...ann },
    { about: 'category 0', text: 'Mostly robots.', ...ann },
    { about: edge, text: 'Leaves the country.', ...ann },
  ])
  const [note] = first.notes
  return teach(comparison, [{ about: note ? noteId(note) : '', text: 'Replaced.', ...bob }], first)
}

const knowledge = noted()

test('notes on findings, services, steps, categories and edges outlast their data', () => {
  const later = compareShops({ seed: 5 }, { payUs: 3500, seed: 6 }).with({
    knowledge: readKnowledge(JSON.stringify(knowledge)),
  })
  const { told, elsewhere } = notesIn(later)
  expect(elsewhere).toBe(0)
  expect(told.map(({ what, thread }) => [what, thread.note.text])).toEqual([
    [later.findings.findings[0]?.title, 'Card provider.'],
    ['pay', 'Ours since May.'],
    ['stock LOOKUP', 'Cached.'],
    [expect.stringMatching(/^shop GET call, category \d+$/), 'Mostly robots.'],
    ['shop call CHARGE call → pay CHARGE call', 'Leaves the country.'],
  ])
  expect(JSON.stringify(knowledge)).not.toContain('category 0')
  const facts = later.findings.findings[0]?.facts
  expect(facts).toContain(
    'seen on 2026-09-03 by Ann: Card provider. → on 2026-09-04 by Bob: Replaced.',
  )
  expect(facts).toContain('pay, noted on 2026-09-03 by Ann: Ours since May.')
  expect(facts?.join()).toMatch(/shop GET call, category \d+, noted on .* by Ann: Mostly robots\./)
})

test('flows show notes on their steps, edges and kind of request, by number and in words', () => {
  const told = comparison.with({ knowledge })
  const widget = explore(told, 'flows', { category: told.ranking.mutations[0]?.category ?? 0 })
  const { notes, nodes } = (widget.data as { data: FlowData }).data
  expect(notes.map(({ node, comment }) => [nodes[node ?? -1]?.name ?? 'an edge', comment])).toEqual(
    [
      ['pay CHARGE call', 'on 2026-09-03 by Ann: Ours since May.'],
      ['stock LOOKUP call', 'on 2026-09-03 by Ann: Cached.'],
      ['shop GET call', 'on 2026-09-03 by Ann: Mostly robots.'],
      ['an edge', 'on 2026-09-03 by Ann: Leaves the country.'],
    ],
  )
  const svg = widget.svg()
  expect(svg).toMatch(
    /<title>7 steps in both drawn as one[^<]*1 pay CHARGE call: on [^<]*Ours since May\./,
  )
  expect(svg).toContain('1 pay CHARGE call: on 2026-09-03 by Ann: Ours since May.')
  expect(explore(comparison, 'flows').svg()).not.toContain('Ours since May')
})

test('reports list notes with their replies, and count those of other data', () => {
  const other = { about: 'service:gone', text: 'Old.', ...ann }
  const told = comparison.with({ knowledge: { ...knowledge, notes: [...knowledge.notes, other] } })
  const page = reportHtml(told)
  expect(page).toMatch(
    /What people noted.*<strong>pay<\/strong><ul><li>Ours since May\. <span class="soft">on 2026-09-03 by Ann/s,
  )
  expect(page).toMatch(/Card provider\. <span[^>]*>[^<]*<\/span><ul><li>Replaced\./)
  expect(page).toContain('1 note of the file is about something not in this comparison.')
  const markdown = reportMarkdown(told)
  expect(markdown).toContain('What people noted')
  expect(markdown.split('\n').length).toBeLessThan(66)
  expect(reportHtml(comparison)).not.toContain('What people noted')
})

test('notes keep what they are about when names are given, and names replace older ones', () => {
  const name = (text: string) => ({ about: 'service:pay', name: text, ...ann })
  const named = teach(comparison, [name('payments'), name('tills')], knowledge)
  expect(named.names?.map((one) => one.name)).toEqual(['tills'])
  const { told, elsewhere } = notesIn(comparison.with({ knowledge: named }))
  expect(elsewhere).toBe(0)
  expect(told[1]?.what).toBe('tills (pay)')
  expect(subjectOf(comparison.with({ knowledge: named }), edge)?.about).toBe(edge)
})

test('threads lose no note, whatever they reply to', () => {
  const [first, second] = [
    { about: 'x', text: 'a', ...ann, to: '' },
    { about: 'x', text: 'b', ...bob, to: '' },
  ]
  const circle = [
    { ...first!, to: noteId(second!) },
    { ...second!, to: noteId(first!) },
  ]
  expect(threadsOf(circle)).toMatchObject([
    { note: { text: 'a' }, replies: [{ note: { text: 'b' } }] },
  ])
  expect(threadsOf([{ ...first!, to: 'note-gone' }])).toHaveLength(1)
})

test('a note on what is not there is refused', () => {
  expect(() => teach(comparison, [{ about: 'service:gone', text: 'x' }])).toThrow(
    /about is "service:gone"\. Give the id of a finding/,
  )
})
