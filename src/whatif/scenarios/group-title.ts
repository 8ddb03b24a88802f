import type { CallPaths } from '../call-paths.ts'
import { type CallGroup, groupName, isEntry } from './call-group.ts'

/**
 * Which calls a group has, in words: `cart GET from frontend`, `cart GET along frontend › checkout`
 * where several chains of calls lead to it, `cart, from everywhere`.
 */
export function groupTitle(paths: CallPaths, group: CallGroup): string {
  const name = groupName(group)
  const chains = new Set(group.paths.map((path) => services(paths, path)))
  const [chain = ''] = chains
  if (chains.size > 1) return `${name}, from everywhere`
  if (chain === '' || group.paths.every((path) => !isEntry(paths, path))) return name
  return chain.includes(' › ') ? `${name} along ${chain}` : `${name} from ${chain}`
}

/** The services that lead to a path, each once in a row; its own is left out. */
function services(paths: CallPaths, path: number): string {
  const chain: string[] = []
  for (let at = paths.parent(path); at >= 0; at = paths.parent(at)) {
    const service = paths.service(at)
    if (service !== chain[chain.length - 1]) chain.push(service)
  }
  return chain.reverse().join(' › ')
}
