// npx tsx datasets/sql-parameters/convert.ts DUMP.sql[.gz] OUT.csv: an SQL dump of low-level parameters, as Spectroscope's
// programs kept them, as CSV, which the option `parameters` reads.
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { sqlAsCsv } from './sql-parameters.ts'

const [dump = '', out = ''] = process.argv.slice(2)
const bytes = readFileSync(dump)
const sql = dump.endsWith('.gz') ? gunzipSync(bytes) : bytes
writeFileSync(out, sqlAsCsv(sql.toString(), dump))
