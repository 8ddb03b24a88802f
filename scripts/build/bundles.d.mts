import type { Plugin } from 'esbuild'

/** Loads Arquero with the first table: from beside the library, or from the program itself. */
export function arqueroOnDemand(root: string, from?: 'on-demand' | 'bundled'): Plugin
