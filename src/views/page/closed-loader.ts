import type { Loader, loader } from 'vega'

/** Charts carry their data; nothing in one may reach for a file or the network. */
export function closedLoader(makeLoader: typeof loader): Loader {
  const closed = makeLoader()
  closed.load = (uri) => Promise.reject(new Error(`A chart may not load ${uri}`))
  return closed
}
