import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from '../../temporary-folder.ts'
import { answerOf, openSession, type Session } from './chdb-session.ts'
import { type Served, serve } from './serve.ts'

const session = openSession()

/** `describe` for tests that need ClickHouse; without it, a warning and a skipped test say so. */
export function describeWithClickHouse(title: string, fn: (session: Session) => void): void {
  if (session !== undefined) return void describe(title, () => fn(session))
  const notice = 'NOT RUN: needs the package chdb (npm install --no-save chdb)'
  console.warn(`${title}: ${notice}`)
  describe(title, () => {
    test.skip(notice, () => {})
  })
}

/** Inserts rows from a file: what is part of the query is mixed with what stands in standard input. */
export function insert(into: Session, table: string, lines: readonly string[]): void {
  const file = join(temporaryFolder(), 'rows.jsonl')
  writeFileSync(file, lines.join('\n'))
  const columns = into
    .query(
      `SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '${table}' AND default_kind = ''`,
      'JSONCompactEachRow',
    )
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [name: string, type: string])
  const names = columns.map(([name]) => `\`${name}\``)
  const structure = columns.map(([, type], i) => `${names[i]} ${type}`).join(', ')
  into.query(
    `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM file('${file}', 'JSONEachRow', '${structure.replaceAll("'", "\\'")}')`,
  )
}

/** Serves the session over HTTP as ClickHouse does, as long as the test. */
export function serveClickHouse(sessionOf: Session): Promise<Served> {
  return serve((url, { body }) => answerOf(sessionOf, url, body))
}
