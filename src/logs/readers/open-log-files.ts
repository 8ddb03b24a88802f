import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FlowdeltaError } from '../../core/errors.ts'

/**
 * The files below a directory, at any depth, by path in the order of code units; `undefined` for
 * what is no directory. Links to files count as files; links to directories are not followed.
 */
export async function filesBelow(path: string | URL): Promise<string[] | undefined> {
  const name = path instanceof URL ? fileURLToPath(path) : path
  try {
    if (!(await stat(name)).isDirectory()) return undefined
    const files: string[] = []
    for (const entry of await readdir(name, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name)
      if (entry.isFile() || (entry.isSymbolicLink() && (await stat(file)).isFile())) {
        files.push(file)
      }
    }
    return files.sort((a, b) => (a < b ? -1 : Number(a > b)))
  } catch (error) {
    const { code } = error as { code?: unknown }
    throw new FlowdeltaError(
      `${name} cannot be opened (${String(code ?? error)}). Check the name and the permissions.`,
    )
  }
}
