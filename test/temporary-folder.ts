import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where `test/global-setup.ts` says that folders of this run are made; it removes them at the end. */
export const FOLDER_OF_RUN = 'FLOWDELTA_TEST_FOLDER'

/** Makes an empty folder. It is gone when all tests have run. */
export function temporaryFolder(): string {
  return mkdtempSync(join(process.env[FOLDER_OF_RUN] ?? tmpdir(), 'flowdelta-'))
}
