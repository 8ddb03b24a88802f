import type { BuildOptions } from 'esbuild'

/** How a program for Node is bundled that carries its packages with it. */
export function programOptions(root: string): BuildOptions
