import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sqlAsCsv, statementsIn } from '../../../datasets/sql-parameters/sql-parameters.ts'
import {
  attributesOf,
  DOT,
  loadWith as loadWithCsv,
  notesOf,
  SPANS,
} from '../../traces/load-with-parameters.ts'

const TABLE = 'CREATE TABLE t(breadcrumb INTEGER, timestamp INTEGER, size INTEGER, disk TEXT);\n'
const loadWith = async (traces: string, sql: string) => loadWithCsv(traces, sqlAsCsv(sql, 'p0'))
const first = async (sql: string) => attributesOf(await loadWith(DOT, sql))[0]

describe('a dump', () => {
  test('has a table for each trace point, keyed by the halves of a node id', async () => {
    const dump = `CREATE TABLE call(breadcrumb INTEGER, timestamp INTEGER, tid INTEGER, size INTEGER);
CREATE TABLE reply(breadcrumb INTEGER, timestamp INTEGER, qlen INTEGER);
BEGIN;
INSERT INTO call VALUES(1,10,7,4096);
INSERT INTO reply VALUES(1,20,NULL);
COMMIT;
`
    const set = await loadWith(DOT, dump)
    expect(attributesOf(set)).toEqual([{ tid: 7, size: 4096 }, { status: 3 }])
    expect(notesOf(set)).toEqual([])
  })

  test('may call the halves anything where they are the first two columns', async () => {
    expect(
      await first('CREATE TABLE t(req BIGINT, ts BIGINT, n INT);INSERT INTO t VALUES(1,10,2);'),
    ).toEqual({ n: 2 })
  })

  test('may name spans', async () => {
    const dump = `CREATE TABLE p(size INT, span_id TEXT, trace_id TEXT);
      INSERT INTO p VALUES(1,'b2','a0');`
    expect(attributesOf(await loadWith(SPANS, dump))[1]).toEqual({ size: 1 })
  })

  test('may have constraints, quoted names, schemas and types with commas', async () => {
    const dump = `-- made by hand; with a semicolon
      CREATE TABLE IF NOT EXISTS "my"."ta ble" (
        "breadcrumb" INTEGER NOT NULL, \`timestamp\` INTEGER DEFAULT (strftime('%s,','now')),
        [the size] DECIMAL(10, 2), disk VARCHAR(8) DEFAULT ',)',
        PRIMARY KEY (breadcrumb, timestamp), CONSTRAINT c CHECK (disk <> 'x')
      ) WITHOUT ROWID;
      /* ; */ INSERT INTO "my"."ta ble" VALUES (1, 10, 2.50, 'sda');`
    expect(await first(dump)).toEqual({ 'the size': 2.5, disk: 'sda' })
  })

  test('may have many rows a statement, name their columns, and do something else on conflict', async () => {
    const dump = `${TABLE}INSERT INTO t VALUES (1, 20, 1, 'a'),\n (1,10 , 2 , NULL ) ON CONFLICT DO NOTHING;
      insert or ignore into t (disk, "timestamp", breadcrumb) values ('b', 10, 1);`
    expect(attributesOf(await loadWith(DOT, dump))).toEqual([
      { size: 2, disk: 'b' },
      { status: 3, size: 1, disk: 'a' },
    ])
  })

  test('may hold semicolons, brackets, quotes, line ends and backslashes in strings', async () => {
    expect(await first(`${TABLE}INSERT INTO t VALUES(1,10,-1,'a;b)'',(\n''c\\');`)).toEqual({
      size: -1,
      disk: "a;b)',(\n'c\\",
    })
  })

  test('keeps blobs as they are written', async () => {
    expect(await first(`${TABLE}INSERT INTO t VALUES(1,10,1,X'00ff');`)).toEqual({
      size: 1,
      disk: "X'00ff'",
    })
  })

  test('of SQLite may have tables of its own, and others that have no parameters', async () => {
    const dump = `PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
${TABLE}CREATE TABLE done(breadcrumb INTEGER, timestamp INTEGER);
INSERT INTO t VALUES(1,10,1,'a');
INSERT INTO t VALUES(1,20,1,'a');
INSERT INTO done VALUES(1,10);
INSERT INTO sqlite_sequence VALUES('t',2);
COMMIT;`
    const set = await loadWith(DOT, dump)
    expect(notesOf(set)).toEqual([])
    expect(attributesOf(set)[0]).toEqual({ size: 1, disk: 'a' })
  })
})

describe('what cannot be read is an error that says where', () => {
  test.each([
    [
      'rows before their table',
      '\n\nINSERT INTO t VALUES(1,10,1);',
      'p0:3: Rows of the table t come before its columns are known. Put CREATE TABLE t(…) in front, or name the columns',
    ],
    [
      'a row of another length',
      `${TABLE}INSERT INTO t VALUES(1,10,1,'a'),\n(1,20,1);`,
      'p0:3: A row has 3 fields where the table t has 4 columns',
    ],
    [
      'a row without id',
      `${TABLE}INSERT INTO t VALUES(1,NULL,1,'a');`,
      'p0:2: A row of parameters has no timestamp, which says what it is about',
    ],
    [
      'an expression',
      `${TABLE}INSERT INTO t VALUES(1,10,1,\nreplace('a','b','c'));`,
      `p0:2: Found "replace('a','b','c'))" where a row of literal values should be in the table t. Dump the values themselves`,
    ],
    [
      'rows that are selected',
      `${TABLE}INSERT INTO t VALUES;`,
      'p0:2: Found nothing where a row of literal values should be',
    ],
    [
      'rows of COPY',
      'SET x = 1;\nCREATE TABLE t(a int);\nCOPY t (a) FROM stdin;\n1\n\\.\n',
      'p0:3: The dump holds its rows as COPY data, which is not read. Dump with INSERT statements (pg_dump --inserts)',
    ],
    [
      'a file cut short',
      `${TABLE}INSERT INTO t VALUES(1,10,1,'a');\nINSERT INTO t VALU`,
      'p0:3: A statement of the SQL dump begins that does not end. End it with a semicolon',
    ],
    [
      'a string that does not end',
      `${TABLE}INSERT INTO t VALUES(1,10,1,'a);\nINSERT INTO t VALUES(1,20,1,1);\n`,
      'p0:2: A statement of the SQL dump begins that does not end.',
    ],
  ])('%s', async (_, sql, message) => {
    await expect(loadWith(DOT, sql)).rejects.toThrow(message)
  })
})

test('one CSV holds the rows of all tables, each with what is its own', () => {
  const dump = `CREATE TABLE a(breadcrumb INT, timestamp INT, size INT); INSERT INTO a VALUES(1,10,4);
    CREATE TABLE b(breadcrumb INT, timestamp INT, "a,b" TEXT); INSERT INTO b VALUES(1,20,'x "y"'),(2,20,NULL);`
  expect(sqlAsCsv(dump, 'a.sql')).toBe(
    'breadcrumb,timestamp,size,"a,b"\n1,10,4,\n1,20,,"x ""y"""\n2,20,,\n',
  )
})

test('statements end at semicolons outside strings, names and comments, and know their line', () => {
  const text = `a;\n\n-- x;\n/* ;\n */ b ';''\n' "c;" d;\n;e -- ;\n;`
  expect([...statementsIn(text, 'a.sql')].map(({ text, line }) => [text, line])).toEqual([
    ['a', 1],
    [`b ';''\n' "c;" d`, 5],
    ['e -- ;\n', 7],
  ])
})

test('rows come back from CSV as they stood in the dump', async () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(text, async (disk) => {
      const sql = `${TABLE}INSERT INTO t VALUES(1,10,1,'${disk.replaceAll("'", "''")}');`
      const own = await loadWithCsv(DOT, `node,size,disk\n1.10,1,"${disk.replaceAll('"', '""')}"\n`)
      expect(await first(sql)).toEqual(attributesOf(own)[0])
    }),
    { numRuns: 50 },
  )
})
