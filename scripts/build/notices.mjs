// The licences of everything that is bundled into dist/ travel with it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Licences whose code may be bundled. */
const ALLOWED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0']

/** A package's folder in the path of a bundled file. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/** @type {Map<string, Set<string>>} packages of each bundle */
const bundled = new Map()

/**
 * Remembers which packages a bundle holds.
 *
 * @param {string} outfile
 * @param {import('esbuild').Metafile} metafile
 */
export function noteBundled(outfile, metafile) {
  const folders = Object.keys(metafile.inputs).flatMap((input) => PACKAGE.exec(input)?.[0] ?? [])
  bundled.set(outfile, new Set(folders))
}

/**
 * Writes `dist/packages/OUTFILE.json` for each bundle of this run, and the notices of all bundles.
 *
 * @param {string} root
 */
export function writeNotices(root) {
  const file = join(root, 'dist', '.bundled.json')
  /** @type {Record<string, string[]>} */
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  for (const [outfile, folders] of bundled) known[outfile] = [...folders].sort()
  writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`)
  const folders = [...new Set(Object.values(known).flat())].sort()
  const notices = folders.map((folder) => noticeOf(join(root, folder)))
  const head = `flowdelta bundles the following packages into dist/.\n`
  writeFileSync(
    join(root, 'dist', 'THIRD-PARTY-NOTICES.txt'),
    [head, ...notices].join(`\n${'-'.repeat(80)}\n`),
  )
}

/** @param {string} folder */
function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (!ALLOWED.includes(license)) {
    throw new Error(
      `${name} ${version} is bundled under ${license}. Bundle only ${ALLOWED.join(', ')}.`,
    )
  }
  const text = readdirSync(folder).find((file) => /^licen[cs]e(\.|$)/i.test(file))
  const words = text === undefined ? '' : `\n${readFileSync(join(folder, text), 'utf8').trim()}\n`
  return `${name} ${version} (${license})\n${words}`
}
