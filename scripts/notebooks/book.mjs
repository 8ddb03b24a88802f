// The notebooks as one book: what each asks, how long it takes, and a picture of it.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const OPENING = /^# (?<title>.+)\n\n> \*\*(?<question>.+\?)\*\* (?<minutes>\d+) minutes\.\n/

/**
 * @typedef {object} Chapter
 * @property {string} name name of its file
 * @property {string} title
 * @property {string} question what it answers
 * @property {number} minutes how long it takes to read
 * @property {string | undefined} picture SVG that one of its cells shows
 */

/**
 * Reads a notebook's title, question and minutes from its first cell, and its first stored picture.
 *
 * @param {string} path
 * @returns {Chapter}
 */
export function readChapter(path) {
  const { cells } = JSON.parse(readFileSync(path, 'utf8'))
  const name = basename(path)
  const { groups } = OPENING.exec([cells[0].source].flat().join('')) ?? {}
  if (groups === undefined) {
    throw new Error(
      `${name} does not begin with its title, its question and how long it takes:\n# Title\n\n> **Question?** 10 minutes.`,
    )
  }
  const { title = '', question = '', minutes } = groups
  const outputs = cells.flatMap((/** @type {any} */ cell) => cell.outputs ?? [])
  const svg = outputs.find((/** @type {any} */ { data }) => data?.['image/svg+xml'] !== undefined)
  const picture = svg && [svg.data['image/svg+xml']].flat().join('')
  return { name, title, question, minutes: Number(minutes), picture }
}

/**
 * The book as Markdown, for whoever looks at the folder.
 *
 * @param {readonly Chapter[]} chapters
 */
export function contents(chapters) {
  const rows = chapters.map(
    ({ name, title, question, minutes }) =>
      `| [${name.slice(0, 2)}](${name}) | [${title}](${name}) | ${question} | ${minutes} |`,
  )
  return `# Notebooks

\`npm start\` opens them in Jupyter; \`npm start -- --run\` writes them as pages under \`out/\`. Start with the first, a complete diagnosis. Read the others in any order.

| | notebook | question | minutes |
|---|---|---|---|
${rows.join('\n')}
`
}
