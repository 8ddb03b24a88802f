import { Worker } from 'node:worker_threads'

/** Starts a thread from a TypeScript file; the loader of the main thread does not reach threads. */
export function startThread(file: URL): Worker {
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const code = `import { register } from ${loader}; register(); await import(${JSON.stringify(file)})`
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`))
}
